"""Harness: what every coding agent module declares and does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation
from runner.records import CacheSemantics, Cost, DataWarning, Limits, Usage


@dataclass(frozen=True)
class Assignment:
    """One start of a harness: what to do, where, with which model, within which limits."""

    prompt: str
    workspace: Path
    """The sealed checkout; the harness starts here and may change everything below."""
    artifacts: Path
    """Absolute folder for the artifacts of the skill."""
    home: Path
    """Empty private folder for configuration; the user's own is never read."""
    endpoint: Endpoint
    limits: Limits
    installed: Path = Path(".harnesses")
    """Where ``invoke harness-install`` puts programs."""


@dataclass(frozen=True)
class Launch:
    """A child process to start. Secrets travel in ``environment`` only."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    working_directory: Path
    stdin: bytes = b""
    readable: tuple[Path, ...] = ()
    """Folders of programs that a sandbox must let the child see."""
    configuration: tuple[Path, ...] = ()
    """Files below ``home`` that were written for this start; their digest is recorded."""
    network: bool = False
    """It reaches a cloud by itself, so an isolation must leave the network open; the trial says so."""
    keep_stderr: bool = False
    """What it prints on standard error is read too, and goes into the file ``stderr_beside(stdout)``."""


def stderr_beside(stdout: Path) -> Path:
    """Where the standard error of a launch that keeps it stands, beside the file of its standard output."""
    return stdout.with_name(f"{stdout.name}.stderr")


@dataclass(frozen=True)
class Reading:
    """What a harness said about its run. Unknown is None."""

    stop_reason: str
    is_error: bool
    error: str | None = None
    usage: Usage | None = None
    turns: int | None = None
    retries: int | None = None
    costs: tuple[Cost, ...] = ()
    limit_hit: str | None = None
    """Name of the limit that stopped the agent (``turns``, ``tokens``, ``cost``, ``time``), if one did."""
    warnings: tuple[DataWarning, ...] = ()
    """What a reader must know before using these numbers, such as that a sum is a lower bound."""
    usage_by_model: Mapping[str, Usage] = field(default_factory=dict)
    """By model id where the harness tells, subagents included."""


@runtime_checkable
class ReportsDollars(Protocol):
    """A harness whose own report holds dollars for some hosting paths, where no price need be given."""

    reports_dollars_at: tuple[str, ...]
    """Names of the providers."""


class Harness(Protocol):
    """A coding agent. One module, one registry line, one contract test."""

    name: str
    title: str
    homepage: str | None
    protocols: tuple[WireProtocol, ...]
    cache_semantics: CacheSemantics
    turns_definition: str
    installation: Installation | None
    """How the program is installed; None for one that comes with Harnessmark."""
    delegates: bool
    """Whether it can start subagents of its own."""
    memory_mb: int
    """Most memory it was seen to take, in megabytes (10^6 bytes), all its processes together."""
    notes: tuple[str, ...]
    """What a user should know of how it is driven and read, a sentence or two each; on its set-up page."""

    def version(self, installed: Path) -> str:
        """Version of the program below ``installed``, as the program itself says it.

        Raises:
            ConfigurationError: it is not installed; the remedy says how to install it.
        """

    def launch(self, assignment: Assignment) -> Launch:
        """The child process for ``assignment``. May write configuration below ``assignment.home``.

        Raises:
            ConfigurationError: its program is not installed.
        """

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the output in ``stdout``, and what the harness left below ``assignment.home``, says.

        Never raises on broken or cut output: returns what is there. A killed run still yields the usage
        that its transcript holds.
        """

    def trace(self, line: str) -> str | None:
        """One line of output as a short line for a reader, or None where it tells nothing worth a line."""
