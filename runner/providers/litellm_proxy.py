"""The LiteLLM proxy as a process: started with its keys in the environment only, awaited, and stopped."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from runner.errors import EndpointError
from runner.providers.background import (
    ServerFile,
    is_up,
    launch_bound,
    process_mark,
    read_server_file,
    stop,
    tail,
    wait_until,
    write_server_file,
)
from runner.providers.litellm_program import ProxyProgram
from runner.providers.litellm_routes import Route, configuration

MASTER_KEY_ENV = "HARNESSMARK_PROXY_KEY"
READY_PATH = "/health/liveliness"
READY_SECONDS = 180.0
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
    key, port = f"sk-{secrets.token_urlsafe(32)}", _free_port()
    keys = {MASTER_KEY_ENV: key, **{name: environment[name] for name in _names(routes)}}
    address, what = f"http://127.0.0.1:{port}", ", ".join(route.model for route in routes)
    with tempfile.TemporaryDirectory(prefix="litellm-", dir=state) as home:
        config = Path(home) / "config.yaml"
        config.write_text(configuration(list(routes), master_key_env=MASTER_KEY_ENV), encoding="utf-8")
        log = state / f"{Path(home).name}.log"
        say(f"{what}: starting the LiteLLM proxy {program.version}; this takes 10 to 30 s")
        process = launch_bound(
            program.command(config, port),
            environment=program.environment(environment, Path(home), keys),
            folder=Path(home),
            log=log,
        )
        server = ServerFile(
            pid=process.pid,
            mark=process_mark(process.pid) or "ended",
            what=what,
            key=program.version,
            base_url=address,
            log=str(log),
            owner=os.getpid(),
            owner_mark=process_mark(os.getpid()) or "",
        )
        file = state / f"{Path(home).name}.json"
        write_server_file(file, server)
        try:
            _await(server, address, say)
            yield Proxy(address, key, server)
        finally:
            _end(process, server)
            file.unlink(missing_ok=True)


def _await(server: ServerFile, address: str, say: Callable[[str], None]) -> None:
    with httpx.Client(timeout=2.0, trust_env=False) as client:

        def ready() -> bool:
            with contextlib.suppress(httpx.HTTPError):
                return client.get(address + READY_PATH).status_code == 200
            return False

        try:
            wait_until(ready, server, seconds=READY_SECONDS, say=say, every=SPEAK_SECONDS)
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
    """Stop every proxy that a run left behind, and none that a run uses; what each served."""
    stopped = []
    for path, server in proxies(state):
        if server.is_in_use:
            continue
        if stop(server, grace_seconds=STOP_SECONDS):
            stopped.append(server.what)
        path.unlink(missing_ok=True)
    return stopped


def _names(routes: Sequence[Route]) -> list[str]:
    return [route.api_key_env for route in routes if route.api_key_env]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
