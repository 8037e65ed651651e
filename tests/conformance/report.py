"""What was compared, and how it went: one line each, and a count at the end."""

import threading
import time
from pathlib import Path

ALLOWED = Path(__file__).resolve().parent / "allowed-skips"


class Unavailable(Exception):
    """A program cannot be had, or cannot run here; the text says why."""


class Report:
    """Collects results. A part prints its own lines when it ends, so that parts can run together."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.versions: dict[str, str] = {}
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def say(self, text: str) -> None:
        with self._lock:
            print(f"[{time.monotonic() - self._started:5.1f} s] {text}", flush=True)

    def check(self, name: str, fault: str) -> None:
        """One comparison: `fault` is empty where both agree, else says how they differ."""
        with self._lock:
            if fault:
                self.failed.append(name)
            else:
                self.passed += 1
        if fault:
            self.say(f"FAILED: {name}\n{fault.rstrip()}")

    def skip(self, name: str, reason: str) -> None:
        with self._lock:
            self.skipped.append((name, reason))
        self.say(f"SKIPPED: {name}: {reason}")

    def version(self, program: str, version: str) -> None:
        self.versions[program] = version

    def end(self, strict: bool) -> bool:
        """Prints the count. True if all is well: nothing failed, and, where `strict`, nothing was
        skipped that the list of allowed skips does not name."""
        lines = ALLOWED.read_text(encoding="utf-8").splitlines()
        allowed = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
        unexpected = [name for name, _ in self.skipped if name not in allowed]
        print("compared with " + ", ".join(f"{p} {v}" for p, v in sorted(self.versions.items())))
        for name in self.failed:
            print(f"FAILED: {name}")
        for name, reason in self.skipped:
            print(f"SKIPPED: {name}: {reason}")
        if strict and unexpected:
            print(f"not in {ALLOWED.name}, so this run does not count: {', '.join(unexpected)}")
        print(f"conformance: {self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        if self.passed == 0:
            print("nothing was compared")
        return not self.failed and not (strict and unexpected) and (self.passed > 0 or not strict)
