"""A snap store on loopback, as the recorded sessions of tests/snap had it: two snaps, one channel, and
two cohorts that stay at revision 41 while the head of the channel is 43."""

import http.server
import json
import threading
import time

API_ID = "planeapi000000000000000000000000"
NODE_ID = "nodeagent00000000000000000000000"
NAMES = {API_ID: "plane-api", NODE_ID: "node-agent"}
KEYS = {"plane-api": "KEYONE0123456789==", "node-agent": "KEYNODE0123456789=="}
COHORT_REVISION = {"KEYONE0123456789==": 41, "KEYTWO0123456789==": 41}
HEAD = 43
# What is downloaded, and its size in bytes; its digest is not the one that was promised.
CONTENT = b"not a snap"


class Store:
    """`mode` says what goes wrong: a status, a code of the store's, or how a download goes."""

    def __init__(self, port: int = 0) -> None:
        self.mode = ""
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.store = self
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def port(self) -> int:
        return self.server.server_address[1]

    def stop(self) -> None:
        """From now on connections are refused."""
        self.server.shutdown()
        self.server.server_close()

    def snap(self, revision: int) -> dict:
        return {
            "snap-id": API_ID, "name": "plane-api", "title": "plane-api", "summary": "s",
            "description": "d", "publisher": publisher(), "type": "app", "base": "none",
            "revision": revision, "version": f"1.30.{revision}", "confinement": "strict",
            "architectures": ["all"], "epoch": {"read": [0], "write": [0]}, "license": "",
            "created-at": "2026-10-01T00:00:00Z", "download": self.download(revision),
        }  # fmt: skip

    def download(self, revision: int) -> dict:
        return {
            "url": f"http://{self.address}/download/{revision}", "size": len(CONTENT),
            "sha3-384": "0" * 96, "deltas": [],
        }  # fmt: skip

    def cohorts(self, names: list[str]) -> tuple[int, dict]:
        if any(name not in KEYS for name in names):
            return 404, {"error-list": [{"code": "not-found", "message": "snap not found"}]}
        return 200, {"cohort-keys": {name: KEYS[name] for name in names}}

    def info(self) -> tuple[int, dict]:
        channel = {
            "architecture": "amd64", "name": "1.30/stable", "risk": "stable", "track": "1.30",
            "released-at": "2026-10-01T00:00:00Z",
        }  # fmt: skip
        snap = self.snap(HEAD)
        return 200, {
            "snap-id": API_ID, "name": "plane-api", "snap": snap | {"snap-id": API_ID},
            "channel-map": [snap | {"channel": channel}],
        }  # fmt: skip

    def refresh(self, request: dict) -> tuple[int, dict]:
        """One answer for each action; the context only tells what is installed."""
        context = {entry["instance-key"]: entry for entry in request.get("context", [])}
        results = []
        for action in request.get("actions", []):
            entry = context.get(action.get("instance-key"), {})
            results.append(self.answer(action, entry))
        return 200, {"results": results}

    def answer(self, action: dict, entry: dict) -> dict:
        if action["action"] == "fetch-assertions":
            return {"result": "fetch-assertions", "key": action["key"], "assertion-stream-urls": []}
        snap_id = action.get("snap-id") or entry.get("snap-id", "")
        result = {
            "instance-key": action.get("instance-key", ""), "snap-id": snap_id,
            "name": NAMES.get(snap_id, action.get("name", "")),
        }  # fmt: skip
        fault = self.fault(action, entry)
        if fault:
            return result | {"result": "error", "error": fault}
        key = action.get("cohort-key") or entry.get("cohort-key") or ""
        revision = int(action.get("revision") or COHORT_REVISION.get(key, HEAD))
        channel = action.get("channel") or entry.get("tracking-channel")
        return result | {
            "result": action["action"], "effective-channel": channel, "snap": self.snap(revision),
        }  # fmt: skip

    def fault(self, action: dict, entry: dict) -> dict | None:
        key = action.get("cohort-key") or entry.get("cohort-key") or ""
        channel = action.get("channel") or entry.get("tracking-channel")
        releases = [{"architecture": "amd64", "channel": "1.31/stable"}]
        gone = {"code": "revision-not-found", "message": "No revision was found in the Store."}
        if self.mode == "no revision, releases" or channel == "1.29/stable":
            return gone | {"extra": {"releases": releases}}
        if self.mode == "no revision" or action.get("revision") not in (None, 40, 41, 43):
            return gone
        if self.mode == "no id":
            return {"code": "id-not-found", "message": "No snap with the given ID was found."}
        if key == "junk":
            return {"code": "invalid-cohort", "message": "Cohort key rejected (invented text)."}
        return None


def publisher() -> dict:
    return {"id": "acme", "username": "acme", "display-name": "Acme", "validation": "unproven"}


class Handler(http.server.BaseHTTPRequestHandler):
    # One request a connection, so that a store that has stopped answers nobody.
    protocol_version = "HTTP/1.0"

    def respond(self) -> None:
        store: Store = self.server.store
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        if path.startswith("/download/"):
            if store.mode == "slow":
                time.sleep(6)
            self.send(200, CONTENT, "application/octet-stream")
            return
        if store.mode.isdigit():
            status, answer = int(store.mode), {}
        elif path == "/v2/cohorts":
            status, answer = store.cohorts(json.loads(body)["snaps"])
        elif path == "/v2/snaps/refresh":
            status, answer = store.refresh(json.loads(body))
        elif path == "/v2/snaps/info/plane-api":
            status, answer = store.info()
        else:
            # Catalogues, sections, registration of the device: this store has none.
            status, answer = 404, {"error-list": [{"code": "not-found", "message": "no such thing"}]}
        self.send(status, json.dumps(answer).encode(), "application/json")

    def send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = respond

    def log_message(self, *_) -> None:
        pass
