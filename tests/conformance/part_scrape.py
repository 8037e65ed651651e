"""prometheus and promtool, of Debian's prometheus: what lockstep gives a collector to scrape.

Each receiver of the golden files in `tests/collector` holds plain Prometheus configuration; with the
doubled dollars halved again promtool must take it. One of them is then run for real: Prometheus in agent
mode scrapes a small exporter with a token, and sends to a small receiver; all on the loopback interface.
"""

import http.server
import json
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import fetch
from report import Report

GOLDEN = fetch.ROOT / "tests" / "collector"
TOKEN = "s3cret$1"


def halved(value: object) -> object:
    """As the collector expands a text: two dollars are one. A single one would be a reference."""
    if isinstance(value, str):
        assert "$" not in value.replace("$$", ""), "a single dollar"
        return value.replace("$$", "$")
    if isinstance(value, list):
        return [halved(item) for item in value]
    if isinstance(value, dict):
        return {key: halved(item) for key, item in value.items()}
    return value


def receivers(golden: Path) -> Iterator[tuple[str, dict]]:
    """The Prometheus configurations in one file."""
    lines = golden.read_text(encoding="utf-8").splitlines()
    config = json.loads("\n".join(line for line in lines if not line.startswith("#")))
    for name, receiver in config["receivers"].items():
        if name.startswith("prometheus/"):
            yield name, halved(receiver["config"])


def promtool(package: Path, name: str, config: dict) -> str:
    """What promtool says against a configuration; nothing if it takes it."""
    folder = fetch.WORK / "scrape"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{name.replace('/', '_')}.yaml"
    place.write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run(
        [package / "tree/usr/bin/promtool", "check", "config", "--agent", place],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stdout + done.stderr


def run(report: Report, package: Path) -> None:
    """Every configuration, a broken one, and one real run."""
    count = 0
    for golden in sorted(GOLDEN.glob("*.yaml")):
        for name, config in receivers(golden):
            count += 1
            report.check(f"promtool takes {name} of {golden.name}", promtool(package, name, config))
    report.check("promtool was given jobs", "" if count > 5 else f"only {count} configurations")
    broken = {"scrape_configs": [{"job_name": "a", "metrics_path": "/", "port": 80}]}
    said = promtool(package, "broken", broken)
    report.check("promtool refuses a job that is none", "" if said else "it was taken")
    report.check("an agent scrapes what lockstep renders, with its labels", scraped(package))


class Exporter(http.server.BaseHTTPRequestHandler):
    """One metric, for who has the token."""

    value = 7

    def do_GET(self) -> None:
        good = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        self.send_response(200 if good else 401)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        if good:
            self.wfile.write(f"ledger_entries {Exporter.value}\n".encode())

    def log_message(self, *args: object) -> None:
        pass


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes remote writes, and keeps the labels of each series."""

    series: list[dict[str, str]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for number, series in fields(uncompressed(body)):
            if number == 1:
                pairs = [dict(fields(label)) for field, label in fields(series) if field == 1]
                Receiver.series.append({pair[1].decode(): pair[2].decode() for pair in pairs})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protobuf message; of numbers only that they are there."""
    at = 0
    while at < len(data):
        key, at = number_at(data, at)
        kind = key & 7
        if kind == 0:
            _, at = number_at(data, at)
            continue
        length, at = (8, at) if kind == 1 else number_at(data, at)
        yield key >> 3, data[at : at + length]
        at += length


def uncompressed(data: bytes) -> bytes:
    """A block of snappy (google/snappy `format_description.txt`)."""
    length, at = number_at(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        kind, size = tag & 3, (tag >> 2) + 1
        if kind == 0:
            if size > 60:
                more = size - 60
                size = int.from_bytes(data[at : at + more], "little") + 1
                at += more
            out += data[at : at + size]
            at += size
            continue
        if kind == 1:
            size, back = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at]
            at += 1
        elif kind == 2:
            (back,) = struct.unpack_from("<H", data, at)
            at += 2
        else:
            (back,) = struct.unpack_from("<I", data, at)
            at += 4
        for _ in range(size):
            out.append(out[-back])
    assert len(out) == length, "no block of snappy"
    return bytes(out)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(kind: type[http.server.BaseHTTPRequestHandler]) -> http.server.ThreadingHTTPServer:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def agent_of(package: Path, name: str, exporter: int, url: str) -> tuple[subprocess.Popen, dict]:
    """A real agent with a rendered job, which scrapes that port and sends there; and the job."""
    config = next(c for n, c in receivers(GOLDEN / "one-principal.yaml") if n.endswith("ledger-db_0"))
    (job,) = (job for job in config["scrape_configs"] if "authorization" in job)
    job["scheme"] = "http"
    job["static_configs"][0]["targets"] = [f"127.0.0.1:{exporter}"]
    config["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s"}
    config["remote_write"] = [
        {"url": url, "queue_config": {"batch_send_deadline": "1s"}}
    ]
    folder = fetch.WORK / "scrape" / name
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "agent.yaml"
    place.write_text(json.dumps(config), encoding="utf-8")
    agent = subprocess.Popen(
        [
            package / "tree/usr/bin/prometheus", "--enable-feature=agent", f"--config.file={place}",
            f"--storage.agent.path={folder / 'agent'}", f"--web.listen-address=127.0.0.1:{free_port()}",
        ],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return agent, job


def scraped(package: Path) -> str:
    """What is wrong with one real run; nothing if the series arrive with their labels."""
    servers = [started(Exporter), started(Receiver)]
    exporter, receiver = (server.server_address[1] for server in servers)
    agent, job = agent_of(package, "labels", exporter, f"http://127.0.0.1:{receiver}/write")
    wanted = {
        "__name__": "ledger_entries", "short": "entries", "juju_unit": "ledger-db/0", "shard": "b",
        "juju_application": "ledger-db", "juju_model": "harbor", "job": job["job_name"],
    }  # fmt: skip
    try:
        for _ in range(300):
            if any(wanted.items() <= series.items() for series in Receiver.series):
                return ""
            if agent.poll() is not None:
                return f"the agent ended with {agent.returncode}"
            time.sleep(0.1)
        return f"not arrived within 30 s: {wanted}; but {Receiver.series[:3]}"
    finally:
        agent.terminate()
        agent.wait()
        for server in servers:
            server.shutdown()
