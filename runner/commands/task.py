"""Task: a function as an invoke task, whose failures are explained and whose result is its exit code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from invoke import Context, Exit

from runner.errors import HarnessmarkError

if TYPE_CHECKING:
    from rich.console import Console

    from runner.engine.places import Places

OWN_FAULT = 4
ROOT = "root"
"""Key of the invoke configuration under which ``tasks.py`` says where the project stands."""


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """An invoke task whose return value is its exit code and whose failures are explained, not traced."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **flags: Any) -> None:
        sys.excepthook = own_fault
        try:
            code = function(*arguments, **flags)
        except HarnessmarkError as error:
            raise Exit(error.message(), code=error.exit_code) from None
        if code:
            raise Exit(code=code)

    return wrapped


def own_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A failure that nobody foresaw: show it in full and leave with the code for our own faults."""
    sys.__excepthook__(kind, error, trace)
    sys.exit(OWN_FAULT)


def places(context: Context) -> Places:
    """The folders of the project whose ``tasks.py`` was loaded."""
    from runner.engine.places import Places

    return Places(Path(context.config[ROOT]))


def console() -> Console:
    """The terminal, for tables and progress."""
    from rich.console import Console

    return Console()


def say(line: str) -> None:
    """Write one line to standard output at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
