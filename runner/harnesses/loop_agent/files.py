"""File tools: list, read, search, edit and create, all held inside the two places."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from runner.harnesses.loop_agent.places import Places, ToolFault

MAX_ENTRIES = 500
MAX_FILE_BYTES = 4_000_000
MAX_READ_CHARS = 60_000
MAX_MATCHES = 100
MAX_LINE_CHARS = 400
SEARCH_SECONDS = 10.0
SKIPPED = {".git", "__pycache__", "node_modules", ".venv"}


def list_files(places: Places, path: str = ".") -> str:
    """Every file below ``path``, one a line, folders that hold no sources left out."""
    root = places.locate(path)
    if not root.is_dir():
        raise ToolFault(f"{path!r} is no folder")
    names: list[str] = []
    for found in _walk(root):
        if len(names) == MAX_ENTRIES:
            names.append(f"(more than {MAX_ENTRIES} files; list a folder below)")
            break
        names.append(places.show(found))
    return "\n".join(names) or "(no files)"


def read_file(places: Places, path: str, first_line: int | None = None, last_line: int | None = None) -> str:
    """The text of ``path`` with line numbers, or the lines ``first_line`` to ``last_line`` of it."""
    lines = _text_of(places, path).splitlines()
    first, last = first_line or 1, last_line or len(lines)
    if first < 1 or (lines and first > len(lines)) or last < first:
        if not lines:
            return "(the file is empty)"
        raise ToolFault(f"{path!r} has {len(lines)} lines; {first} to {last} is no part of it")
    shown = [f"{number}\t{line}" for number, line in enumerate(lines[first - 1 : last], start=first)]
    text = "\n".join(shown)
    if len(text) > MAX_READ_CHARS:
        return text[:MAX_READ_CHARS] + "\n(cut here; read fewer lines)"
    return text or "(the file is empty)"


def search(places: Places, pattern: str, path: str = ".") -> str:
    """Lines that match the regular expression ``pattern`` in the files below ``path``."""
    root = places.locate(path)
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolFault(f"{pattern[:200]!r} is no regular expression: {error}") from None
    if not root.exists():
        raise ToolFault(f"{path!r} does not exist")
    matches: list[str] = []
    with _alarm(SEARCH_SECONDS):
        for found in [root] if root.is_file() else _walk(root):
            matches += _matches(found, wanted, places, MAX_MATCHES + 1 - len(matches))
            if len(matches) > MAX_MATCHES:
                return "\n".join([*matches[:MAX_MATCHES], f"(more than {MAX_MATCHES} matches)"])
    return "\n".join(matches) or "(no match)"


def edit_file(places: Places, path: str, old: str, new: str) -> str:
    """Replace ``old``, which must occur exactly once in ``path``, by ``new``."""
    if not old:
        raise ToolFault("'old' is empty; use create_file for a new file")
    if old == new:
        raise ToolFault("'old' and 'new' are the same")
    text = _text_of(places, path)
    count = text.count(old)
    if count == 0:
        raise ToolFault(f"'old' does not occur in {path!r}; read the file and copy the text exactly")
    if count > 1:
        raise ToolFault(f"'old' occurs {count} times in {path!r}; give more of the text around it")
    _write(places.locate(path), text.replace(old, new))
    line = text[: text.index(old)].count("\n") + 1
    return f"edited {path} at line {line}"


def create_file(places: Places, path: str, content: str, overwrite: bool = False) -> str:
    """Write a new file, folders included; an existing one only with ``overwrite``."""
    target = places.locate(path)
    if target.is_dir():
        raise ToolFault(f"{path!r} is a folder")
    if target.exists() and not overwrite:
        raise ToolFault(f"{path!r} exists; use edit_file, or set overwrite to true")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolFault(f"the folder of {path!r} cannot be made: {error.strerror}") from None
    _write(target, content)
    return f"wrote {len(content.encode(errors='replace'))} bytes to {path}"


def _walk(root: Path) -> Iterator[Path]:
    """Files below ``root`` in a stable order; links are named but never followed."""
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            yield Path(folder, name)


def _text_of(places: Places, path: str) -> str:
    target = places.locate(path)
    if target.is_dir():
        raise ToolFault(f"{path!r} is a folder; use list_files")
    if not target.is_file():
        raise ToolFault(f"{path!r} does not exist" if not target.exists() else f"{path!r} is no plain file")
    try:
        if target.stat().st_size > MAX_FILE_BYTES:
            raise ToolFault(f"{path!r} is larger than {MAX_FILE_BYTES} bytes; use run_command")
        return target.read_bytes().decode()
    except UnicodeDecodeError:
        raise ToolFault(f"{path!r} is no UTF-8 text") from None
    except OSError as error:
        raise ToolFault(f"{path!r} cannot be read: {error.strerror}") from None


def _write(target: Path, text: str) -> None:
    try:
        data = text.encode()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(target, flags, 0o644), "wb") as stream:
            stream.write(data)
    except UnicodeEncodeError:
        raise ToolFault("the text holds characters that UTF-8 cannot write") from None
    except OSError as error:
        raise ToolFault(f"cannot write {target.name!r}: {error.strerror}") from None


def _matches(path: Path, wanted: re.Pattern[str], places: Places, room: int) -> list[str]:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        return []
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return []
    found: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if len(found) >= room:
            break
        if wanted.search(line):
            found.append(f"{places.show(path)}:{number}: {line[:MAX_LINE_CHARS]}")
    return found


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """End a search whose pattern backtracks without end. Works in the main thread only, as the agent does."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        """Raise in the main thread what ends the search."""
        raise ToolFault(f"the search took longer than {seconds:g} seconds; use a simpler pattern")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
