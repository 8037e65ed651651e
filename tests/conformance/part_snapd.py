"""The real snapd and its client, with a store on loopback: the recorded session of tests/snap is played
again, step by step, without systemd. `make test` compares the simulator with the same recordings.

A program of its own, run where there is no network but loopback: `part_snapd.py TREE VERSION` prints
the steps that differ as JSON.
"""

import fcntl
import json
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import snap_store

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE.parent / "snap"
# What the store does from a step with this note on, until the next step.
MODES = {
    "store: revision-not-found with releases": "no revision, releases",
    "store: revision-not-found without releases": "no revision",
    "per-snap errors vanish from --list": "no revision, releases",
    "store: id-not-found": "no id",
    "store: HTTP 429": "429",
    "store: HTTP 400": "400",
    "start a slow refresh": "slow",
}
KEY = "-CvQKAwRQ5h3Ffn10FILJoEZUXOv6km9FwA80-Rcj-f-6jadQ89VRswHNiEB9Lxk"
STAMP = "timestamp: 2026-01-01T00:00:00.000000Z\n"
# Assertions that are stored are not verified again, so that a signature is only a text.
SIGNATURE = f"sign-key-sha3-384: {KEY}\n\nAcLBUgQAAQoABgUCV7UYzwAA\n"
ASSERTIONS = {
    f"snap-declaration/16/{snap_store.API_ID}": "type: snap-declaration\nauthority-id: canonical\nseries: 16\n"
    f"snap-id: {snap_store.API_ID}\npublisher-id: acme\nsnap-name: plane-api\n{STAMP}{SIGNATURE}",
    "account/acme": "type: account\nauthority-id: canonical\naccount-id: acme\ndisplay-name: Acme\n"
    f"{STAMP}username: acme\nvalidation: unproven\n{SIGNATURE}",
}


def with_snaps(state: dict) -> dict:
    """A seeded system's state with two snaps, one of them from the store with an older revision on disk."""
    api = {"name": "plane-api", "snap-id": snap_store.API_ID, "channel": "1.30/stable"}
    state["data"]["snaps"] = {
        "plane-api": {
            "type": "app", "active": True, "current": "41", "channel": "1.30/stable",
            "sequence": [api | {"revision": "40"}, api | {"revision": "41"}],
        },
        "loc": {
            "type": "app", "active": True, "current": "x1", "sequence": [{"name": "loc", "revision": "x1"}],
        },
    }  # fmt: skip
    return state


def lay_out(root: Path) -> None:
    """Gives a system that has seeded itself its snaps; no daemon runs."""
    snapd = root / "var/lib/snapd"
    place = snapd / "state.json"
    state = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps(with_snaps(state)), encoding="utf-8")
    for name, revision, version in (
        ("plane-api", "40", "1.30.40"), ("plane-api", "41", "1.30.41"), ("loc", "x1", "0.1"),
    ):  # fmt: skip
        meta = root / "snap" / name / revision / "meta"
        meta.mkdir(parents=True)
        text = f"name: {name}\nversion: '{version}'\nsummary: s\ndescription: d\nbase: none\n"
        (meta / "snap.yaml").write_text(text, encoding="utf-8")
        (snapd / "snaps").mkdir(exist_ok=True)
        (snapd / "snaps" / f"{name}_{revision}.snap").write_text("1", encoding="utf-8")
    for name, current in (("plane-api", "41"), ("loc", "x1")):
        (root / "snap" / name / "current").symlink_to(current)
    for path, text in ASSERTIONS.items():
        place = snapd / "assertions/asserts-v0" / path / "active"
        place.parent.mkdir(parents=True)
        place.write_text(text, encoding="utf-8")


class Session:
    """A daemon over its own root directory, and a client."""

    def __init__(self, tree: Path, root: Path) -> None:
        self.store = snap_store.Store()
        self.tree = tree
        self.root = root
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(root), "SNAPPY_GLOBAL_ROOT": str(root),
            "SNAP_REEXEC": "0", "SNAPPY_TESTING": "1", "LANG": "C.UTF-8", "TZ": "UTC",
            "SNAPPY_FORCE_API_URL": f"http://{self.store.address}",
        }  # fmt: skip
        for folder in ("run", "etc", "var/lib/snapd"):
            (root / folder).mkdir(parents=True)
        self.log = open(root / "log", "ab")
        self.daemon = self.start()

    def start(self) -> subprocess.Popen:
        return subprocess.Popen(
            [self.tree / "usr/lib/snapd/snapd"], env=self.environment, cwd=self.root,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
        )  # fmt: skip

    def seed(self) -> None:
        """Lets an empty system seed itself, gives it its snaps, and starts it again. Without snaps the
        daemon ends by itself after a few seconds, to be started by its socket."""
        self.daemon.wait(60)
        lay_out(self.root)
        self.daemon = self.start()

    def snap(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.tree / "usr/bin/snap", *words], env=self.environment, cwd=self.root, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=100,
        )  # fmt: skip

    def wait_until_settled(self) -> None:
        """Until the device has begun to register, which is its second change and never ends well here."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.daemon.poll() is not None:
                raise RuntimeError(f"snapd ended: {(self.root / 'log').read_text()[-2000:]}")
            if (self.root / "run/snapd.socket").exists():
                lines = self.snap("changes", "--abs-time").stdout.decode().splitlines()
                if any("Initialize device" in line for line in lines):
                    return
            time.sleep(0.2)
        raise RuntimeError(f"snapd has not settled: {(self.root / 'log').read_text()[-2000:]}")

    def end(self) -> None:
        self.daemon.terminate()
        try:
            self.daemon.wait(20)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        self.log.close()


def plain(text: str, session: Session) -> str:
    """Without what differs in every run: the address, times, digests of what was downloaded."""
    text = text.replace(session.store.address, "STORE").replace(str(session.root), "")
    text = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "MOMENT", text)
    # How long it tries to register the device depends on what of a network it sees.
    text = re.sub(r"(?m)^.* Initialize device\n", "", text)
    text = re.sub(r"(today|yesterday|tomorrow) at \d\d:\d\d UTC", "TODAY", text)
    text = re.sub(r" \(\d+\.\d\d%\)", "", text)
    return re.sub(r"[0-9a-f]{96}", "DIGEST", text)


def compare(session: Session, step: dict) -> str:
    done = session.snap(*step["argv"][1:])
    found = (done.returncode, plain(done.stdout.decode(), session), plain(done.stderr.decode(), session))
    wanted = (step["rc"], plain(step["stdout"], session), plain(step["stderr"], session))
    return "" if found == wanted else f"{found}\nnot\n{wanted}"


def name_of(number: int, step: dict) -> str:
    return f"{number:02} snap {' '.join(step['argv'][1:])}" + (f" ({step['note']})" if step.get("note") else "")


def play(session: Session, steps: list[dict]) -> dict[str, str]:
    """All steps in order; those with a dead store, of which each takes snapd 32 s, at the same time."""
    results: dict[str, str] = {}
    late: list[tuple[int, dict]] = []
    for number, step in enumerate(steps, 1):
        note = step.get("note") or ""
        if "503" in note:
            continue
        if late or note == "store unreachable":
            late.append((number, step))
            continue
        if note in MODES or session.store.mode != "slow":
            session.store.mode = MODES.get(note, "")
        results[name_of(number, step)] = compare(session, step)
        if step["argv"][1] == "watch":
            session.store.mode = ""
    session.store.stop()
    with ThreadPoolExecutor() as together:
        dead = late[:4]
        for (number, step), fault in zip(dead, together.map(lambda n: compare(session, n[1]), dead)):
            results[name_of(number, step)] = fault
    for number, step in late[4:]:
        results[name_of(number, step)] = compare(session, step)
    return results


def killed_client(session: Session) -> str:
    """A client that gets SIGTERM leaves its change running, and the next one is told so: what lockstep
    relies on when a hook is killed. Needs a store again."""
    session.store = snap_store.Store(session.store.port)
    session.store.mode = "slow"
    words = [session.tree / "usr/bin/snap", "refresh", "plane-api"]
    client = subprocess.Popen(
        words, env=session.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while "Doing" not in session.snap("changes", "--abs-time", "plane-api").stdout.decode():
        if time.monotonic() > deadline:
            client.kill()
            client.wait()
            return "the refresh has not begun"
        time.sleep(0.1)
    client.terminate()
    client.wait(20)
    busy = session.snap("refresh", "plane-api")
    if busy.returncode != 10:
        return f"exit {busy.returncode}, not 10: {busy.stderr.decode()}"
    ended = session.snap("watch", "--last=refresh")
    return "" if b"Download snap" in ended.stderr else f"the change ended otherwise: {ended.stderr.decode()}"


def raise_loopback() -> None:
    """Brings `lo` up in a new network namespace, in which it is down: SIOCSIFFLAGS, IFF_UP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))


def main(tree: Path, version: str) -> None:
    raise_loopback()
    recorded = "2.57.6" if version.startswith("2.57") else "2.68.3"
    text = (RECORDINGS / f"real-daemon-{recorded}.json").read_text(encoding="utf-8")
    root = Path(tempfile.mkdtemp(prefix="snapd-"))
    try:
        session = Session(tree, root)
        try:
            session.seed()
            session.wait_until_settled()
            results = play(session, json.loads(text)["steps"])
            results["a killed client leaves its change running"] = killed_client(session)
        finally:
            session.end()
        json.dump(results, sys.stdout)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
