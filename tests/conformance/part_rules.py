"""promtool, of Debian's prometheus: reads every metric alert rule that lockstep sends out. (Log
alert rules are LogQL, for which no program is packaged; their form is read by cosl's own types.)"""

import json
import subprocess
from pathlib import Path

import fetch
from report import Report


def check(report: Report, package: Path, name: str, databags: dict[str, dict[str, str]]) -> int:
    """Gives promtool the rules of one case; how many rules it found."""
    text = databags.get("send-remote-write", {}).get("alert_rules", "")
    rules = json.loads(text or "{}")
    wanted = sum(len(group["rules"]) for group in rules.get("groups", []))
    if not wanted:
        return 0
    folder = fetch.WORK / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{name}.yaml"
    # JSON is YAML.
    place.write_text(json.dumps(rules), encoding="utf-8")
    promtool = package / "tree/usr/bin/promtool"
    done = subprocess.run(
        [promtool, "check", "rules", place], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )  # fmt: skip
    said = done.stdout + done.stderr
    # promtool also says how many it has read: a file that it took for something else has none.
    good = done.returncode == 0 and f"SUCCESS: {wanted} rules found" in said
    report.check(f"promtool takes the rules of {name}", "" if good else said)
    return wanted


def run(report: Report, package: Path, all_sent: dict[str, dict[str, dict[str, str]]]) -> None:
    counted = sum(check(report, package, name, bags) for name, bags in all_sent.items())
    report.check("promtool was given rules", "" if counted > 20 else f"only {counted} were sent out")
    broken = {"send-remote-write": {"alert_rules": json.dumps(BROKEN)}}
    refusing = Report()
    refusing.say = lambda text: None
    check(refusing, package, "broken", broken)
    report.check("promtool refuses a rule that is none", "" if refusing.failed else "it was taken")


# What a check that checks nothing would let through.
BROKEN = {"groups": [{"name": "broken", "rules": [{"alert": "Broken", "expr": "sum(up"}]}]}
