"""Patching: applies the unified diffs that models write, whose line numbers cannot be trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_HUNK = re.compile(r"^@@+(?: -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@+)?.*$")
_NO_NEWLINE = "\\ No newline at end of file"
NOWHERE = "/dev/null"
FUZZ = 2
"""Lines of context at either end of a hunk that may be wrong."""


class PatchFault(Exception):
    """The patch cannot be read or does not fit; the text is for the model."""


@dataclass(frozen=True)
class Hunk:
    """Lines with their marks (blank, minus, plus) and the line of the old file they claim to start at."""

    lines: tuple[str, ...]
    start: int | None

    @property
    def old(self) -> list[str]:
        """Context and removed lines."""
        return [line[1:] for line in self.lines if line[:1] != "+"]


@dataclass(frozen=True)
class FilePatch:
    """What happens to one file. A ``source`` of None makes it new, a ``target`` of None deletes it."""

    source: str | None
    target: str | None
    hunks: tuple[Hunk, ...]


def patched(files: Mapping[str, str], text: str) -> dict[str, str | None]:
    """The new texts of the files that the diff ``text`` changes; None for those it deletes.

    Nothing is changed in place: all of it fits, or none.

    Raises:
        PatchFault: it is no diff, or a hunk does not fit.
    """
    changed: dict[str, str | None] = {}
    for each in parse_patch(text):
        now = {name: changed.get(name, files.get(name)) for name in (each.source, each.target) if name}
        if each.source is None and each.target is not None:
            if now[each.target] is not None:
                raise PatchFault(
                    f"{each.target} exists already; a patch against {NOWHERE} makes new files only"
                )
            changed[each.target] = _new_text(each)
            continue
        before = None if each.source is None else now[each.source]
        if before is None or each.source is None:
            raise PatchFault(f"there is no file {each.source}")
        after = _applied(before, each)
        if each.target != each.source:
            changed[each.source] = None
        if each.target is not None:
            changed[each.target] = after
    return changed


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The parts of a unified diff; code fences and the headers of git around it are passed over.

    Raises:
        PatchFault: there is no hunk in it, or one that belongs to no file.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found: list[FilePatch] = []
    place = 0
    while place < len(lines):
        if not _is_head(lines, place):
            if _HUNK.match(lines[place]):
                raise PatchFault("a hunk stands before any '--- path' and '+++ path' lines")
            place += 1
            continue
        source, target = _path(lines[place][4:]), _path(lines[place + 1][4:])
        if source is None and target is None:
            raise PatchFault(f"both sides of a patch are {NOWHERE}")
        hunks, place = _hunks(lines, place + 2)
        if not hunks:
            raise PatchFault(f"there is no hunk (a line that begins with @@) for {target or source}")
        found.append(FilePatch(source, target, tuple(hunks)))
    if not found:
        raise PatchFault(
            "this is no unified diff: it needs '--- path', '+++ path' and hunks that begin with @@"
        )
    return tuple(found)


def _is_head(lines: Sequence[str], place: int) -> bool:
    return lines[place].startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")


def _path(text: str) -> str | None:
    name = text.split("\t")[0].strip().strip('"')
    if name == NOWHERE:
        return None
    return name[2:] if name[:2] in {"a/", "b/"} else name.removeprefix("./")


def _hunks(lines: Sequence[str], place: int) -> tuple[list[Hunk], int]:
    hunks: list[Hunk] = []
    while place < len(lines):
        head = _HUNK.match(lines[place])
        if head is None:
            if lines[place].strip() and not lines[place].startswith(("```", "\\")):
                break
            place += 1
            continue
        place += 1
        body: list[str] = []
        while place < len(lines) and not _HUNK.match(lines[place]) and not _is_head(lines, place):
            line = lines[place]
            if line.startswith(("```", "diff --git ", "*** ")):
                break
            if line and line[0] not in " +-\\":
                raise PatchFault(f"a line of a hunk must begin with a blank, + or -: {line[:80]!r}")
            if line != _NO_NEWLINE and not line.startswith("\\"):
                # Editors strip the blank of an empty context line.
                body.append(line or " ")
            place += 1
        hunks.append(Hunk(_without_tail(body), int(head[1]) if head[1] else None))
    return hunks, place


def _without_tail(body: list[str]) -> tuple[str, ...]:
    while body and body[-1] == " ":
        body.pop()
    if not body:
        raise PatchFault("a hunk is empty")
    return tuple(body)


def _new_text(patch: FilePatch) -> str:
    lines = [line for hunk in patch.hunks for line in hunk.lines]
    if any(not line.startswith("+") for line in lines):
        raise PatchFault(f"every line of the new file {patch.target} must begin with +")
    return "".join(f"{line[1:]}\n" for line in lines)


def _applied(text: str, patch: FilePatch) -> str:
    lines = text.split("\n")
    ends_with_newline = lines[-1] == ""
    if ends_with_newline:
        lines.pop()
    shift = 0
    floor = 0
    for number, hunk in enumerate(patch.hunks, 1):
        where, used = _placed(lines, hunk, floor, shift, f"hunk {number} of {patch.source}")
        fresh = _replaced(lines[where : where + len(used.old)], used)
        lines[where : where + len(used.old)] = fresh
        floor = where + len(fresh)
        if hunk.start is not None:
            shift = where - max(hunk.start - 1, 0) + len(fresh) - len(used.old)
    return "\n".join(lines) + ("\n" if ends_with_newline and lines else "")


def _replaced(present: list[str], hunk: Hunk) -> list[str]:
    """The new lines; lines of context stay as the file has them."""
    fresh: list[str] = []
    taken = 0
    for line in hunk.lines:
        if line[0] == "+":
            fresh.append(line[1:])
            continue
        if line[0] == " ":
            fresh.append(present[taken])
        taken += 1
    return fresh


def _placed(lines: list[str], hunk: Hunk, floor: int, shift: int, name: str) -> tuple[int, Hunk]:
    """Where the hunk fits, and the hunk as it fits there, its outer context shortened if need be."""
    if not hunk.old:
        if hunk.start is None and lines:
            raise PatchFault(f"{name} adds lines without any context: show some lines around them")
        return min(max((hunk.start or 0) + shift, floor), len(lines)), hunk
    for fuzz in range(FUZZ + 1):
        used = _shortened(hunk, fuzz)
        if used is None:
            break
        for strip in (False, True):
            places = _matches(lines, used.old, floor, strip=strip)
            if len(places) > 1 and hunk.start is None:
                raise PatchFault(f"{name} fits in {len(places)} places: show more lines around the change")
            if places:
                expected = max((hunk.start or 1) - 1, 0) + shift
                return min(places, key=lambda place: abs(place - expected)), used
    raise PatchFault(f"{name} does not fit: its lines are not in the file as they stand; read the file again")


def _shortened(hunk: Hunk, fuzz: int) -> Hunk | None:
    lines = list(hunk.lines)
    for _ in range(fuzz):
        if lines and lines[0][0] == " ":
            lines.pop(0)
        if lines and lines[-1][0] == " ":
            lines.pop()
    # What is left must still say where it belongs.
    return Hunk(tuple(lines), hunk.start) if any(line[0] != "+" for line in lines) else None


def _matches(lines: list[str], wanted: list[str], floor: int, *, strip: bool) -> list[int]:
    if strip:
        lines, wanted = [line.rstrip() for line in lines], [line.rstrip() for line in wanted]
    last = len(lines) - len(wanted)
    return [place for place in range(floor, last + 1) if lines[place : place + len(wanted)] == wanted]
