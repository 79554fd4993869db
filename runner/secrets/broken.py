"""Broken: finds a known value that was broken over lines, in text, in source code, in a patch and in JSON.

Text and value are compared without what a line break may bring with it, so that one search finds every way
to break the value. Nothing here takes more time than in proportion to the text, whatever an agent prints.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

BRING = b" \t\r\n\"'\\,+-<>#|*"
"""What stands around a line break inside a value: quotes, signs of a patch, marks of a quotation."""
BROUGHT = re.compile(rb"(?:\\[rnt]|[" + re.escape(BRING) + rb"])+")
BREAK = re.compile(rb"[\r\n]|\\[rn]")
SHORTEST = 6


def broken_values(data: bytes, values: Iterable[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Each of ``values`` that stands in ``data`` broken over lines, with its start and its end there."""
    text = BROUGHT.sub(b"", data)
    places: list[tuple[int, int]] = []
    for value in values:
        core = value.strip(BRING)
        bare = BROUGHT.sub(b"", core)
        at = text.find(bare) if len(bare) >= SHORTEST else -1
        while at >= 0:
            places = places or _places(data)
            start, end = _place(places, at), _place(places, at + len(bare) - 1) + 1
            if _is_broken(data[start:end], core):
                yield value, start, end
            at = text.find(bare, at + len(bare))


def _is_broken(found: bytes, core: bytes) -> bool:
    """Whether ``found`` is ``core`` but for line breaks, where both are the same without what those bring."""
    gaps, own = dict(_gaps(found)), dict(_gaps(core))
    added = {at: gap for at, gap in gaps.items() if own.get(at) != gap}
    return bool(added) and own.keys() <= gaps.keys() and all(map(BREAK.search, added.values()))


def _gaps(data: bytes) -> Iterator[tuple[int, bytes]]:
    """What a break may have brought, by how many other bytes stand before it."""
    lost = 0
    for match in BROUGHT.finditer(data):
        yield match.start() - lost, match.group()
        lost += len(match.group())


def _places(data: bytes) -> list[tuple[int, int]]:
    """How many bytes were left out of ``data`` before each of the others, where that number changes."""
    lost, places = 0, [(0, 0)]
    for match in BROUGHT.finditer(data):
        lost += len(match.group())
        places.append((match.end() - lost, lost))
    return places


def _place(places: list[tuple[int, int]], at: int) -> int:
    """The place in the data of the byte at ``at`` of the text without them."""
    return at + places[bisect_right(places, (at, 1 << 62)) - 1][1]
