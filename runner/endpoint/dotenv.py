"""Dotenv: variables from a ``.env`` file; what the process itself was started with always wins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from runner.errors import ConfigurationError

MAX_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"""(?P<quote>['"])(?P<value>.*)(?P=quote)[ \t]*(?:#.*)?""")
_COMMENT = re.compile(r"[ \t]#.*$")


def environment_with(path: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """``environment``, and the variables of the file at ``path`` that it does not have.

    A file that does not exist adds nothing.

    Raises:
        ConfigurationError: the file cannot be read, or has lines that are no variables; all are named, no
            value is shown.
    """
    return {**read_dotenv(path), **environment} if path.is_file() else dict(environment)


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of the file at ``path``: ``NAME=value`` lines, ``export`` before them allowed.

    Values may stand in quotes. Nothing in them is expanded and no escape is read, so that a key is what it
    looks like. Of a name given twice the last value holds.

    Raises:
        ConfigurationError: see ``environment_with``.
    """
    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES + 1).decode("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(
            f"the file of variables cannot be read: {error.strerror}",
            where=str(path),
            remedy="check its rights",
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError("the file of variables is no UTF-8", where=str(path)) from None
    if len(text) > MAX_BYTES:
        raise ConfigurationError("the file of variables is far too long", where=str(path))
    found: dict[str, str] = {}
    faults = []
    for number, line in enumerate(text.split("\n"), 1):
        fault = _take(line.strip().removesuffix("\r"), found)
        if fault:
            faults.append(f"  line {number}: {fault}")
    if faults:
        raise ConfigurationError(
            f"{len(faults)} faults in the file of variables:\n" + "\n".join(faults),
            where=str(path),
            remedy="write one NAME=value on a line",
        )
    return found


def _take(line: str, found: dict[str, str]) -> str:
    """Add the variable on ``line``; what is wrong with it otherwise, without its value."""
    if not line or line.startswith("#"):
        return ""
    if re.match(r"export[ \t]", line):
        line = line[len("export") :].lstrip()
    name, equals, value = line.partition("=")
    name = name.rstrip()
    if not equals:
        return "has no ="
    if _NAME.fullmatch(name) is None:
        return "what stands before = is no name of a variable"
    value = value.strip()
    quoted = _QUOTED.fullmatch(value)
    if quoted is None and value[:1] in {"'", '"'}:
        return f"the quote of {name} is not closed"
    found[name] = quoted["value"] if quoted else _COMMENT.sub("", f" {value}").strip()
    return ""
