"""Background: a server program in a process group of its own: started, found again by its file, stopped.

A process is known by its number, the moment it started and the boot it belongs to, never by its name: a
number that another program got later is not touched.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from runner.errors import ConfigurationError, EndpointError
from runner.process_stat import ENDED, GROUP, PROC, STARTED, STATE, stat_fields
from runner.records import Part

LOOK_SECONDS = 0.1
TAIL_LINES = 15
TAIL_BYTES = 8192
LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
LOG_MODE = 0o600


class ServerFile(Part):
    """What is on disk about a server that was started. It holds no secret."""

    pid: int
    """Also the number of its process group."""
    mark: str
    """Tells the process from a later one with the same number."""
    what: str
    """What it serves, for people."""
    key: str
    """What tells this server from one that was started in another way."""
    base_url: str
    log: str
    stays: bool = False
    """Whether it was started to be left up, not for one run."""
    owner: int | None = None
    """The process that it ends with; None where it is not bound to one."""
    owner_mark: str = ""
    """Tells the owner from a later process with its number."""

    @property
    def is_in_use(self) -> bool:
        """Whether the process that it was started for is still there."""
        return self.owner is not None and process_mark(self.owner) == self.owner_mark


def process_mark(pid: int) -> str | None:
    """What tells process ``pid`` from others that had or will have the number; None: it has ended."""
    if not _has_proc():
        return _mark_without_proc(pid)
    fields = stat_fields(pid)
    return None if fields is None or fields[STATE] in ENDED else f"{_boot()}:{int(fields[STARTED])}"


def _has_proc() -> bool:
    return (PROC / "self").exists()


def _boot() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _mark_without_proc(pid: int) -> str | None:
    """As the system's own list of processes tells the moment of the start."""
    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, check=False)
    return done.stdout.decode(errors="replace").strip() or None


def read_server_file(path: Path) -> ServerFile | None:
    """What ``path`` says, or None where there is no such file or it is not one of these."""
    try:
        return ServerFile.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def is_up(server: ServerFile) -> bool:
    """Whether the very process that was started is still there."""
    return process_mark(server.pid) == server.mark


def launch_bound(
    command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path
) -> subprocess.Popen[bytes]:
    """Start a server that is to end with this process: its standard input is a pipe that closes then.

    It gets a process group of its own; its output goes to ``log``, which only the user can read.

    Raises:
        ConfigurationError: it does not start.
    """
    descriptor = os.open(log, LOG_FLAGS | os.O_CLOEXEC, LOG_MODE)
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=descriptor,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        raise _does_not_start(command, error) from None
    finally:
        os.close(descriptor)


def launch_free(command: Sequence[str], *, environment: Mapping[str, str], log: Path) -> int:
    """Start a server that may outlive this process; its number, which is also that of its process group.

    Raises:
        ConfigurationError: it does not start.
    """
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), LOG_FLAGS, LOG_MODE),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    try:
        return os.posix_spawn(command[0], list(command), dict(environment), file_actions=actions, setsid=True)
    except OSError as error:
        raise _does_not_start(command, error) from None


def _does_not_start(command: Sequence[str], error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"the program does not start: {error.strerror}", where=command[0], remedy="install it again"
    )


def write_server_file(path: Path, server: ServerFile) -> None:
    """Put ``server`` on disk at once and whole."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(server.model_dump_json(indent=2) + "\n", encoding="utf-8")
    partial.replace(path)


def wait_until(
    ready: Callable[[], bool],
    server: ServerFile,
    *,
    seconds: float,
    say: Callable[[str], None],
    every: float,
) -> None:
    """Wait until ``ready``, with a line each ``every`` seconds that ends with the newest line of the log.

    Raises:
        EndpointError: the server ended before, or took too long; the end of its log is in the message.
    """
    begun = spoke = time.monotonic()
    while not ready():
        now = time.monotonic()
        if not is_up(server):
            raise EndpointError(
                f"the server of {server.what} ended {now - begun:.0f} s after its start:\n{tail(server.log)}",
                where=server.log,
                remedy="the end of its log above says why",
            )
        if now - begun > seconds:
            raise EndpointError(
                f"the server of {server.what} was not ready within {seconds:.0f} s:\n{tail(server.log)}",
                where=server.log,
                remedy="allow it more time, or see the end of its log above",
            )
        if now - spoke >= every:
            spoke = now
            newest = tail(server.log, 1).strip()[:160]
            say(f"{server.what}: starting for {now - begun:.0f} s. {newest}".rstrip())
        time.sleep(LOOK_SECONDS)


def stop(server: ServerFile, *, grace_seconds: float) -> bool:
    """End the server and all of its group: politely, then by force; whether there was anything to end.

    A group whose first process has ended is ended as well, because the rest may hold a machine's memory.
    """
    mark = process_mark(server.pid)
    if mark != server.mark and (mark is not None or not server.mark.startswith(f"{_boot()}:")):
        return False
    if not _group_is_there(server.pid):
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, number)
        deadline = time.monotonic() + grace_seconds
        while _group_is_there(server.pid) and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS / 2)
    return True


def tail(log: str, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, printable, each after four spaces."""
    try:
        with Path(log).open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = stream.read().decode(errors="replace")
    except OSError:
        return "    (there is no log)"
    printable = ("".join(each for each in line if each.isprintable()) for line in text.splitlines())
    return "\n".join(f"    {line[:300]}" for line in [line for line in printable if line.strip()][-lines:])


def _group_is_there(group: int) -> bool:
    """Whether any process of the group is still at work."""
    with contextlib.suppress(ChildProcessError):
        # One of our own children is there until it is asked for its end.
        os.waitpid(group, os.WNOHANG)
    if _has_proc():
        found = (stat_fields(each.name) for each in PROC.iterdir() if each.name.isdigit())
        return any(
            each[STATE] not in ENDED and int(each[GROUP]) == group for each in found if each is not None
        )
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
