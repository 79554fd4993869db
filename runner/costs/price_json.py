"""Price JSON: a foreign list read from a file with limits, before anything of it is believed."""

from __future__ import annotations

import json
from pathlib import Path

from runner.errors import ConfigurationError

MAX_BYTES = 64_000_000
"""The largest known list holds less than a tenth of it."""


def read_price_json(path: Path) -> object:
    """The document in the file at ``path``.

    Raises:
        ConfigurationError: it cannot be read, is too large, is not JSON, or gives a name twice.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigurationError(f"is larger than {MAX_BYTES:,} bytes", where=str(path))
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"cannot be read: {why}", where=str(path), remedy="check the path") from None
    try:
        document: object = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        shown = " ".join(str(error).split())[:200]
        raise ConfigurationError(f"not a list of prices: {shown}", where=str(path)) from None
    return document


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the name {name!r} is given twice in one object")
            seen.add(name)
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")
