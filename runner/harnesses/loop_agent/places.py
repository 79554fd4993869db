"""Places: the two folders that file tools may touch, and how a path is held inside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class ToolFault(Exception):
    """A tool could not do what the model asked; the text goes back to the model."""


@dataclass(frozen=True)
class Places:
    """The workspace and the artifacts folder, both resolved."""

    workspace: Path
    artifacts: Path

    def locate(self, text: str) -> Path:
        """The real path for ``text``, relative to the workspace unless absolute.

        Symbolic links are resolved first, so a link that leads out is refused like any path outside.

        Raises:
            ToolFault: the path is malformed or lies outside both folders.
        """
        if not text or "\0" in text:
            raise ToolFault("the path is empty or holds a null character")
        try:
            path = (self.workspace / text).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise ToolFault(f"{text[:200]!r} is no usable path: {error}") from None
        if not any(path == root or root in path.parents for root in (self.workspace, self.artifacts)):
            raise ToolFault(
                f"{text[:200]!r} lies outside the workspace {self.workspace} and the artifacts folder "
                f"{self.artifacts}"
            )
        return path

    def show(self, path: Path) -> str:
        """``path`` as the model should see it: relative inside the workspace, else absolute."""
        if path == self.workspace:
            return "."
        return str(path.relative_to(self.workspace)) if self.workspace in path.parents else str(path)


def open_places(workspace: Path, artifacts: Path) -> Places:
    """Places with both roots resolved, so that a link above them does no harm."""
    return Places(workspace.resolve(), artifacts.resolve())
