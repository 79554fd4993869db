"""Grounding: which files of a checkout a judge's tools really showed it, from their output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAX_FILES = 20_000
MAX_BYTES = 2_000_000
MAX_SHOWN = 50
TELLING = 12
"""Characters that a line must have, without blanks, to tell a file by; shorter ones stand in many files."""
WORDS = re.compile(r"[^\s'\"`;|&<>()$=,]+")


@dataclass(frozen=True)
class ToolUse:
    """One use of a tool that did not fail: what was asked, and what came back."""

    asked: str
    output: str


@dataclass
class Checkout:
    """The files of a checkout by the names that a tool may call them by."""

    root: Path
    _files: set[str] = field(default_factory=set)
    _lines: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._files = set(_walk(self.root))

    def read_in(self, use: ToolUse) -> Iterator[str]:
        """Files of which at least one telling line is in the output, among those that the use names.

        A name alone proves nothing: a listing names every file. A line counts only where the question or
        the line itself says which file it is of.
        """
        lines = [line for line in use.output.splitlines() if line.strip()]
        body = {_bare(line) for line in lines}
        for name in self._named(WORDS.findall(use.asked)):
            if self._telling(name) & body:
                yield name
        for line in lines:
            place, _, rest = line.partition(":")
            for name in self._named([place]):
                if _bare(rest) in self._telling(name):
                    yield name

    def _named(self, words: Iterable[str]) -> Iterator[str]:
        for word in words:
            path = Path(word)
            inside = path.is_absolute() and path.is_relative_to(self.root)
            name = (path.relative_to(self.root) if inside else path).as_posix()
            if name in self._files:
                yield name

    def _telling(self, name: str) -> frozenset[str]:
        """Lines of a file by which it can be told; those of a short file all count."""
        if name not in self._lines:
            path = self.root / name
            data = b"" if path.stat().st_size > MAX_BYTES else path.read_bytes()
            lines = {_bare(line) for line in data.decode("utf-8", "replace").splitlines()} - {""}
            long = {line for line in lines if len(line.replace(" ", "")) >= TELLING}
            self._lines[name] = frozenset(long or lines)
        return self._lines[name]


def files_read(uses: Iterable[ToolUse], root: Path) -> tuple[str, ...]:
    """Files below ``root`` whose content was in the output of a tool, in order, at most ``MAX_SHOWN``."""
    checkout = Checkout(root.resolve())
    found: dict[str, None] = {}
    for use in uses:
        for name in checkout.read_in(use):
            found[name] = None
            if len(found) == MAX_SHOWN:
                return tuple(found)
    return tuple(found)


def _walk(root: Path) -> Iterator[str]:
    count = 0
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name != ".git")
        for file in sorted(files):
            path = Path(folder, file)
            if not path.is_symlink() and path.is_file():
                yield path.relative_to(root).as_posix()
                count += 1
            if count >= MAX_FILES:
                return


def _bare(line: str) -> str:
    """A line without the number that tools put before it, and without blanks around it."""
    return re.sub(r"^\s*\d+(?:\s*[\t:|→-]|\s{2,})\s?", "", line).strip()
