"""A small HTTP server on a unix socket, in a thread."""

import http.server
import socketserver
import threading
from pathlib import Path


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Gives each request to `answer(method, path, body)`, which gives a status and a body."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, path: Path, answer):
        self.answer = answer
        super().__init__(str(path), Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, content = self.server.answer(self.command, self.path, body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = respond

    def address_string(self) -> str:
        return "client"

    def log_message(self, *_) -> None:
        pass
