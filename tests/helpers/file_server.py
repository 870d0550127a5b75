"""A server of files on this machine that does what servers do: truncate, corrupt, stall, refuse."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.requests.append(self.headers.get("Range"))
        deed = server.deeds.pop(0) if server.deeds else "serve"
        content = server.files.get(self.path)
        if isinstance(deed, int):
            return self.send_error(deed)
        if content is None:
            return self.send_error(404)
        if deed == "hang up":
            return self.connection.close()
        start = 0
        if self.headers.get("Range") and deed != "whole":
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                return self.send_error(416)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        body = content[start:]
        if deed == "corrupt":
            body = body[:-1] + bytes([body[-1] ^ 1])
        if deed == "longer":
            body += b"and more"
        if deed != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if deed in ("truncate", "stall"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            if deed == "stall":
                server.stalled.wait(10)
        elif deed == "trickle":
            for byte in body:
                if server.stalled.wait(0.05):
                    break
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
        else:
            self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Clients that hang up are no matter."""


@contextmanager
def file_server(files):
    """A server with the attributes ``url``, ``files`` (by path), ``deeds`` and ``requests``.

    ``deeds`` say what is done of one request after the other, ``requests`` what parts were asked
    for.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    server.url = f"http://127.0.0.1:{server.server_port}"
    server.files, server.deeds, server.requests = files, [], []
    server.stalled = threading.Event()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stalled.set()
        server.shutdown()
        server.server_close()
        thread.join()
