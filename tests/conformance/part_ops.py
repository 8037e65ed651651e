"""ops, inside the simulator: a charm written with it compares what it reads with what Juju
documents; and what it offers as a principal, with cosl, reaches a scripted COS through lockstep."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import fetch
from report import Report

HERE = Path(__file__).resolve().parent
SIM = fetch.ROOT / "target/debug/juju-sim"
# ops itself says a thing at this level only when something is not as it expects.
COMPLAINTS = ("WARNING", "ERROR", "CRITICAL")


def charm(packages: Path, version: str) -> Path:
    """The charm with a `dispatch` that finds this Python and the packages, as charmcraft's would."""
    place = fetch.WORK / "charms" / version
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(HERE / "charms/harbor", place, ignore=shutil.ignore_patterns("__pycache__"))
    (place / "version").write_text(f"{version}\n", encoding="utf-8")
    dispatch = place / "dispatch"
    # Without `site`: none of this machine's own packages, and half the time.
    dispatch.write_text(
        f"#!/bin/sh\nPYTHONPATH='{packages}' exec '{os.path.realpath(sys.executable)}' -S -B src/charm.py\n",
        encoding="utf-8",
    )
    dispatch.chmod(0o755)
    return place


def simulate(scenario: Path, charms: dict[str, Path]) -> tuple[bool, list[dict], str]:
    """Runs a scenario: whether it passed, its events and the world at its end, and what it said."""
    argv = [SIM, "run", scenario, "--json"]
    for name, path in charms.items():
        argv += ["--charm", f"{name}={path}"]
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=600,
        env={k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUJU_"))},
    )  # fmt: skip
    events = []
    said = [done.stderr]
    for line in done.stdout.splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            said.append(line)
    return done.returncode == 0, events, "\n".join(said).strip()


def complaints(events: list[dict], applications: str | tuple[str, ...]) -> list[str]:
    """What units of applications logged at a level that ops uses for complaints."""
    lines = []
    for event in events:
        if event["event"] == "hook" and event["unit"].startswith(applications):
            for line in event["log"]:
                # What the agent itself says of a hook is not ops'.
                if line["module"] == "juju-log" and line["level"] in COMPLAINTS:
                    lines.append(f"{event['unit']} {event['name']}: {line['text']}")
    return lines


def reads(report: Report, packages: Path) -> None:
    """ops inside the simulator, from a unit's first hook to its last."""
    charms = {"harbor": charm(packages, "1"), "later": charm(packages, "2")}
    good, events, said = simulate(HERE / "scenarios/ops_reads_what_juju_documents.yaml", charms)
    name = "ops finds what Juju documents"
    if not events:
        report.check(name, said or "the simulator said nothing")
        return
    report.check(name, "" if good else str(events[-1].get("failure") or said))
    # The storm is the one failure that was asked for.
    found = [line for line in complaints(events, ("harbor", "port")) if "as was asked for" not in line]
    report.check("ops complains of nothing", "\n".join(found[:5]))
    report.say(f"ops ran {sum(e['event'] == 'hook' for e in events)} hooks and actions")


def sends(report: Report, packages: Path, lockstep: Path) -> dict | None:
    """A principal written with ops beside lockstep; gives the world when everything has arrived."""
    charms = {"harbor": charm(packages, "principal"), "lockstep": lockstep}
    good, events, said = simulate(HERE / "scenarios/what_ops_and_cosl_send_reaches_cos.yaml", charms)
    failure = "" if good else str(events[-1].get("failure") if events else said)
    report.check("what ops and cosl offer reaches COS through lockstep", failure)
    if not events:
        return None
    report.check("ops complains of nothing beside lockstep", "\n".join(complaints(events, "harbor")[:5]))
    return events[-1]["world"]
