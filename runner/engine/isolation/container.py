"""Container: the command line of a docker or podman container that holds nothing but what is shown to it."""

from __future__ import annotations

import functools
import os
import resource
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.engine.isolation.bubblewrap import (
    ACCOUNTS,
    ATTENDANT,
    INSIDE_ATTENDANT,
    INSIDE_SOCKET,
    SCRATCH_BYTES,
)
from runner.engine.isolation.sight import Sight, see

RUNTIMES = ("podman", "docker")
KEEPER = Path(__file__).parent / "keeper.py"
IMAGE = "harnessmark-empty:1"
EMPTY_TAR = b"\0" * 10240
PROBE_SECONDS = 60.0
PROCESSES = 4000
AGENT = 1000
ADDED = ("HOSTNAME", "TERM", "container", "HOME", "PATH", "PWD")
"""Variables that runtimes add."""


@dataclass(frozen=True)
class Runtime:
    """A container runtime that can be used here, or why not."""

    program: Path | None
    works: bool
    reason: str

    @property
    def name(self) -> str:
        """``docker`` or ``podman``."""
        return "" if self.program is None else self.program.name


def container_command(
    runtime: Runtime,
    sight: Sight,
    environment: Mapping[str, str],
    *,
    working_directory: Path,
    socket: Path | None,
) -> tuple[str, ...]:
    """The words before the command that is to run in a container without network.

    The image is empty: system and tools are this machine's, read-only, as in the sandbox. Values of
    variables travel in the client's environment, not in the command line, except those that the client
    itself needs to have its own value of.
    """
    name = f"harnessmark-{uuid.uuid4().hex}"
    program = str(runtime.program)
    arguments = [sys.executable, "-I", "-S", str(KEEPER), program, name, "--"]
    arguments += [program, "run", "--rm", "--interactive", "--name", name, "--network", "none", "--read-only"]
    arguments += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--hostname", "sandbox"]
    arguments += ["--security-opt", "label=disable", "--pull", "never", "--log-driver", "none"]
    arguments += [*_user(runtime), *_limits()]
    for folder in ("/tmp", "/var/tmp", "/run", "/dev/shm"):  # noqa: S108 - they are private ones
        arguments += ["--tmpfs", f"{folder}:rw,nosuid,nodev,exec,mode=1777,size={SCRATCH_BYTES}"]
    for path in sight.read_only:
        arguments += _mount(path, path, writable=False)
    for target, place in sight.links:
        arguments += _mount(Path("/") / target, place, writable=False)
    for path in sight.blanked:
        arguments += _mount(Path(os.devnull), path, writable=False)
    for path in sight.emptied:
        arguments += ["--tmpfs", f"{path}:ro,size=4096"]
    for account in ("passwd", "group"):
        arguments += _mount(ACCOUNTS / account, Path("/etc") / account, writable=False)
    arguments += _mount(ATTENDANT, INSIDE_ATTENDANT, writable=False)
    if socket is not None:
        arguments += _mount(socket, INSIDE_SOCKET, writable=False)
    for path in sight.writable:
        arguments += _mount(path, path, writable=True)
    for variable, value in environment.items():
        inline = variable in os.environ or variable in ADDED
        arguments += ["--env", f"{variable}={value}" if inline else variable]
    return (*arguments, "--workdir", str(working_directory), "--entrypoint", "", IMAGE)


def client_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The client's environment: its own, and what is to be handed into the container."""
    return {**environment, **os.environ}


def hand_over(folders: Iterable[Path]) -> None:
    """Give the agent's folders to the agent's user id, where we are root and it is not."""
    if os.geteuid() != 0:
        return
    for folder in folders:
        for parent, names, files in os.walk(folder):
            for path in (Path(parent), *(Path(parent) / name for name in (*names, *files))):
                os.chown(path, AGENT, AGENT, follow_symlinks=False)


@functools.cache
def probe_container() -> Runtime:
    """Find docker or podman and really run a program in an empty container, once per runner."""
    last = Runtime(None, False, "neither docker nor podman is installed")
    for name in RUNTIMES:
        found = shutil.which(name)
        if found is not None:
            last = try_runtime(Path(found))
            if last.works:
                return last
    return last


def try_runtime(program: Path) -> Runtime:
    """Make the empty image where it is missing and run a program in it."""
    runtime = Runtime(program, True, "")
    sight = see(writable=(), readable=(), environment={})
    command = container_command(runtime, sight, {}, working_directory=Path("/"), socket=None)
    try:
        if _ask([str(program), "image", "inspect", IMAGE]).returncode != 0:
            made = _ask([str(program), "import", "-", IMAGE], EMPTY_TAR)
            if made.returncode != 0:
                return Runtime(program, False, _last_words(made))
        tried = _ask([*command, "/bin/sh", "-c", "exit 7"])
    except (OSError, subprocess.TimeoutExpired) as error:
        return Runtime(program, False, str(error))
    return runtime if tried.returncode == 7 else Runtime(program, False, _last_words(tried))


def _user(runtime: Runtime) -> list[str]:
    if os.geteuid() == 0:
        return ["--user", f"{AGENT}:{AGENT}"]
    mine = ["--user", f"{os.geteuid()}:{os.getegid()}"]
    return [*mine, "--userns", "keep-id"] if runtime.name == "podman" else mine


def _limits() -> list[str]:
    """The runner's own limits at most: a runtime's defaults may be higher than the machine allows."""
    parts = ["--pids-limit", str(PROCESSES)]
    for name, number, most in (
        ("nofile", resource.RLIMIT_NOFILE, 65536),
        ("nproc", resource.RLIMIT_NPROC, 4 * PROCESSES),
    ):
        hard = resource.getrlimit(number)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(hard, most)
        parts += ["--ulimit", f"{name}={limit}:{limit}"]
    return parts


def _mount(source: Path, target: Path, *, writable: bool) -> list[str]:
    return ["--mount", f"type=bind,source={source},target={target}" + ("" if writable else ",readonly")]


def _ask(command: list[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, capture_output=True, check=False, timeout=PROBE_SECONDS, input=data)


def _last_words(ended: subprocess.CompletedProcess[bytes]) -> str:
    text = ended.stderr.decode("utf-8", "replace").strip()
    return text[-500:] or f"exit code {ended.returncode}"
