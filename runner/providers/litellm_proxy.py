"""The LiteLLM proxy as a process: started with its keys in the environment only, awaited, and stopped."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from runner.errors import EndpointError
from runner.providers.address import api_key
from runner.providers.background import (
    ServerFile,
    is_up,
    launch_bound,
    launch_free,
    process_mark,
    read_server_file,
    stop,
    tail,
    wait_until,
    write_server_file,
)
from runner.providers.litellm_program import ProxyProgram
from runner.providers.litellm_routes import Route, configuration
from runner.providers.proxy_launch import STAYS

MASTER_KEY_ENV = "HARNESSMARK_PROXY_KEY"
READY_PATH = "/health/liveliness"
READY_SECONDS = 180.0
HEALTH_SECONDS = 2.0
SPEAK_SECONDS = 5.0
STOP_SECONDS = 10.0
ATTEMPTS = 2
"""Another program may take the free port before the proxy does."""


@dataclass(frozen=True)
class Proxy:
    """A proxy that answers."""

    address: str
    """Root of its API, without a version."""
    key: str = field(repr=False)
    """Made for this start; lets a client in."""
    server: ServerFile

    def require_up(self) -> None:
        """Say so where the process has ended.

        Raises:
            EndpointError: it has; the end of its log is in the message.
        """
        if not is_up(self.server):
            raise EndpointError(
                f"the proxy for {self.server.what} has ended:\n{tail(self.server.log)}",
                where=self.server.log,
                remedy="see the end of its log above, then resume the run",
            )


@contextmanager
def running_proxy(
    program: ProxyProgram,
    routes: Sequence[Route],
    *,
    state: Path,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> Iterator[Proxy]:
    """Start the proxy for ``routes`` and stop it at the end.

    It also stops when this process ends in any other way. Configuration and process file are gone afterwards;
    the log stays.

    Args:
        state: folder for process file, configuration and log.
        environment: where the keys of the backends are.

    Raises:
        EndpointError: it does not start, or does not know its models.
    """
    state.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _one_start(program, routes, state, environment, say) as proxy:
                _require_models(proxy, routes)
                yield proxy
            return
        except _PortTaken:
            if attempt == ATTEMPTS:
                raise EndpointError("the proxy found no free port", remedy="try again") from None


class _PortTaken(Exception):
    """Somebody else was faster."""


@contextmanager
def _one_start(
    program: ProxyProgram,
    routes: Sequence[Route],
    state: Path,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> Iterator[Proxy]:
    key = f"sk-{secrets.token_urlsafe(32)}"
    with tempfile.TemporaryDirectory(prefix="litellm-", dir=state) as folder:
        start = _prepared(program, routes, Path(folder), environment, key)
        say(f"{start.what}: starting the LiteLLM proxy {program.version}; this takes 10 to 30 s")
        process = launch_bound(start.command, environment=start.environment, folder=start.home, log=start.log)
        server = start.server(process.pid, program, owner=os.getpid())
        try:
            write_server_file(start.file, server)
            _await(server, start.address, say)
            yield Proxy(start.address, key, server)
        finally:
            _end(process, server)
            start.file.unlink(missing_ok=True)


def start_proxy(
    program: ProxyProgram,
    routes: Sequence[Route],
    *,
    state: Path,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> ServerFile:
    """Start the proxy for ``routes`` and leave it up, until :func:`stop_proxies`.

    Clients show the key that the user has put into the variable ``MASTER_KEY_ENV``; it is written nowhere.

    Raises:
        ConfigurationError: that variable is not set.
        EndpointError: the proxy does not start, or does not know its models; it is stopped then.
    """
    key = api_key(MASTER_KEY_ENV, environment)
    state.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="litellm-", dir=state))
    start = _prepared(program, routes, home, environment, key)
    say(f"{start.what}: starting the LiteLLM proxy {program.version}; this takes 10 to 30 s")
    pid = launch_free(start.command, environment={**start.environment, STAYS: "1"}, log=start.log)
    server = start.server(pid, program, owner=None)
    try:
        write_server_file(start.file, server)
        _await(server, start.address, say)
        _require_models(Proxy(start.address, key, server), routes)
    except _PortTaken:
        _forget(start.file, server)
        raise EndpointError("another program took the proxy's port", remedy="try again") from None
    except BaseException:
        _forget(start.file, server)
        raise
    return server


@dataclass(frozen=True)
class _Start:
    """What a proxy is started with; its configuration is on disk."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    address: str
    what: str
    home: Path

    @property
    def file(self) -> Path:
        """The file that names the running server."""
        return self.home.with_name(f"{self.home.name}.json")

    @property
    def log(self) -> Path:
        """Where the proxy writes what it says."""
        return self.home.with_name(f"{self.home.name}.log")

    def server(self, pid: int, program: ProxyProgram, *, owner: int | None) -> ServerFile:
        """The content of that file; ``owner`` is the process it ends with, None when it stays."""
        return ServerFile(
            pid=pid,
            mark=process_mark(pid) or "ended",
            what=self.what,
            key=program.version,
            base_url=self.address,
            log=str(self.log),
            stays=owner is None,
            owner=owner,
            owner_mark="" if owner is None else process_mark(owner) or "",
        )


def _prepared(
    program: ProxyProgram, routes: Sequence[Route], home: Path, environment: Mapping[str, str], key: str
) -> _Start:
    config, port = home / "config.yaml", _free_port()
    config.write_text(configuration(list(routes), master_key_env=MASTER_KEY_ENV), encoding="utf-8")
    keys = {MASTER_KEY_ENV: key, **{name: environment[name] for name in _names(routes)}}
    return _Start(
        command=program.command(config, port),
        environment=program.environment(environment, home, keys),
        address=f"http://127.0.0.1:{port}",
        what=", ".join(route.model for route in routes),
        home=home,
    )


def is_healthy(server: ServerFile) -> bool:
    """Whether the proxy answers that it is alive; no model is asked for anything."""
    with httpx.Client(timeout=HEALTH_SECONDS, trust_env=False) as client:
        return _answers(client, server.base_url)


def _answers(client: httpx.Client, address: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return client.get(address + READY_PATH).status_code == 200
    return False


def _await(server: ServerFile, address: str, say: Callable[[str], None]) -> None:
    with httpx.Client(timeout=HEALTH_SECONDS, trust_env=False) as client:
        try:
            wait_until(
                lambda: _answers(client, address), server, seconds=READY_SECONDS, say=say, every=SPEAK_SECONDS
            )
        except EndpointError:
            if re.search(r"address already in use|Errno 98", tail(server.log)):
                raise _PortTaken from None
            raise


def _require_models(proxy: Proxy, routes: Sequence[Route]) -> None:
    """Whoever answers at the port must know the key that was made for this start, and every model."""
    try:
        answer = httpx.get(
            f"{proxy.address}/v1/models",
            headers={"Authorization": f"Bearer {proxy.key}"},
            timeout=30.0,
            trust_env=False,
        )
        known = {entry["id"] for entry in answer.raise_for_status().json()["data"]}
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise EndpointError(
            f"what answers at the proxy's port is not the proxy: {type(error).__name__}", where=proxy.address
        ) from None
    missing = [route.model for route in routes if route.model not in known]
    if missing:
        raise EndpointError(f"the proxy does not know {', '.join(missing)}", where=proxy.server.log)


def _end(process: subprocess.Popen[bytes], server: ServerFile) -> None:
    stop(server, grace_seconds=STOP_SECONDS)
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def proxies(state: Path) -> list[tuple[Path, ServerFile]]:
    """Every proxy with a process file below ``state``, whether or not it is still up."""
    found = ((path, read_server_file(path)) for path in sorted(state.glob("litellm-*.json")))
    return [(path, server) for path, server in found if server is not None]


def stop_proxies(state: Path) -> list[str]:
    """Stop every proxy that was left up, and none that a run has started for itself; what each served."""
    stopped = []
    for path, server in proxies(state):
        if server.is_in_use:
            continue
        if _forget(path, server):
            stopped.append(server.what)
    return stopped


def _forget(file: Path, server: ServerFile) -> bool:
    """Stop a proxy and remove what was written for it but its log; whether there was anything to stop."""
    stopped = stop(server, grace_seconds=STOP_SECONDS)
    shutil.rmtree(file.with_suffix(""), ignore_errors=True)
    file.unlink(missing_ok=True)
    return stopped


def _names(routes: Sequence[Route]) -> list[str]:
    return [route.api_key_env for route in routes if route.api_key_env]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
