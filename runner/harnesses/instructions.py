"""Instructions: the file in which a repository speaks to agents, of the workspace and of no folder above it.

By themselves many agents read those of every folder up to the root, those of a project that their scratch
folder happens to lie in, for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

GLOB = re.compile(r"[\\*?\[\]{}()!+@|,]")
"""Characters with a meaning in a pattern; any one character stands for each of them."""


def first_of(workspace: Path, names: Iterable[str]) -> Path | None:
    """The first file of ``names`` that ``workspace`` has."""
    return next((path for path in map(workspace.absolute().joinpath, names) if path.is_file()), None)


def patterns_above(workspace: Path, names: Sequence[str]) -> list[str]:
    """Patterns of the files of ``names`` in the folders above ``workspace``, for agents that take some."""
    folders = dict.fromkeys((*workspace.absolute().parents, *workspace.resolve().parents))
    roots = [GLOB.sub("?", str(folder).rstrip("/")) for folder in folders]
    return [f"{root}/{name}" for root in roots for name in names]
