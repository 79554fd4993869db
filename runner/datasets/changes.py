"""Changes: which files a patch changes and by which lines, read from git's format without applying it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

HUNK = re.compile(r"@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(rb'\\([abfnrtv"\\]|[0-7]{3})')
_ESCAPED = {b"a": 7, b"b": 8, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11, b'"': 34, b"\\": 92}


@dataclass
class FileChange:
    """One file of a patch. Lines are without their ends."""

    path: str
    """Where it is afterwards; where it was, for one that is deleted."""
    old_path: str | None = None
    """Where it was before; None for a new file."""
    deleted: bool = False
    binary: bool = False
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @property
    def new(self) -> bool:
        """Whether there was no such file before."""
        return self.old_path is None

    @property
    def paths(self) -> tuple[str, ...]:
        """Both names of it, each once."""
        return tuple(dict.fromkeys(path for path in (self.old_path, self.path) if path is not None))


def changes_of(patch: bytes) -> tuple[FileChange, ...]:
    """The files of ``patch`` in their order. What is no part of git's format is passed over."""
    changes: list[FileChange] = []
    lines = iter(patch.decode("utf-8", "surrogateescape").split("\n"))
    for line in lines:
        if line.startswith("diff --git "):
            changes.append(FileChange(*_names(line)))
        elif changes:
            _take(changes[-1], line, lines)
    return tuple(changes)


def _take(change: FileChange, line: str, lines: Iterator[str]) -> None:
    """What one line of a file's header says of ``change``; a hunk is read to its end."""
    if line.startswith("new file mode "):
        change.old_path = None
    elif line.startswith("deleted file mode "):
        change.deleted = True
    elif line.startswith(("rename from ", "copy from ")):
        change.old_path = _unquoted(line.split(" from ", 1)[1])
    elif line.startswith(("rename to ", "copy to ")):
        change.path = _unquoted(line.split(" to ", 1)[1])
    elif line.startswith("--- ") and (name := _side(line[4:])) is not None:
        change.old_path = name
        change.path = name if change.deleted else change.path
    elif line.startswith("+++ ") and (name := _side(line[4:])) is not None:
        change.path = name
    elif line.startswith(("GIT binary patch", "Binary files ")):
        change.binary = True
    elif (hunk := HUNK.match(line)) is not None:
        before, after = (1 if count is None else int(count) for count in hunk.groups())
        _take_hunk(change, before, after, lines)


def _take_hunk(change: FileChange, before: int, after: int, lines: Iterator[str]) -> None:
    while before > 0 or after > 0:
        line = next(lines, None)
        if line is None:
            return
        if line.startswith("+"):
            change.added.append(line[1:])
            after -= 1
        elif line.startswith("-"):
            change.removed.append(line[1:])
            before -= 1
        elif not line.startswith("\\"):
            before, after = before - 1, after - 1


def _names(line: str) -> tuple[str, str]:
    """The new and the old name in a ``diff --git`` line; they differ only where more lines say so."""
    words = line.removeprefix("diff --git ")
    if words.startswith('"'):
        end = re.search(r'(?<!\\)(?:\\\\)*" ', words)
        old, new = (words[: end.end() - 1], words[end.end() :]) if end else (words, words)
    elif words.endswith('"'):
        old, _, new = words.partition(' "')
        new = f'"{new}'
    else:
        half = len(words) // 2
        old, new = words[:half], words[half + 1 :]
    return _side(new) or _unquoted(new), _side(old) or _unquoted(old)


def _side(text: str) -> str | None:
    """The path in ``a/path`` or ``b/path``; None for /dev/null."""
    name = _unquoted(text.split("\t", 1)[0] if not text.startswith('"') else text)
    return None if name == "/dev/null" else name[2:] if name[:2] in {"a/", "b/"} else name


def _unquoted(text: str) -> str:
    """A name as git writes it: in quotes, with backslashes, where it holds anything unusual."""
    if len(text) < 2 or not text.startswith('"') or not text.endswith('"'):
        return text

    def byte(found: re.Match[bytes]) -> bytes:
        """The byte that an escape stands for."""
        word = found[1]
        return bytes([_ESCAPED[word] if word in _ESCAPED else int(word, 8) & 255])

    raw = text[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(byte, raw).decode("utf-8", "replace")
