"""The real `snap` client against a small server of ours: every recording in tests/snap/client is
played again. The simulator and lockstep's wrapper are compared with these recordings in `make test`;
here it is seen that the client of this machine's release still does what was recorded."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fetch
from report import Report
from unix_http import Server

RECORDINGS = fetch.ROOT / "tests/snap/client"
# A time that is told from now on: the recordings are of one day, this run is of another.
RELATIVE = re.compile(
    r"(\d+ days? ago|today|tomorrow|yesterday|in \d+ days?|20\d\d-\d\d-\d\d)(,? at \d\d:\d\d UTC)?"
)
MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


# Arguments as src/tools/snap gives them, where no recording has just these: the recording whose answers
# fit, and what the first request must ask for.
FORMS = {
    "refresh plane-api --channel=1.30/stable --revision=41 --ignore-running": (
        "refresh-cohort-ok",
        {"action": "refresh", "channel": "1.30/stable", "revision": "41", "ignore-running": True},
    ),
    "refresh plane-api --cohort=KEY== --ignore-running": (
        "refresh-cohort-ok", {"action": "refresh", "cohort-key": "KEY==", "ignore-running": True},
    ),
    "install plane-api --channel=1.30/stable --revision=41 --classic": (
        "install-ok", {"action": "install", "channel": "1.30/stable", "revision": "41", "classic": True},
    ),
    "info --verbose --abs-time plane-api": ("info-installed-verbose", None),
    "changes --abs-time plane-api": ("changes-snap", None),
    "services": ("services", None),
    "refresh --hold=forever plane-api plane-ctl": (
        "refresh-hold", {"action": "hold", "time": "forever", "hold-level": "general"},
    ),
    "refresh --unhold plane-api plane-ctl": (
        "refresh-unhold", {"action": "unhold", "hold-level": "general"},
    ),
}  # fmt: skip


class Script:
    """The recorded answers, one after the other; the last one for whatever else is asked."""

    def __init__(self, exchange: list[dict]):
        self.exchange = exchange
        self.requests: list[tuple] = []
        self.lock = threading.Lock()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        with self.lock:
            number = len(self.requests)
            self.requests.append((method, path, json.loads(body) if body else None))
        if not self.exchange:
            return 500, b"{}"
        step = self.exchange[min(number, len(self.exchange) - 1)]
        return step["status"], json.dumps(step["response"]).encode()


def timeless(text: str) -> str:
    """Without times; and without the width of columns and lines where that depends on what was taken
    out: times, and the place of the scratch folder in a wrapped message."""
    without = RELATIVE.sub("SOME DAY", MOMENT.sub("SOME MOMENT", text))
    if without != text or "/snap/bin" in text:
        without = re.sub(r"[ \n]+", " ", without)
    return without


def request(step: dict) -> tuple:
    return step["method"], step["path"], step.get("request")


def command(
    client: Path, words: list[str], case: dict
) -> tuple[subprocess.CompletedProcess, Script, str]:
    """Runs a command against a recording's answers: how it ended, what it asked, and the scratch folder."""
    script = Script(case["exchange"])
    # Short, since the path of a socket may be 107 bytes long.
    root = Path(tempfile.mkdtemp(prefix="snap-"))
    try:
        (root / "run").mkdir()
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(root), "TZ": "UTC", "SNAPPY_GLOBAL_ROOT": str(root),
        }  # fmt: skip
        with Server(root / "run/snapd.socket", script.answer):
            done = subprocess.run(
                [client, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                env=environment | case["env"], cwd=root,
            )  # fmt: skip
    finally:
        shutil.rmtree(root)
    return done, script, str(root)


def takes(client: Path, words: str, case: dict, wanted: dict | None) -> str:
    """Whether the client takes these arguments as lockstep means them; empty, or how it does not."""
    done, script, _ = command(client, words.split(), case)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.decode()}"
    asked = script.requests[0][2] or {}
    return "" if (wanted or {}).items() <= asked.items() else f"it asked {asked}, not {wanted}"


def play(client: Path, case: dict) -> str:
    """Runs the recorded command; says how it differs from the recording."""
    done, script, root = command(client, case["argv"][1:], case)
    found = {
        "exit status": done.returncode,
        "standard output": timeless(done.stdout.decode().replace(root, "")),
        "standard error": timeless(done.stderr.decode().replace(root, "")),
        "requests": [(m, p, moments(b)) for m, p, b in script.requests],
    }
    wanted = {
        "exit status": case["rc"],
        "standard output": timeless(case["stdout"]),
        "standard error": timeless(case["stderr"]),
        "requests": [(m, p, moments(b)) for m, p, b in map(request, case["exchange"])],
    }
    differ = [what for what in wanted if found[what] != wanted[what]]
    return "\n".join(f"{what}:\n  {found[what]!r}\nnot\n  {wanted[what]!r}" for what in differ)


def moments(body):
    return json.loads(timeless(json.dumps(body))) if body else body


def applies(case: dict, name: str, version: str) -> bool:
    """Whether a recording holds for this client: the newer form for whatever is newer than 2.57."""
    if case["tty"]:
        return False
    old = version.startswith("2.57")
    return not name.endswith("--2.68" if old else "--2.57")


def run(report: Report, package: Path) -> None:
    version = fetch.version_of_deb(package)
    client = package / "tree/usr/bin/snap"
    cases = {}
    for path in sorted(RECORDINGS.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if applies(case, path.stem, version):
            cases[path.stem] = case
    with ThreadPoolExecutor(max_workers=4) as together:
        for name, fault in zip(cases, together.map(lambda case: play(client, case), cases.values())):
            report.check(f"snap {version} does what was recorded: {name}", fault)
    for words, (name, wanted) in FORMS.items():
        # A recording of the newer client alone is of something that the older one does not have.
        case = cases.get(name) or cases.get(f"{name}--2.57") or cases.get(f"{name}--2.68")
        if case and case["rc"] == 64:
            continue
        fault = takes(client, words, case, wanted) if case else f"there is no recording {name}"
        report.check(f"snap {version} takes: {words}", fault)
