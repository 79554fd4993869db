"""Contract: what makes a suite of other people's cases usable here, and how one is found by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, cast

from runner.endpoint.suites.case import Case
from runner.endpoint.suites.catalogue import require_unique_cases
from runner.errors import ConfigurationError, UsageError
from runner.registry import made_by_name

EXTERNAL_SUITES: Mapping[str, str] = {"ifeval": "runner.endpoint.suites.external.ifeval:IfEval"}
"""Import path by name. Another suite is one more line here, or its import path on the command line."""


@dataclass(frozen=True)
class ExternalOptions:
    """How a suite is loaded.

    Args:
        data: the file that its cases come from.
        limit: no more than so many cases, counted after ``offset`` and after the unsupported ones are gone.
        mode: whether an answer must keep the instructions as it stands, or may after small clean-ups.
        unsupported: what becomes of a case that this suite has no rule for.
    """

    data: Path
    limit: int | None = None
    offset: int = 0
    mode: Literal["strict", "loose"] = "strict"
    unsupported: Literal["skip", "error"] = "skip"
    max_output_tokens: int = 2048


@dataclass(frozen=True)
class ExternalLoad:
    """The cases, and why each of those that were left out was."""

    cases: tuple[Case, ...]
    left_out: tuple[str, ...] = ()


class ExternalSuite(Protocol):
    """A suite. ``name`` is what a user calls it, ``title`` what pages do."""

    name: str
    title: str

    def load(self, options: ExternalOptions) -> ExternalLoad:
        """The cases of the file.

        Raises:
            ConfigurationError: the file cannot be read or is not what it should be; with the line.
        """
        ...


def external_suite(name: str) -> ExternalSuite:
    """The suite called ``name``, or the one at the import path ``package.module:Name``.

    Raises:
        UsageError: no such name.
        ConfigurationError: it cannot be loaded, or is no suite.
    """
    return cast(
        ExternalSuite, made_by_name("external suite", name, EXTERNAL_SUITES, ("name", "title", "load"))
    )


def load_external(name: str, options: ExternalOptions) -> ExternalLoad:
    """The cases of an external suite, checked.

    Raises:
        UsageError: no such suite, impossible options, no cases left, or two of the same id.
        ConfigurationError: the file is not what it should be.
    """
    if options.offset < 0 or (options.limit is not None and options.limit < 1):
        raise UsageError("an external suite needs a limit of at least 1 and an offset of at least 0")
    loaded = external_suite(name).load(options)
    if not all(isinstance(case, Case) for case in loaded.cases):
        raise ConfigurationError(f"the external suite {name!r} gives something that is no case")
    require_unique_cases(loaded.cases)
    return loaded
