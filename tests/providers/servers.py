"""Servers for tests: real sockets that answer as told, hang, drip, redirect, or speak something else."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NOBODY = "http://127.0.0.1:9"
"""An address at which nothing listens: the system gives its port to no connection and no server."""
Answer = tuple[int, object]
Answers = Callable[["Seen"], Answer]


@dataclass(frozen=True)
class Seen:
    """One request as the server got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""


@dataclass
class Api:
    """A server that is running."""

    address: str
    seen: list[Seen] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        """Where its API begins."""
        return f"{self.address}/v1"


@contextmanager
def api(answers: Answers) -> Iterator[Api]:
    """A server whose every answer ``answers`` decides: a status, and JSON, text, or headers and text."""
    made = Api("")

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            made.seen.append(Seen(self.command, self.path, headers, body))
            status, content = answers(made.seen[-1])
            more: dict[str, str] = {}
            if isinstance(content, tuple):
                more, content = content
            data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    made.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def raw(said: bytes, *, drip_seconds: float = 0.0) -> Iterator[str]:
    """The address of a server that says ``said`` to everyone, byte by byte where it drips, then nothing."""
    listening = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()
    held: list[socket.socket] = []

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            held.append(connection)
            threading.Thread(target=speak, args=(connection,), daemon=True).start()

    def speak(connection: socket.socket) -> None:
        pieces = [said[place : place + 1] for place in range(len(said))] if drip_seconds else [said]
        for piece in pieces:
            try:
                connection.sendall(piece)
            except OSError:
                return
            if ended.wait(drip_seconds):
                return

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        ended.set()
        # A thread that waits in accept() is not woken by closing, and may later take what is another's.
        listening.shutdown(socket.SHUT_RDWR)
        serving.join()
        listening.close()
        for connection in held:
            connection.close()
