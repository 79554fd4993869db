"""Task: a function as an invoke task, whose failures are explained and whose result is its exit code."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from invoke import Context, Exit

from runner.errors import HarnessmarkError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from runner.engine.places import Places

OWN_FAULT = 4
TEST_PACKAGES = ("pytest", "hypothesis", "playwright")
HELP = {"--help", "-h"}
"""What a command with arguments by position takes for the first of them."""
ROOT = "root"
"""Key of the invoke configuration under which ``tasks.py`` says where the project stands."""


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """An invoke task whose return value is its exit code and whose failures are explained, not traced."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **flags: Any) -> None:
        """Call the function; its code, or a fault that was foreseen, ends the program."""
        sys.excepthook = own_fault
        if HELP & {value for value in (*arguments, *flags.values()) if isinstance(value, str)}:
            raise Exit(f"its help: invoke --help {function.__name__.replace('_', '-')}", code=1)
        try:
            code = function(*arguments, **flags)
        except HarnessmarkError as error:
            raise Exit(error.message(), code=error.exit_code) from None
        if code:
            raise Exit(code=code)

    return wrapped


def require_test_packages(what: str) -> None:
    """Refuse to go on without what only the tests need, which an installed project does not bring.

    Raises:
        UsageError: a package is missing.
    """
    missing = [name for name in TEST_PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"{what} needs packages that are not installed: {', '.join(missing)}",
            remedy="python3 start.py test, with the flags of invoke test, installs them first",
        )


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

    class Terminal(Console):
        """A console that goes on where its reader does not."""

        def on_broken_pipe(self) -> None:
            """Let the rest of the output go nowhere."""
            reader_gone()

    return Terminal()


def say(line: str) -> None:
    """Write one line to standard output at once."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        reader_gone()


def reader_gone() -> None:
    """Whoever read the output, such as ``head``, is gone: what is at work goes on, what it says is lost."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
