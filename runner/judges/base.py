"""Judge: what every judge module declares and does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Cost, DataWarning, Limits, Usage

AGENTIC, DIRECT = "agentic", "direct"


@dataclass(frozen=True)
class Question:
    """One question to a judge, and what there is to answer it with."""

    prompt: str
    schema: Mapping[str, object]
    """What the answer has to follow."""
    endpoint: Endpoint
    home: Path
    """Empty private folder, for this question alone."""
    workspace: Path | None = None
    """Checkout that the judge may read; None where there is none."""
    effort: str | None = None
    limits: Limits = field(default_factory=Limits)
    installed: Path = Path(".harnesses")
    confined: bool = True
    """Whether the judge's program is kept from this machine from outside; else it has to see to it itself."""


@dataclass(frozen=True)
class Reply:
    """What came of a question. Unknown is None."""

    answer: str | None
    """The judge's last word; None where it gave none."""
    usage: Usage | None = None
    costs: tuple[Cost, ...] = ()
    files_read: tuple[str, ...] = ()
    """Files below the workspace of which it is shown that their content was read."""
    cut: str | None = None
    """Why the answer ended early, where it did."""
    error: str | None = None
    """Why there is no answer to go by: the judge failed, which says nothing about the trial."""
    requests_seen: int | None = None
    stream: Path | None = None
    """Raw output of the judge's program."""
    warnings: tuple[DataWarning, ...] = ()


Start = Callable[[Launch, Path], str | None]
"""Runs a program to its end, isolated, with its output in a file; why it had to be stopped, or None."""


class Judge(Protocol):
    """Somebody who scores trials. One module, one registry line, one contract test."""

    @property
    def name(self) -> str:
        """As in records and file names."""

    @property
    def title(self) -> str:
        """As on pages."""

    @property
    def method(self) -> str:
        """``agentic`` for one that reads the repository, ``direct`` for one that is told everything."""

    @property
    def protocols(self) -> tuple[WireProtocol, ...]:
        """What it can speak to a model, the best first."""

    @property
    def demonstration(self) -> bool:
        """Whether its answers are scripted, so that they may stand beside demonstrations only."""

    def version(self, installed: Path) -> str:
        """Version of the judge's program or of its way to ask.

        Raises:
            ConfigurationError: it is not installed; the remedy says how to install it.
        """

    def ask(self, question: Question, start: Start) -> Reply:
        """Ask once. A judge that fails or is stopped is a reply with an error, never an exception.

        Args:
            question: what to answer.
            start: runs the judge's program; one that has none does not use it.
        """

    def left_behind(self, question: Question) -> Reply:
        """What a judge that was killed while at work on ``question`` had used, as far as it can be told."""
