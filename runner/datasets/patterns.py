"""Patterns: which paths of a repository a dataset means, such as ``tests/**`` or ``*.lock``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

MAX_LENGTH = 200
MAX_DEEP = 3
_PIECES = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANING = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def check_pattern(pattern: str) -> str:
    """``pattern`` if it can name paths: relative, with / between its parts, ``*``, ``**`` and ``?``.

    Raises:
        ValueError: it cannot.
    """
    parts = pattern.split("/")
    plain = pattern.isprintable() and pattern == pattern.strip() and len(pattern) <= MAX_LENGTH
    if not pattern or not plain or "\\" in pattern:
        raise ValueError(f"must be 1 to {MAX_LENGTH} printable characters with / between the parts of a path")
    if pattern.startswith(("/", "~")) or ".." in parts or "." in parts or "" in parts[:-1]:
        raise ValueError("must name paths below the root of the repository, such as tests/** or *.lock")
    if pattern.count("**") > MAX_DEEP:
        raise ValueError(f"holds ** more than {MAX_DEEP} times")
    return pattern


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of ``patterns`` means ``path``.

    ``*`` and ``?`` stay inside one part of a path, ``**`` goes through any number of them; a pattern that
    ends with ``/`` means everything below; one without any ``/`` means a file of that name in every folder.
    """
    return any(_compiled(pattern).fullmatch(path) for pattern in patterns)


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    whole = f"{pattern}**" if pattern.endswith("/") else pattern
    whole = whole if "/" in whole else f"**/{whole}"
    # A run of more stars than two says nothing more, and would only cost time.
    whole = re.sub(r"\*{3,}", "**", whole)
    return re.compile(
        "".join(_MEANING.get(piece) or re.escape(piece) for piece in _PIECES.findall(whole)), re.S
    )
