"""Upstream: a model endpoint of bytes, for tests that look at what exactly goes over the wire."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from runner.harnesses.endpoint import Endpoint, WireProtocol

REAL_KEY = "sk-real-0123456789abcdef0123456789abcdef"
Answer = Callable[[socket.socket, "Seen"], None]


@dataclass
class Seen:
    """One request as it arrived."""

    head: bytes
    body: bytes

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode()

    def header(self, name: str) -> str | None:
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.decode().lower() == name:
                return value.strip().decode()
        return None


@dataclass
class Upstream:
    """A listening endpoint; ``requests`` fills as they come."""

    address: tuple[str, int]
    requests: list[Seen] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when a client closed its connection."""

    def endpoint(
        self, prefix: str = "/v1", protocol: WireProtocol = WireProtocol.CHAT_COMPLETIONS
    ) -> Endpoint:
        host, port = self.address
        return Endpoint(f"http://{host}:{port}{prefix}", protocol, "m", REAL_KEY)


def reply(body: bytes, status: str = "200 OK", headers: str = "") -> Answer:
    """Answer with a body of known length."""

    def answer(connection: socket.socket, seen: Seen) -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n{headers}\r\n"
        connection.sendall(head.encode() + body)

    return answer


@contextmanager
def upstream(answer: Answer) -> Iterator[Upstream]:
    """An endpoint that answers every request by ``answer``; one that closes the connection cuts it."""
    listener = socket.create_server(("127.0.0.1", 0))
    made = Upstream(listener.getsockname())
    threads: list[threading.Thread] = []
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                while (seen := _read(connection)) is not None:
                    made.requests.append(seen)
                    answer(connection, seen)
            except OSError:
                pass
            made.gone.set()

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connections.append(connection)
            threads.append(threading.Thread(target=serve, args=(connection,), daemon=True))
            threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield made
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        listener.close()
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        for thread in threads:
            thread.join()


def _read(connection: socket.socket) -> Seen | None:
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := connection.recv(65536)):
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    seen = Seen(head, b"")
    if seen.header("transfer-encoding") == "chunked":
        while not body.endswith(b"0\r\n\r\n"):
            body += _more(connection)
        seen.body = _unchunked(body)
    else:
        while len(body) < int(seen.header("content-length") or 0):
            body += _more(connection)
        seen.body = body
    return seen


def _more(connection: socket.socket) -> bytes:
    if not (data := connection.recv(65536)):
        raise ConnectionError
    return data


def _unchunked(data: bytes) -> bytes:
    whole = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        whole, data = whole + data[: int(size, 16)], data[int(size, 16) + 2 :]
    return whole
