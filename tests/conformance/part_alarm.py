"""Rules and metrics meet: a rule that lockstep forwards, over a metric that is scraped by a job that it
renders, fires in a real Prometheus and clears again. All on the loopback interface."""

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import fetch
import part_scrape
import sent
from report import Report

# The principal of the rendered job, and a rule of it.
UNIT = "ledger-db/0"
RULE = {"alert": "LedgerShort", "expr": "ledger_entries < 5", "labels": {"severity": "critical"}}
LIMIT = 40


def forwarded(charm: Path) -> dict:
    """The rule groups that the packed charm hands to Prometheus for that principal, in the simulator."""
    offered = {"metrics_alert_rules": {"groups": [{"name": "ledger", "rules": [RULE]}]}, "log_alert_rules": {},
               "dashboards": []}  # fmt: skip
    principal = {"unit": UNIT, "databag": {"config": json.dumps(offered)}}
    case = {"name": "a rule that is to fire", "principals": [principal], "peers": {}}
    return json.loads(sent.of(case, "alarm", charm)["send-remote-write"]["alert_rules"])


def alerts(port: int) -> list[dict]:
    """The alerts that fire; none while Prometheus does not answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/alerts", timeout=5) as answer:
            found = json.load(answer)["data"]["alerts"]
    except (OSError, urllib.error.URLError):
        return []
    return [alert["labels"] for alert in found if alert["state"] == "firing"]


def comes(port: int, wanted: dict[str, str], fires: bool) -> bool:
    """Whether an alert with these labels fires, or not, within the limit."""
    for _ in range(LIMIT * 5):
        if any(wanted.items() <= labels.items() for labels in alerts(port)) == fires:
            return True
        time.sleep(0.2)
    return False


def run(report: Report, package: Path, charm: Path) -> None:
    report.check("a forwarded rule fires over a collected metric, and clears", fault(package, forwarded(charm)))


def fault(package: Path, rules: dict) -> str:
    """What is wrong; nothing if the rule fires while its metric says so."""
    folder = fetch.WORK / "alarm"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "rules.yaml").write_text(json.dumps(rules), encoding="utf-8")
    config = {"global": {"evaluation_interval": "1s"}, "rule_files": [str(folder / "rules.yaml")]}
    (folder / "prometheus.yaml").write_text(json.dumps(config), encoding="utf-8")
    port = part_scrape.free_port()
    prometheus = subprocess.Popen(
        [
            package / "tree/usr/bin/prometheus", "--web.enable-remote-write-receiver",
            f"--config.file={folder / 'prometheus.yaml'}", f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    exporter = part_scrape.started(part_scrape.Exporter)
    url = f"http://127.0.0.1:{port}/api/v1/write"
    agent, _ = part_scrape.agent_of(package, "alarm", exporter.server_address[1], url)
    wanted = {"alertname": "LedgerShort", "severity": "critical", "juju_application": "ledger-db",
              "juju_unit": UNIT}  # fmt: skip
    try:
        part_scrape.Exporter.value = 3
        if not comes(port, wanted, fires=True):
            return f"{wanted} does not fire within {LIMIT} s: {alerts(port)}"
        part_scrape.Exporter.value = 7
        return "" if comes(port, wanted, fires=False) else f"{wanted} does not clear within {LIMIT} s"
    finally:
        part_scrape.Exporter.value = 7
        for process in (agent, prometheus):
            process.terminate()
            process.wait()
        exporter.shutdown()
