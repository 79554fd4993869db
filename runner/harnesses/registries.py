"""Registries: fetches one pinned package with pip or npm into a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import ConfigurationError
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.interpreters import interpreter
from runner.harnesses.npm_lock import departures, lay_out, lock_of
from runner.harnesses.programs import NPM_SCRIPT, RUNTIMES, runtime_program
from runner.harnesses.python_program import finish, pip_options

FETCH_SECONDS = 1800.0
SHOWN_OUTPUT = 1500


def _own_pip() -> tuple[str, ...]:
    return (sys.executable, "-m", "pip")


@dataclass(frozen=True)
class Registries:
    """The clients of the package registries, with the user's own settings for them (mirrors, proxies).

    npm comes with the pinned Node, so that no Node need be on the machine. Install scripts of packages are
    never run: every program in use ships its binaries inside its packages. A program gets every package it
    needs at the version of its list of constraints (Python) or of its lock (npm, with digests), where it has
    one; each program of the project has.
    """

    pip: tuple[str, ...] = field(default_factory=_own_pip)
    npm: Callable[[Path], tuple[str, ...]] = field(default=lambda installed: _node_npm(installed))
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def fetch(self, installation: Installation, folder: Path, installed: Path) -> None:
        """Put the package of ``installation`` into ``folder``.

        Raises:
            ConfigurationError: the client is missing or failed; its last words are in the message. Or the
                Python that the program needs is not on this machine.
        """
        if installation.source is Source.NPM:
            self._fetch_npm_program(installation, folder, installed)
        elif installation.runtime is Runtime.PYTHON:
            self._fetch_python_program(installation, folder)
        else:
            exact = f"{installation.package}=={installation.version}"
            options = ("--no-deps", "--only-binary=:all:", "--no-compile", "--no-input")
            self._run((*self.pip, "install", *options, "--target", str(folder), exact), exact)

    def _fetch_npm_program(self, installation: Installation, folder: Path, installed: Path) -> None:
        lock, exact = lock_of(installation), f"{installation.package}@{installation.version}"
        # Settings of the user's may say that locks are to be ignored.
        options = ("--ignore-scripts", "--package-lock", "--no-audit", "--no-fund", "--no-update-notifier")
        command = (*self.npm(installed), "install", *options, "--prefix", str(folder))
        if lock is None:
            self._run((*command, *installation.beside, exact), exact)
            return
        lay_out(installation, lock, folder)
        self._run(command, exact)
        if others := departures(lock, folder):
            raise ConfigurationError(
                f"{exact} came with other packages than were locked: {', '.join(others[:5])}",
                remedy="see that the registry in your settings is the one you trust, then try again",
            )

    def _fetch_python_program(self, installation: Installation, folder: Path) -> None:
        """Packages are chosen for the interpreter that will run them, also where pip runs on another."""
        chosen = interpreter(installation.python, self.environment.get("PATH", ""))
        command = (*self.pip, "--python", str(chosen), "install", *pip_options(installation, folder))
        self._run(command, f"{installation.package}=={installation.version}")
        finish(installation, folder, chosen)

    def _run(self, command: Sequence[str], exact: str) -> None:
        remedy = "check the network and the registry settings, then run the command again"
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=FETCH_SECONDS,
                env=dict(self.environment),
                check=False,
            )
        except OSError as error:
            raise ConfigurationError(
                f"{exact} cannot be fetched: {command[0]} does not start: {error.strerror}", remedy=remedy
            ) from None
        except subprocess.TimeoutExpired:
            raise ConfigurationError(
                f"fetching {exact} took more than {FETCH_SECONDS:.0f} s", remedy=remedy
            ) from None
        if done.returncode != 0:
            said = done.stdout.decode(errors="replace").strip()[-SHOWN_OUTPUT:]
            if "No module named pip" in said:
                remedy = f"give this Python its pip: {sys.executable} -m ensurepip"
            raise ConfigurationError(f"{exact} cannot be fetched:\n{said}", remedy=remedy)


def _node_npm(installed: Path) -> tuple[str, ...]:
    folder = RUNTIMES[Runtime.NODE].folder(installed, Runtime.NODE.value)
    return (
        str(runtime_program(Runtime.NODE, installed).absolute()),
        str(folder.joinpath(*NPM_SCRIPT.split("/")).absolute()),
    )
