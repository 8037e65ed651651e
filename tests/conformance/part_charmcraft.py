"""charmcraft's own reading of the project and of the packed charm. Packing itself needs Ubuntu of the
base in a container, and is not done here."""

import json
import subprocess
import sys
from pathlib import Path

import fetch
from report import Report

# Runs with charmcraft's packages in its path: the expanded project against the charm's own files.
COMPARE = """
import sys, yaml
expanded = yaml.safe_load(sys.stdin)
own = {name: yaml.safe_load(open(name + ".yaml", encoding="utf-8")) for name in ("metadata", "config", "actions")}
faults = []
for key, wanted in (("config", own["config"]), ("actions", own["actions"]),
                    ("name", own["metadata"]["name"]), ("summary", own["metadata"]["summary"])):
    if expanded.get(key) != wanted:
        faults.append(f"{key} is {expanded.get(key)}, not {wanted}")
print("\\n".join(faults))
"""
# What charmcraft says of an executable that is no Python: true, and no fault.
TRUE_OF_A_BINARY = {"unknown", "nonapplicable", "ok"}


def charmcraft(package: Path, *words: str | Path) -> subprocess.CompletedProcess:
    home = fetch.WORK / "home"
    (home / "runtime").mkdir(parents=True, exist_ok=True)
    # Its logs and caches stay in there too.
    places = {f"XDG_{kind}_HOME": str(home) for kind in ("CONFIG", "CACHE", "DATA", "STATE")}
    environment = fetch.environment(package) | places | {
        "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "runtime"), "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "charmcraft", *map(str, words)], cwd=fetch.ROOT, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def expands(report: Report, package: Path) -> None:
    name = "charmcraft expands the project to what its files say"
    done = charmcraft(package, "expand-extensions")
    if done.returncode != 0:
        report.check(name, done.stderr[-2000:])
        return
    compared = subprocess.run(
        [sys.executable, "-c", COMPARE], cwd=fetch.ROOT, input=done.stdout, capture_output=True, text=True,
        env=fetch.environment(package), timeout=60,
    )  # fmt: skip
    report.check(name, (compared.stdout + compared.stderr).strip())


def analyses(report: Report, package: Path, charm: Path) -> None:
    done = charmcraft(package, "analyse", "--format", "json", charm)
    try:
        checks = json.loads(done.stdout)
    except ValueError:
        report.check("charmcraft analyses the packed charm", done.stdout + done.stderr[-2000:])
        return
    report.check("charmcraft analyse ends well", "" if done.returncode == 0 else f"exit {done.returncode}")
    for check in checks:
        good = check["result"] in TRUE_OF_A_BINARY
        report.check(f"charmcraft analyse, {check['name']}", "" if good else json.dumps(check))
    lints = [check["name"] for check in checks if check["result"] == "ok"]
    report.check("charmcraft analyse looks at the charm's files", "" if len(lints) >= 4 else f"only {lints}")


def run(report: Report, package: Path, charm: Path) -> None:
    expands(report, package)
    analyses(report, package, charm)
