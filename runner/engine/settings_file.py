"""Settings file: keys and values that a user wrote down for a command, and every fault in them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from runner.costs.strict_yaml import read_strict_yaml
from runner.errors import ConfigurationError
from runner.records import Part
from runner.records.plain_words import plain_faults

MAX_BYTES = 256 * 1024
Settings = TypeVar("Settings", bound=Part)


def read_settings_file(path: Path, what: str) -> dict[str, object]:
    """The keys and values of a YAML file; none of an empty one.

    Args:
        what: what it is too large for, such as ``run configuration``.

    Raises:
        ConfigurationError: it is larger than ``MAX_BYTES``, is no YAML, or holds no keys and values.
    """
    require_small(path, what)
    document = read_strict_yaml(path).value
    if document is None:
        return {}
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise ConfigurationError("must hold keys and values", where=str(path))
    return dict(document)


def require_small(path: Path, what: str) -> None:
    """Raise ``ConfigurationError`` where the file is larger than any such file is."""
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        raise ConfigurationError(f"is larger than any {what}", where=str(path))


def unknown_key(name: str, known: Collection[str]) -> str:
    """The fault of a key that is not known, with the nearest one that is."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"{name}: unknown key" + (f" (did you mean {near[0]}?)" if near else "")


def settings_from(
    model: type[Settings],
    given: Mapping[str, object],
    *,
    of: str,
    where: str,
    command: str,
    faults: Collection[str] = (),
) -> Settings:
    """``given`` as settings; numbers may be written as text, as flags arrive.

    Args:
        of: whose settings they are, such as ``this run``.
        where: the file, or the command line.
        command: the command whose flags have the same names.
        faults: what is wrong already; it is reported with the rest.

    Raises:
        ConfigurationError: every fault in one report.
    """
    known = model.model_fields
    found = [*faults, *(unknown_key(name, known) for name in given if name not in known)]
    try:
        settings = model.model_validate({n: v for n, v in given.items() if n in known}, strict=False)
    except ValidationError as error:
        found += plain_faults(error, whole="settings")
    if found:
        raise ConfigurationError(
            f"the settings of {of} have faults:\n    " + "\n    ".join(found),
            where=where,
            remedy=f"invoke --help {command} lists every flag; a file uses the same names with underscores",
        )
    return settings
