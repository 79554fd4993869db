"""Repository: a folder of text files that exists in memory only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from runner.endpoint.suites.coding.patching import PatchFault, patched

PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
MAX_PATH = 200
MAX_FILES = 200
MAX_FILE = 200_000
MAX_ALL = 2_000_000
MAX_HITS = 200


class RepositoryFault(Exception):
    """What was asked of the repository cannot be done; the text is for the model."""


class Repository:
    """Path to text. ``version`` counts the changes, so that a call that changed nothing can be told."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = dict(files)
        self.version = 0

    @property
    def files(self) -> Mapping[str, str]:
        """What is in it now; cannot be written to."""
        return MappingProxyType(self._files)

    def listed(self) -> str:
        """All paths in order, one a line."""
        return "\n".join(sorted(self._files))

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            RepositoryFault: there is no such file; the message names those there are.
        """
        name = _clean(path)
        if name not in self._files:
            raise RepositoryFault(f"there is no file {name[:MAX_PATH]}; there are:\n{self.listed()}")
        return self._files[name]

    def search(self, query: str) -> str:
        """Every line that holds ``query``, as ``path:line: text``.

        Raises:
            RepositoryFault: the query is empty.
        """
        if not query:
            raise RepositoryFault("the query is empty")
        hits = [
            f"{path}:{number}: {line.strip()[:300]}"
            for path, text in sorted(self._files.items())
            for number, line in enumerate(text.split("\n"), 1)
            if query in line
        ]
        if not hits:
            return "nothing found"
        more = [f"and {len(hits) - MAX_HITS} more"] if len(hits) > MAX_HITS else []
        return "\n".join(hits[:MAX_HITS] + more)

    def write(self, path: str, content: str) -> str:
        """Make or replace a file.

        Raises:
            RepositoryFault: the path or the text is not allowed.
        """
        name = _allowed(path)
        self._replace({**self._files, name: content})
        return f"wrote {len(content)} characters to {name}"

    def patch(self, diff: str) -> str:
        """Apply a unified diff, wholly or not at all.

        Raises:
            RepositoryFault: it does not fit.
        """
        try:
            changes = patched(self._files, diff)
        except PatchFault as fault:
            raise RepositoryFault(str(fault)) from None
        files = dict(self._files)
        for path, text in changes.items():
            if text is None:
                files.pop(path, None)
            else:
                files[_allowed(path)] = text
        self._replace(files)
        return f"changed {', '.join(sorted(changes))}"

    def _replace(self, files: dict[str, str]) -> None:
        if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_ALL:
            raise RepositoryFault("the repository would grow too large")
        for path, text in files.items():
            if len(text) > MAX_FILE:
                raise RepositoryFault(f"{path} would grow too large")
            if "\x00" in text or text != _encodable(text):
                raise RepositoryFault(f"{path} would hold characters that no text file can")
        folders = {str(folder) for path in files for folder in PurePosixPath(path).parents}
        if folders & files.keys():
            raise RepositoryFault("a file cannot be a folder as well")
        if files != self._files:
            self._files = files
            self.version += 1


def _encodable(text: str) -> str:
    return text.encode("utf-8", "ignore").decode("utf-8")


def _clean(path: str) -> str:
    return path.strip().removeprefix("./")


def _allowed(path: str) -> str:
    name = _clean(path)
    if len(name) > MAX_PATH or PATH.fullmatch(name) is None:
        raise RepositoryFault(
            f"{name[:MAX_PATH]!r} is no path here: use letters, digits, dots, dashes and underscores, "
            "folders with slashes, nothing absolute and no part that begins with a dot"
        )
    return name
