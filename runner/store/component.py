"""Path components: the one place where a name becomes part of a path below a root."""

from __future__ import annotations

import re
from pathlib import Path

from runner.errors import PathEscapeError

COMPONENT = re.compile(r"[a-z0-9][a-z0-9._-]*")
MAX_LENGTH = 200


def component(name: str) -> str:
    """``name`` unchanged if it is safe as one path component.

    Safe: 1 to 200 characters of the closed alphabet ``[a-z0-9._-]``, the first a letter or digit, the last
    no dot. Such a name cannot be ``.`` or ``..``, holds no separator, and means the same on file systems
    that fold case.

    Raises:
        PathEscapeError: for every other name.
    """
    if len(name) > MAX_LENGTH or not COMPONENT.fullmatch(name) or name.endswith("."):
        shown = name if len(name) <= 80 else name[:77] + "..."
        raise PathEscapeError(
            f"{shown!r} cannot be part of a path in the results store",
            remedy="use lower-case letters, digits, dots, dashes and underscores, a letter or digit first",
        )
    return name


def below(root: Path, *names: str) -> Path:
    """``root`` joined with components, each checked by :func:`component`."""
    return root.joinpath(*(component(name) for name in names))
