"""ReplayServer: a loopback model server that plays cassettes and counts exactly what it served."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from runner.errors import ConfigurationError
from runner.replay.desk import Desk, Log
from runner.replay.improvising import Improviser
from runner.replay.library import Library, open_library
from runner.replay.listener import Listener, listen
from runner.replay.meter import Meter
from runner.replay.scenario import FaultRule, ScenarioError, parse_fault
from runner.replay.service import Service, ServiceTimes
from runner.replay.stand_in import STAND_IN
from runner.replay.tally import RunCount


class ReplayServer:
    """A context manager: the server runs while the context is open, in threads of this process.

    Args:
        cassettes: folder laid out as ``<dataset>/<model>.jsonl``.
        host: address to listen on; loopback unless told otherwise.
        port: 0 takes a free one.
        unix_socket: path of a socket to listen on as well, for clients without a network. It is removed at
            the end.
        faults: rules for every request, such as ``("first1-e500",)``; a path may add its own.
        log: file that gets one JSON line per request.
        service: how long it takes; None answers at once. With it a model is served that answers any load.
        improviser: answers what it knows of in place of the cassettes.

    Raises:
        ConfigurationError: cassettes or faults are wrong, or the address is taken.
    """

    def __init__(
        self,
        cassettes: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        unix_socket: Path | None = None,
        faults: Sequence[str] = (),
        log: Path | None = None,
        service: ServiceTimes | None = None,
        improviser: Improviser | None = None,
    ) -> None:
        self._service = service
        self._improviser = improviser
        self._library = open_library(cassettes)
        self._rules = parse_faults(faults)
        self._address = (host, port)
        self._log_path = log
        self._socket = unix_socket
        self._listeners: tuple[Listener, ...] = ()
        self._desk: Desk | None = None

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

    def count(self, run: str, *, protocol: str | None = None, thread: str | None = None) -> RunCount:
        """The server's own count of ``run``, or of one protocol or thread (``main``, a subagent's) of it."""
        return self._opened().tally.count(run, protocol=protocol, thread=thread)

    def threads(self, run: str) -> tuple[str, ...]:
        """Threads that ``run`` had, in the order of their first request."""
        return tuple(dict.fromkeys(part.thread for part in self._opened().tally.parts(run)))

    def _opened(self) -> Desk:
        if self._desk is None:
            raise ConfigurationError("the replay server was never started")
        return self._desk

    def __enter__(self) -> ReplayServer:
        desk = Desk(
            self._library,
            Log(self._log_path),
            self._rules,
            meter=self._meter(),
            service=None if self._service is None else Service(self._service),
            improviser=self._improviser,
        )
        started: list[Listener] = []
        try:
            started.append(listen(self._address, desk))
            if self._socket is not None:
                started.append(listen(self._socket, desk))
        except ConfigurationError:
            _stop(desk, started)
            raise
        self._desk, self._listeners = desk, tuple(started)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._started()
        _stop(self._opened(), self._listeners)
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)
        self._listeners = ()

    def _meter(self) -> Meter:
        models, service = tuple(self._library.models()), self._service
        if service is None:
            return Meter(models)
        return Meter((*models, STAND_IN), paced=True, kv_cache_tokens=service.kv_cache_tokens)

    def _started(self) -> Listener:
        if not self._listeners:
            raise ConfigurationError("the replay server is not running", remedy="use it as a context manager")
        return self._listeners[0]


def _stop(desk: Desk, listeners: Sequence[Listener]) -> None:
    desk.stopping.set()
    for listener in listeners:
        listener.stop()
    desk.log.close()


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
    unix_socket: Path | None = None,
    faults: Sequence[str] = (),
    log: Path | None = None,
    service: ServiceTimes | None = None,
    until: threading.Event | None = None,
) -> None:
    """Serve alone until interrupted (Ctrl-C) or until ``until`` is set.

    Args:
        started: is called once with the address, when the server answers.

    Raises:
        ConfigurationError: as for :class:`ReplayServer`.
    """
    ended = until or threading.Event()
    with ReplayServer(
        cassettes, host=host, port=port, unix_socket=unix_socket, faults=faults, log=log, service=service
    ) as server:
        started(server.base_url)
        with contextlib.suppress(KeyboardInterrupt):
            while not ended.wait(0.5):
                continue
