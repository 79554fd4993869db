"""Slips: what is said of a command or a flag that does not exist, with the nearest that does."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import NoReturn

from invoke.exceptions import ParseError
from invoke.parser.argument import Argument
from invoke.parser.parser import ParseMachine

from runner.errors import UsageError

UNKNOWN = re.compile(r"No idea what (?P<quote>['\"])(?P<word>.*)(?P=quote) is!", re.DOTALL)
MOST = 3
"""Names that are offered."""
NEAR = 0.75
"""Share of letters that two names have in common."""


def explain_slips() -> None:
    """Let the parser of the command line say what it does not know, where, and what may have been meant.

    Its own words for all of that are ``No idea what '--modle' is!``. It offers no place to put others, so
    that the method which raises them is replaced; the exit code stays as it is.
    """
    ParseMachine.error = _error  # type: ignore[method-assign, assignment]


def _error(machine: ParseMachine, words: str) -> NoReturn:
    raise ParseError(explained(machine, words).message(), machine.context)


def explained(machine: ParseMachine, words: str) -> UsageError:
    """What the parser found, as a mistake that its user can mend.

    Args:
        machine: the parser where it stopped.
        words: what it says of it.
    """
    command = machine.context.name if machine.context else None
    where = f"invoke {command}" if command else "invoke"
    help_of = f"invoke --help {command} lists its flags" if command else "invoke --list shows every command"
    unknown = UNKNOWN.fullmatch(words)
    if unknown is None:
        flag: Argument | None = getattr(machine, "flag", None)
        if flag is not None and flag.takes_value and flag.raw_value is None:
            name = f"--{(flag.name or '').replace('_', '-')}"
            return UsageError(f"{name} needs a value", where=where, remedy=f"write {name}=VALUE")
        return UsageError(words, where=where, remedy=help_of)
    word = unknown["word"]
    commands = [name for name in machine.contexts if isinstance(name, str)]
    if word.startswith("-"):
        known = [*machine.context.flags, *machine.context.inverse_flags] if machine.context else []
        what = f"there is no flag {word}{meant(word, known)}"
    elif command is None:
        what = f"there is no command {word}{meant(word, commands)}"
    else:
        what = f"{command} takes no {word!r}, and no command is called so{meant(word, commands)}"
    return UsageError(what, where=where, remedy=help_of)


def meant(word: str, known: Iterable[str]) -> str:
    """``; did you mean ...?`` with the names that are near, or nothing."""
    near = difflib.get_close_matches(word, sorted(known), n=MOST, cutoff=NEAR)
    return f"; did you mean {' or '.join(near)}?" if near else ""
