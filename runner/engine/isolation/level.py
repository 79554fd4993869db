"""Isolation: a level, how a gateway listens at it, and how a launch or a check is put inside."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from runner.datasets import minimal_environment
from runner.engine.isolation.bubblewrap import (
    ATTENDANT,
    INSIDE_ATTENDANT,
    INSIDE_SOCKET,
    Probe,
    bubblewrap_command,
)
from runner.engine.isolation.container import (
    ADDED,
    Runtime,
    client_environment,
    container_command,
    hand_over,
)
from runner.engine.isolation.gateway import Gateway
from runner.engine.isolation.sight import see
from runner.engine.isolation.wrapped import WrappedLaunch
from runner.errors import ConfigurationError
from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint

CheckWrap = Callable[[Sequence[str], Path, Path], Sequence[str]]
"""From the command of a check, its workspace and its home to the command that runs it isolated."""


class IsolationLevel(StrEnum):
    """How far an agent is kept from the machine it runs on; weakest first."""

    NONE = "none"
    SANDBOX = "sandbox"
    CONTAINER = "container"


class Isolation(Protocol):
    """One level, ready to use."""

    @property
    def level(self) -> IsolationLevel:
        """Its name."""

    @property
    def remark(self) -> str:
        """Why it is not a stronger one, one sentence; empty where there is nothing to say."""

    def gateway(self, endpoint: Endpoint) -> Gateway:
        """A gateway that an agent at this level can reach; a context manager."""

    def wrap(
        self, launch: Launch, *, workspace: Path, artifacts: Path, home: Path, gateway: Gateway | None
    ) -> Launch:
        """``launch`` inside: only the three folders can be changed, only the gateway can be reached.

        Raises:
            ConfigurationError: the launch needs a network of its own, and this level has none to give.
        """

    def check_wrap(self) -> CheckWrap | None:
        """How a check of untrusted code is put inside, without any network; None: not at all."""


@dataclass(frozen=True)
class Unconfined:
    """Level ``none``: the agent sees the machine as the runner does, but leaves no process behind."""

    remark: str = ""
    level: IsolationLevel = IsolationLevel.NONE

    def gateway(self, endpoint: Endpoint) -> Gateway:
        """A gateway on this machine's loopback."""
        return Gateway(endpoint, on_socket=False)

    def wrap(
        self,
        launch: Launch,
        *,
        workspace: Path,  # noqa: ARG002 - part of the seam
        artifacts: Path,  # noqa: ARG002
        home: Path,  # noqa: ARG002
        gateway: Gateway | None,  # noqa: ARG002
    ) -> Launch:
        """``launch`` below a process that ends everything it started."""
        if not sys.platform.startswith("linux"):
            return launch
        words = (sys.executable, "-I", "-S", str(ATTENDANT), "-", "-", "-", str(os.getpid()), "--")
        return _with_command(launch, (*words, *launch.command))

    def check_wrap(self) -> CheckWrap | None:
        """Checks run as they are."""
        return None


@dataclass(frozen=True)
class Sandbox:
    """Level ``sandbox``: bubblewrap.

    Args:
        probe: a bubblewrap that works.
        private: folders that stay empty inside whatever else is visible: results, datasets, caches.
    """

    probe: Probe
    private: tuple[Path, ...] = ()
    remark: str = ""
    level: IsolationLevel = field(default=IsolationLevel.SANDBOX)

    def gateway(self, endpoint: Endpoint) -> Gateway:
        """A gateway on a unix socket: there is no network inside."""
        return Gateway(endpoint, on_socket=True)

    def wrap(
        self, launch: Launch, *, workspace: Path, artifacts: Path, home: Path, gateway: Gateway | None
    ) -> Launch:
        """``launch`` in a sandbox whose loopback leads to ``gateway``, or with this machine's network."""
        sight = see(
            writable=(workspace, artifacts, home),
            readable=launch.readable,
            environment=launch.environment,
            private=self.private,
            network=launch.network,
        )
        socket = None if gateway is None else gateway.socket_path
        outside = bubblewrap_command(
            self.probe,
            sight,
            working_directory=launch.working_directory.resolve(),
            socket=socket,
            network=launch.network,
        )
        added = () if "PWD" in launch.environment else ("PWD",)
        inside = attended(launch, gateway if socket is not None else None, added=added)
        return _with_command(launch, (*outside, *inside))

    def check_wrap(self) -> CheckWrap | None:
        """Checks run in a sandbox of their own, without a gateway."""

        def wrap(command: Sequence[str], workspace: Path, home: Path) -> Sequence[str]:
            """The command of a check, inside a sandbox."""
            sight = see(writable=(workspace, home), readable=(), environment=os.environ, private=self.private)
            outside = bubblewrap_command(
                self.probe, sight, working_directory=workspace.resolve(), socket=None
            )
            return (*outside, *command)

        return wrap


@dataclass(frozen=True)
class Container:
    """Level ``container``: docker or podman with an empty image; the same sight as in the sandbox."""

    runtime: Runtime
    private: tuple[Path, ...] = ()
    remark: str = ""
    level: IsolationLevel = field(default=IsolationLevel.CONTAINER)

    def gateway(self, endpoint: Endpoint) -> Gateway:
        """A gateway on a unix socket: there is no network inside."""
        return Gateway(endpoint, on_socket=True)

    def wrap(
        self, launch: Launch, *, workspace: Path, artifacts: Path, home: Path, gateway: Gateway | None
    ) -> Launch:
        """``launch`` in a container whose loopback leads to ``gateway``.

        Raises:
            ConfigurationError: it needs a network of its own.
        """
        if launch.network:
            raise no_network(self.level)
        sight = see(
            writable=(workspace, artifacts, home),
            readable=launch.readable,
            environment=launch.environment,
            private=self.private,
        )
        hand_over(sight.writable)
        socket = None if gateway is None else gateway.socket_path
        outside = container_command(
            self.runtime,
            sight,
            launch.environment,
            working_directory=launch.working_directory.resolve(),
            socket=socket,
        )
        added = tuple(name for name in ADDED if name not in launch.environment)
        inside = attended(launch, gateway if socket is not None else None, added=added, keeper="first")
        return replace(
            _with_command(launch, (*outside, *inside)), environment=client_environment(launch.environment)
        )

    def check_wrap(self) -> CheckWrap | None:
        """Checks run in a container of their own, without a gateway."""

        def wrap(command: Sequence[str], workspace: Path, home: Path) -> Sequence[str]:
            """The command of a check, inside a container that may write its two folders."""
            sight = see(writable=(workspace, home), readable=(), environment=os.environ, private=self.private)
            hand_over(sight.writable)
            outside = container_command(
                self.runtime,
                sight,
                minimal_environment(home),
                working_directory=workspace.resolve(),
                socket=None,
            )
            return (*outside, *command)

        return wrap


def attended(
    launch: Launch, gateway: Gateway | None, *, added: Sequence[str], keeper: str = "-"
) -> tuple[str, ...]:
    """The command that runs inside: the attendant, then the agent."""
    where = ("-", "-") if gateway is None else (str(INSIDE_SOCKET), str(gateway.port))
    words = (sys.executable, "-I", "-S", str(INSIDE_ATTENDANT), *where, ",".join(added) or "-", keeper, "--")
    return (*words, *launch.command)


def no_network(level: IsolationLevel) -> ConfigurationError:
    """Why an agent that reaches its cloud by itself cannot be run at ``level``."""
    return ConfigurationError(
        f"an agent that reaches its vendor's cloud by itself has no way out of level {level}",
        remedy="use --isolation sandbox, which keeps files hidden and leaves the network open for it",
    )


def _with_command(launch: Launch, command: tuple[str, ...]) -> WrappedLaunch:
    return WrappedLaunch(
        command=command,
        environment=launch.environment,
        working_directory=launch.working_directory,
        stdin=launch.stdin,
        readable=launch.readable,
        configuration=launch.configuration,
        network=launch.network,
        keep_stderr=launch.keep_stderr,
    )
