"""Instructions: the file in which a repository speaks to agents, of the workspace and of no folder above it.

By themselves many agents read those of every folder up to the root, those of a project that their scratch
folder happens to lie in, for one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def first_of(workspace: Path, names: Iterable[str]) -> Path | None:
    """The first file of ``names`` that ``workspace`` has."""
    return next((path for path in map(workspace.absolute().joinpath, names) if path.is_file()), None)
