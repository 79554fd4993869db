"""Listener: takes connections at an address or a unix socket, each in a thread of its own."""

from __future__ import annotations

import contextlib
import socket
import stat
import threading
import time
from http.server import HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from runner.errors import ConfigurationError
from runner.replay.desk import Desk
from runner.replay.handler import Handler

STOP_SECONDS = 5.0


class Listener(ThreadingHTTPServer):
    """Knows its open connections, so that stopping never waits for a client."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int] | str, desk: Desk) -> None:
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        # Only TCP has the delay that the handler would switch off.
        more = {"desk": desk} | ({"disable_nagle_algorithm": False} if isinstance(address, str) else {})
        if isinstance(address, str):
            self.address_family = socket.AF_UNIX
        super().__init__(address, type("BoundHandler", (Handler,), more))  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Bind; a unix socket has no host whose name could be looked up."""
        if self.address_family != socket.AF_UNIX:
            super().server_bind()
            return
        super(HTTPServer, self).server_bind()
        self.server_name, self.server_port = "localhost", 0

    def get_request(self) -> tuple[Any, Any]:
        """A new connection; clients of a unix socket have no address, and the handler wants one."""
        request, address = super().get_request()
        return request, address or ("unix", 0)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hand a new connection to a thread of its own."""
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Let go of a connection."""
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def start(self) -> None:
        """Serve in a thread until :meth:`stop`."""
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, name="replay", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, close every open connection and wait for the threads to let go."""
        self.shutdown()
        deadline = time.monotonic() + STOP_SECONDS
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            while self._open and time.monotonic() < deadline:
                self._changed.wait(0.1)
        self.server_close()
        self._thread.join(STOP_SECONDS)


def listen(address: tuple[str, int] | Path, desk: Desk) -> Listener:
    """A listener that has begun to serve. A socket file that nobody listens to is replaced.

    Raises:
        ConfigurationError: the address or the path is taken, or cannot be used.
    """
    try:
        if isinstance(address, Path):
            _remove_dead_socket(address)
            listener = Listener(str(address), desk)
        else:
            listener = Listener(address, desk)
    except (OSError, OverflowError) as error:
        shown = str(address) if isinstance(address, Path) else "{}:{}".format(*address)
        remedy = (
            "choose another path of at most 100 characters"
            if isinstance(address, Path)
            else "choose another port, or 0 for a free one"
        )
        raise ConfigurationError(
            f"the replay server cannot listen: {error}", where=shown, remedy=remedy
        ) from None
    listener.start()
    return listener


def _remove_dead_socket(path: Path) -> None:
    if not path.exists() or not stat.S_ISSOCK(path.stat().st_mode):
        return
    with socket.socket(socket.AF_UNIX) as probe:
        if probe.connect_ex(str(path)) != 0:
            path.unlink()
