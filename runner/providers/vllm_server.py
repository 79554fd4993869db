"""The vLLM server of a project: one at a time, started from a recipe, found again, switched, stopped.

A server that was not started from here is never touched.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from runner.errors import ConfigurationError, EndpointError
from runner.providers.background import (
    ServerFile,
    is_up,
    launch_free,
    process_mark,
    read_server_file,
    stop,
    tail,
    wait_until,
    write_server_file,
)
from runner.providers.lease import Lease
from runner.providers.recipe import ADDRESS, Recipe
from runner.records import sha256_of

PROGRAM_ENV = "HARNESSMARK_VLLM"
PROGRAM = "vllm"
FILE = "vllm.json"
LEASE = "vllm.lock"
LOG = "vllm.log"
STOP_SECONDS = 60.0
"""A server with many accelerators lets go of them one by one."""
SPEAK_SECONDS = 15.0
PASSED_ON = frozenset(
    {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "XDG_CACHE_HOME"}
    | {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT", "HF_HUB_OFFLINE"}
)
PASSED_ON_FAMILIES = ("CUDA_", "NVIDIA_", "NCCL_", "TORCH", "TRITON_", "FLASHINFER_", "ROCR_", "HIP_")
QUIET = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}


@dataclass
class VllmServer:
    """The one server that this project starts.

    Args:
        state: folder for process file, lock and log; outside git.
        environment: the user's; the server sees little of it, and no secret that is not named.
        say: gets a line for each step that takes its time.
    """

    state: Path
    environment: Mapping[str, str]
    say: Callable[[str], None] = field(default=lambda _: None)

    def running(self) -> ServerFile | None:
        """What is up now, or on its way up."""
        server = read_server_file(self.state / FILE)
        return server if server is not None and is_up(server) else None

    @contextmanager
    def held(self, recipe: Recipe, key: str = "") -> Iterator[ServerFile]:
        """The server of ``recipe``, for as long as the context is open: found or started.

        The last one to use it stops it, unless it was started to stay. One that serves another recipe is
        stopped first.

        Raises:
            ConfigurationError: the program is not there.
            EndpointError: it does not come up, its port is taken, or another run uses the server.
        """
        with self._lease() as lease:
            found = self._ready(recipe, key, lease, stays=False)
            try:
                yield found
            finally:
                # Another run may have begun to use it meanwhile; then it is theirs.
                if not found.stays and lease.change():
                    self._stop(found)

    def start(self, recipe: Recipe, key: str = "") -> ServerFile:
        """Start the server of ``recipe`` and leave it up; one that serves it already is left alone.

        Raises:
            ConfigurationError: the program is not there.
            EndpointError: as :meth:`held`.
        """
        with self._lease() as lease:
            return self._ready(recipe, key, lease, stays=True)

    def stop(self) -> ServerFile | None:
        """Stop what was started from here; what it was, or None where there was nothing.

        Raises:
            EndpointError: a run uses it.
        """
        server = read_server_file(self.state / FILE)
        if server is None:
            return None
        with self._lease() as lease:
            if not lease.change():
                raise EndpointError(
                    f"a run uses the server of {server.what}", remedy="stop the run first, or wait for it"
                )
            return server if self._stop(server) else None

    @contextmanager
    def _lease(self) -> Iterator[Lease]:
        self.state.mkdir(parents=True, exist_ok=True)
        lease = Lease(self.state / LEASE)
        try:
            yield lease
        finally:
            lease.close()

    def _ready(self, recipe: Recipe, key: str, lease: Lease, *, stays: bool) -> ServerFile:
        """The server that serves ``recipe``, found or started; the lease is held for use."""
        if not lease.use():
            raise EndpointError(
                "another command is starting or stopping the model server",
                remedy="wait for it, then try again",
            )
        current = read_server_file(self.state / FILE)
        if current is not None and is_up(current) and current.key == recipe_key(recipe):
            self._await(current, recipe, key)
            self.say(f"{recipe.name}: its server is up already")
            return current
        if not lease.change():
            what = current.what if current else "another model"
            raise EndpointError(
                f"another run uses the server of {what}",
                remedy="wait for it: two models cannot have the machine at once",
            )
        if current is not None:
            if is_up(current):
                self.say(f"{recipe.name}: stopping the server of {current.what}")
            self._stop(current)
        server = self._start(recipe, key, stays=stays)
        lease.use()
        return server

    def _start(self, recipe: Recipe, key: str, *, stays: bool) -> ServerFile:
        program = find_vllm(self.environment)
        require_free_port(recipe)
        log = self.state / LOG
        self.say(f"{recipe.name}: starting vLLM on port {recipe.port}; its log is {log}")
        pid = launch_free(
            recipe.command(program), environment=server_environment(recipe, self.environment, key), log=log
        )
        server = ServerFile(
            pid=pid,
            mark=process_mark(pid) or "ended",
            what=recipe.name,
            key=recipe_key(recipe),
            base_url=recipe.base_url,
            log=str(log),
            stays=stays,
        )
        try:
            write_server_file(self.state / FILE, server)
            self._await(server, recipe, key)
        except BaseException:
            # A user who gives up waiting does not want what is on its way either.
            self._stop(server)
            raise
        return server

    def _await(self, server: ServerFile, recipe: Recipe, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with httpx.Client(timeout=5.0, trust_env=False, headers=headers) as client:

            def ready() -> bool:
                """Whether the server says that it is healthy."""
                with contextlib.suppress(httpx.HTTPError):
                    root = recipe.base_url.removesuffix("/v1")
                    return client.get(f"{root}/health").status_code == 200
                return False

            wait_until(ready, server, seconds=recipe.start_minutes * 60, say=self.say, every=SPEAK_SECONDS)

    def _stop(self, server: ServerFile) -> bool:
        stopped = stop(server, grace_seconds=STOP_SECONDS)
        (self.state / FILE).unlink(missing_ok=True)
        return stopped


def require_up(server: ServerFile) -> None:
    """Say so where the server has ended.

    Raises:
        EndpointError: it has; the end of its log is in the message.
    """
    if not is_up(server):
        raise EndpointError(
            f"the server of {server.what} has ended:\n{tail(server.log)}",
            where=server.log,
            remedy="see the end of its log above, then resume the run",
        )


def recipe_key(recipe: Recipe) -> str:
    """What tells a server of this recipe from one of any other, or of an older state of the file."""
    return sha256_of(recipe.model_dump_json(exclude={"notes", "source"}).encode())[:16]


def find_vllm(environment: Mapping[str, str]) -> str:
    """The vLLM program: the one that the user names, or the first on the search path.

    Raises:
        ConfigurationError: there is none.
    """
    named = environment.get(PROGRAM_ENV, "")
    found = shutil.which(named or PROGRAM, path=environment.get("PATH"))
    if found is None:
        raise ConfigurationError(
            f"the program {named or PROGRAM} is not there",
            remedy=f"install vLLM where the accelerators are, or export {PROGRAM_ENV}=path/to/vllm; "
            "for a server that runs elsewhere give --endpoint",
        )
    return found


def installed_version(program: str) -> str | None:
    """The version of vLLM beside ``program``, read from its packages; None where that cannot be told."""
    folders = Path(program).resolve().parent.parent.glob("lib/python*/site-packages/vllm-*.dist-info")
    versions = [folder.name.removeprefix("vllm-").removesuffix(".dist-info") for folder in folders]
    return versions[0] if len(versions) == 1 else None


def server_environment(recipe: Recipe, given: Mapping[str, str], key: str) -> dict[str, str]:
    """What the server sees: the machine's libraries and caches, what the recipe says and what it names.

    A server runs code that came with a model. It gets no key but its own.
    """
    passed = {
        name: value
        for name, value in given.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_FAMILIES) or name in recipe.pass_environment
    }
    own = {"VLLM_API_KEY": key} if key else {}
    return {**passed, **QUIET, **recipe.environment, **own}


def require_free_port(recipe: Recipe) -> None:
    """Check that nobody listens where the server of ``recipe`` is to.

    Raises:
        EndpointError: somebody does, and is left alone.
    """
    with socket.socket() as probe:
        probe.settimeout(1.0)
        taken = probe.connect_ex((ADDRESS, recipe.port)) == 0
    if taken:
        raise EndpointError(
            f"port {recipe.port} is taken by a program that was not started from here, which is left alone",
            where=recipe.base_url,
            remedy="stop it, or give the recipe another port; if it is a server with the model, "
            f"use it as it is: --endpoint {recipe.base_url}",
        )
