"""MetronomeServer: one bare event loop that reads requests, sends chunks on time, and notes both.

It is written for speed, as whatever it is late by would be taken for the client's fault: its own lateness
is in what it notes.
"""

from __future__ import annotations

import gc
import heapq
import json
import selectors
import socket
import ssl
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from runner.endpoint.metronome.beat import Beat, head

BACKLOG = 2048
READ_BYTES = 64 * 1024
IDLE_SECONDS = 0.2
MODELS = json.dumps(
    {"object": "list", "data": [{"id": "metronome", "object": "model", "created": 0, "owned_by": "none"}]}
).encode()


@dataclass(slots=True, eq=False)
class _Peer:
    socket: socket.socket
    held: bytes = b""
    shaking: bool = False
    step: int = 0
    head: bytes = b""
    first_due: int = 0
    sends: list[int] = field(default_factory=list)


class MetronomeServer:
    """Serves until its input is closed.

    Args:
        beat: what is sent and when.
        certificate: file with key and certificate, for TLS.
    """

    def __init__(self, beat: Beat, certificate: Path | None = None) -> None:
        self._writes = beat.writes()
        self._first_ns, self._gap_ns = int(beat.first_ms * 1e6), int(beat.gap_ms * 1e6)
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)
        self._log: list[tuple[str, int, list[int]]] = []
        self._peers: dict[int, _Peer] = {}
        self._due: list[tuple[int, int]] = []
        self._poll = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        self._listener.setblocking(False)
        self._poll.register(self._listener, selectors.EVENT_READ)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listener.getsockname()[1])

    def serve(self, until_closed: int) -> None:
        """Serve until the file descriptor ``until_closed`` can be read or is closed."""
        self._poll.register(until_closed, selectors.EVENT_READ)
        clock, listener = time.perf_counter_ns, self._listener.fileno()
        while True:
            wait = IDLE_SECONDS
            if self._due:
                wait = max(0.0, (self._due[0][0] - clock()) / 1e9)
            for key, _ in self._poll.select(wait):
                descriptor = key.fd
                if descriptor == listener:
                    self._accept()
                elif descriptor == until_closed:
                    return
                else:
                    self._readable(descriptor)
            while self._due and self._due[0][0] <= clock():
                self._send(*heapq.heappop(self._due))

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            accepted.setblocking(False)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = _Peer(accepted)
            if self._context is not None:
                peer.socket = self._context.wrap_socket(
                    accepted, server_side=True, do_handshake_on_connect=False
                )
                peer.shaking = True
            self._peers[peer.socket.fileno()] = peer
            self._poll.register(peer.socket, selectors.EVENT_READ)

    def _readable(self, descriptor: int) -> None:
        peer = self._peers[descriptor]
        try:
            if peer.shaking and isinstance(peer.socket, ssl.SSLSocket):
                peer.socket.do_handshake()
                peer.shaking = False
            data = peer.socket.recv(READ_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            data = b""
        if not data:
            self._drop(descriptor)
            return
        received = time.perf_counter_ns()
        peer.held += data
        asked, blank, body = peer.held.partition(b"\r\n\r\n")
        if not blank:
            return
        lines = asked.split(b"\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])
        }
        if len(body) < int(headers.get(b"content-length", b"0")):
            return
        peer.held = b""
        if lines[0].startswith(b"POST"):
            identifier = headers.get(b"x-metronome-id", b"").decode("latin-1")
            peer.step, peer.sends, peer.first_due = 0, [], received + self._first_ns
            peer.head = head(identifier)
            self._log.append((identifier, received, peer.sends))
            heapq.heappush(self._due, (peer.first_due, descriptor))
        else:
            self._tell(peer, lines[0])

    def _send(self, due: int, descriptor: int) -> None:
        peer = self._peers.get(descriptor)
        # What was due on a connection that is gone is nothing for the one that has its number now.
        if peer is None or due != peer.first_due + peer.step * self._gap_ns:
            return
        write = self._writes[peer.step] if peer.step else peer.head + self._writes[0]
        peer.sends.append(time.perf_counter_ns())
        try:
            peer.socket.send(write)
        except OSError:
            # A client that does not read is of no use here.
            self._drop(descriptor)
            return
        peer.step += 1
        if peer.step < len(self._writes):
            heapq.heappush(self._due, (peer.first_due + peer.step * self._gap_ns, descriptor))

    def _tell(self, peer: _Peer, line: bytes) -> None:
        """The models, and the log since it was last asked for."""
        body = MODELS
        if b" /log " in line:
            body = json.dumps(self._log).encode()
            self._log = []
        told = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        peer.socket.setblocking(True)
        peer.socket.sendall(told + body)
        peer.socket.setblocking(False)

    def _drop(self, descriptor: int) -> None:
        peer = self._peers.pop(descriptor)
        self._poll.unregister(peer.socket)
        peer.socket.close()


def main(arguments: list[str]) -> None:
    """``BEAT [CERTIFICATE]``: serve as they say, write the port to standard output, end with the input."""
    server = MetronomeServer(Beat(**json.loads(arguments[0])), Path(arguments[1]) if arguments[1:] else None)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    gc.freeze()
    gc.disable()
    server.serve(sys.stdin.fileno())


if __name__ == "__main__":
    main(sys.argv[1:])
