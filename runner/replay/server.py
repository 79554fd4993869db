"""ReplayServer: a loopback model server that plays cassettes and counts exactly what it served."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from runner.errors import ConfigurationError
from runner.replay.desk import Desk, Log
from runner.replay.handler import Handler
from runner.replay.library import Library, open_library
from runner.replay.scenario import FaultRule, ScenarioError, parse_fault
from runner.replay.tally import RunCount

STOP_SECONDS = 5.0


class Listener(ThreadingHTTPServer):
    """Knows its open connections, so that stopping never waits for a client."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], desk: Desk) -> None:
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        handler = type("BoundHandler", (Handler,), {"desk": desk})
        super().__init__(address, handler)

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

    def end_connections(self) -> None:
        """Close every open connection and wait for the threads to let go."""
        deadline = time.monotonic() + STOP_SECONDS
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            while self._open and time.monotonic() < deadline:
                self._changed.wait(0.1)


class ReplayServer:
    """A context manager: the server runs while the context is open, in threads of this process.

    Args:
        cassettes: folder laid out as ``<dataset>/<model>.jsonl``.
        host: address to listen on; loopback unless told otherwise.
        port: 0 takes a free one.
        faults: rules for every request, such as ``("first1-e500",)``; a path may add its own.
        log: file that gets one JSON line per request.

    Raises:
        ConfigurationError: cassettes or faults are wrong, or the address is taken.
    """

    def __init__(
        self,
        cassettes: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        faults: Sequence[str] = (),
        log: Path | None = None,
    ) -> None:
        self._library = open_library(cassettes)
        self._rules = parse_faults(faults)
        self._address = (host, port)
        self._log_path = log
        self._listener: Listener | None = None
        self._desk: Desk | None = None
        self._thread: threading.Thread | None = None

    @property
    def library(self) -> Library:
        """The cassettes it plays."""
        return self._library

    @property
    def base_url(self) -> str:
        """``http://host:port`` without a path."""
        host, port = self._started().server_address[:2]
        shown = host.decode() if isinstance(host, bytes) else str(host)
        return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"

    def url_for(self, *, run: str, scenario: str, faults: Sequence[str] = ()) -> str:
        """Base URL of a run without ``/v1``; ``scenario`` is ``<dataset>/<task>``."""
        parts = [quote(part, safe="") for part in (run, *scenario.split("/"), *faults)]
        return "/".join([self.base_url, "r", *parts])

    def count(self, run: str) -> RunCount:
        """The server's own count of ``run``."""
        if self._desk is None:
            raise ConfigurationError("the replay server was never started")
        return self._desk.tally.count(run)

    def __enter__(self) -> ReplayServer:
        desk = Desk(self._library, Log(self._log_path), self._rules)
        try:
            self._listener = Listener(self._address, desk)
        except (OSError, OverflowError) as error:
            desk.log.close()
            raise ConfigurationError(
                f"the replay server cannot listen: {error}",
                where="{}:{}".format(*self._address),
                remedy="choose another port, or 0 for a free one",
            ) from None
        self._desk = desk
        self._thread = threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": 0.05}, name="replay", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        listener = self._started()
        if self._desk is not None:
            self._desk.stopping.set()
        listener.shutdown()
        listener.end_connections()
        listener.server_close()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)
        if self._desk is not None:
            self._desk.log.close()
        self._listener = None

    def _started(self) -> Listener:
        if self._listener is None:
            raise ConfigurationError("the replay server is not running", remedy="use it as a context manager")
        return self._listener


def parse_faults(names: Sequence[str]) -> tuple[FaultRule, ...]:
    """The rules that a user's fault names stand for.

    Raises:
        ConfigurationError: a name is unknown; the message lists the known ones.
    """
    try:
        return tuple(parse_fault(name) for name in names)
    except ScenarioError as error:
        raise ConfigurationError(str(error)) from None


def serve(
    cassettes: Path,
    *,
    started: Callable[[str], None],
    host: str = "127.0.0.1",
    port: int = 8765,
    faults: Sequence[str] = (),
    log: Path | None = None,
    until: threading.Event | None = None,
) -> None:
    """Serve alone until interrupted (Ctrl-C) or until ``until`` is set.

    Args:
        started: is called once with the address, when the server answers.

    Raises:
        ConfigurationError: as for :class:`ReplayServer`.
    """
    ended = until or threading.Event()
    with ReplayServer(cassettes, host=host, port=port, faults=faults, log=log) as server:
        started(server.base_url)
        with contextlib.suppress(KeyboardInterrupt):
            while not ended.wait(0.5):
                continue
