"""Gateway: the one way from an agent to its model; it holds the real key, the agent a dummy."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import os
import shutil
import socket
import ssl
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

from runner.engine.isolation.admission import prefix_of
from runner.engine.isolation.credential import dummy_key
from runner.engine.isolation.relay import MAX_BODY_BYTES, Relay, Route
from runner.engine.isolation.traffic import Meter, Traffic
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint

INSIDE_PORT = 8471
CONNECT_SECONDS = 30.0
CLOSE_SECONDS = 30.0
BACKLOG = 128
MAX_CONNECTIONS = 128
"""Of one agent, so that it leaves descriptors to the runner and to the other trials. For one more, the oldest
without a request is cut."""
SOCKET = "model.sock"
LONGEST_SOCKET_PATH = 100
"""Bytes; a little less than the 104 of macOS and the 108 of Linux."""
SHORT_FOLDER = "/tmp"  # noqa: S108 - the folder made in it is our own


class Gateway:
    """A reverse proxy to one endpoint, for one trial; a context manager.

    ``endpoint`` is what the harness gets: an address on loopback and a dummy key. ``count()`` says what
    passed. Bodies and keys are never kept or logged.

    Args:
        target: the real endpoint, with the real key.
        on_socket: listen on a unix socket, for a sandbox without network; else on this machine's loopback.
        max_body_bytes: a larger request is refused.

    Raises:
        ConfigurationError: the endpoint's address is not http or https.
    """

    def __init__(self, target: Endpoint, *, on_socket: bool, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        if (
            urlsplit(target.base_url).scheme not in {"http", "https"}
            or not urlsplit(target.base_url).hostname
        ):
            raise ConfigurationError(
                "a model's address must begin with http:// or https://", where=target.base_url
            )
        self._target = target
        self._on_socket = on_socket
        self._max_body_bytes = max_body_bytes
        self._dummy = dummy_key()
        self._meter = Meter()
        self._folder: Path | None = None
        self._port = INSIDE_PORT
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None
        self._stopping = asyncio.Event()

    def __enter__(self) -> Self:
        listener = self._listen()
        self._thread = threading.Thread(target=self._run, args=(listener,), name="gateway", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(CLOSE_SECONDS)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint as the agent sees it."""
        return replace(
            self._target,
            base_url=f"http://127.0.0.1:{self._port}{prefix_of(self._target)}",
            api_key=self._dummy,
        )

    @property
    def socket_path(self) -> Path | None:
        """The unix socket to bind into a sandbox, if the gateway listens on one."""
        return None if self._folder is None else self._folder / SOCKET

    @property
    def port(self) -> int:
        """Port on the agent's loopback."""
        return self._port

    def count(self) -> Traffic:
        """What passed so far."""
        return self._meter.read()

    def activity(self) -> int:
        """A number that grows as long as anything passes."""
        return self._meter.activity()

    def _listen(self) -> socket.socket:
        if self._on_socket:
            # Nobody else can enter the folder; inside a container the agent may have another user id.
            self._folder = _socket_folder()
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(self._folder / SOCKET))
            (self._folder / SOCKET).chmod(0o666)
        else:
            # With the protocol named, asyncio turns off the kernel's waiting for more to send.
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            listener.bind(("127.0.0.1", 0))
            self._port = listener.getsockname()[1]
        listener.listen(BACKLOG)
        return listener

    def _run(self, listener: socket.socket) -> None:
        try:
            self._loop.run_until_complete(self._serve(listener))
            # Takes one more turn too, in which closed connections let go of their sockets.
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _serve(self, listener: socket.socket) -> None:
        connections: dict[asyncio.Task[None], Relay] = {}
        async with _client(self._target.base_url) as client:
            route = Route(self._target, self._dummy, self._meter, client, self._max_body_bytes)

            async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                """Serve one connection until it ends or the gateway does."""
                task = asyncio.current_task()
                if task is None:
                    raise AssertionError("a connection is served in a task")
                relay = Relay(route, reader, writer)
                has_room = _make_room(connections)
                connections[task] = relay
                try:
                    if has_room and not self._stopping.is_set():
                        await relay.serve()
                        writer.close()
                        await writer.wait_closed()
                except (asyncio.CancelledError, ConnectionError):
                    pass
                finally:
                    connections.pop(task, None)
                    writer.transport.abort()

            serve = asyncio.start_unix_server if self._on_socket else asyncio.start_server
            server = await serve(connected, sock=listener)
            await self._stopping.wait()
            # Before the server is closed: asyncio forgets the socket of one that was let in just before.
            self._loop.remove_reader(listener)
            await _ended(connections)
            server.close()


def _make_room(connections: Mapping[asyncio.Task[None], Relay]) -> bool:
    """Whether one more connection may be served, after the oldest idle one had to go where there are many."""
    open_ones = [task for task in connections if not task.cancelling()]
    if len(open_ones) < MAX_CONNECTIONS:
        return True
    idle = next((task for task in open_ones if connections[task].is_idle), None)
    return idle is not None and idle.cancel()


async def _ended(connections: Mapping[asyncio.Task[None], Relay]) -> None:
    """Cancel all connections and wait until nothing else is under way in this loop.

    One that was let in at the last moment gets its task only now. A task that is cancelled before it has
    begun would leave its socket open, so only those are cancelled that say they have.
    """
    cancelled = {asyncio.current_task()}
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in connections.keys() - cancelled:
            task.cancel()
            cancelled.add(task)
        await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)


def _client(base_url: str) -> httpx.AsyncClient:
    """No time limits of its own after connecting: how long a model may think is the agent's business."""
    return httpx.AsyncClient(
        verify=_trust(),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        follow_redirects=False,
        # A proxy of the user's is for the outside world.
        trust_env=not _is_local(urlsplit(base_url).hostname or ""),
    )


@functools.cache
def _trust() -> ssl.SSLContext:
    """Reading the system's certificates takes longer than a request, so it is done once."""
    return httpx.create_ssl_context()


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _socket_folder() -> Path:
    """A folder of our own for a socket: below the folder for temporary files, unless its path is too long.

    A run that an agent starts has that folder deep below the agent's own home.

    Raises:
        ConfigurationError: no folder with a short path can be made.
    """
    folder = Path(tempfile.mkdtemp(prefix="harnessmark-"))
    if len(os.fsencode(folder / SOCKET)) <= LONGEST_SOCKET_PATH:
        return folder
    folder.rmdir()
    try:
        return Path(tempfile.mkdtemp(prefix="harnessmark-", dir=SHORT_FOLDER))
    except OSError as error:
        raise ConfigurationError(
            f"the folder for temporary files is too deep for a socket, and so is the other one: {error}",
            where=SHORT_FOLDER,
            remedy="set TMPDIR to a folder with a short path",
        ) from None
