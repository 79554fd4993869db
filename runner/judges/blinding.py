"""Blinding: takes out of a submission what names its maker, and praise that its maker gave it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

WITHHELD = "[name withheld]"
SHORTEST_NAME = 6
"""Shorter names, such as ``pi`` or ``loop``, are words of the language too."""
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
PRAISE_HEADING = re.compile(
    r"(?:\d+[.)]?\s*)?(?:my |overall |final )?"
    r"(?:self[- ]?(?:assessment|evaluation|grade|grading|rating|score|scoring)|confidence(?: level| score)?"
    r"|(?:quality|overall|final) (?:score|rating|grade)|score|rating|grade)",
    re.IGNORECASE,
)
PRAISE_LINE = re.compile(
    r"[\s>*_#|-]*(?:my |overall |final |self[- ]?)*(?:assessed )?"
    r"(?:score|rating|grade|confidence|assessment|quality)(?: level)?[*_ ]*[:=|][*_ ]*"
    r"(?:\d[\d.]*\s*(?:/|out of|%)|(?:very )?(?:high|excellent|outstanding|perfect|strong)\b"
    r"|a\+?\b|10\b|100\b).*",
    re.IGNORECASE,
)
TRAILER = re.compile(
    r"[\s>*_\W]*(?:co-authored-by|signed-off-by|generated (?:with|by|using)"
    r"|(?:made|written|created) (?:with|by))\b.*",
    re.IGNORECASE,
)
_PARTS, _BETWEEN = re.compile(r"[-_. /:]+"), "[-_. /:]?"
LONGEST_LINE = 160
"""Of what is taken for a rating or a trailer: longer lines say more."""


@dataclass(frozen=True)
class Blinded:
    """A text as a judge may see it, and what was taken out, in words."""

    text: str
    removed: tuple[str, ...] = ()


def blind_prose(text: str, names: Iterable[str]) -> Blinded:
    """``text`` of a document without the ``names`` of its maker, its trailers and its praise of itself.

    Sections whose heading announces a rating by the author are left out up to the next heading of their
    level, and so are lines that hold nothing but such a rating. What the document claims of the work stays:
    that is what a judge is to check.
    """
    kept: list[str] = []
    sections = lines = trailers = 0
    skipping: int | None = None
    code: str | None = None
    for line in text.split("\n"):
        mark = CODE_FENCE.match(line)
        if mark and (code is None or (mark[1].startswith(code) and not line.strip(" `~"))):
            code = mark[1] if code is None else None
        heading = HEADING.match(line) if code is None and not mark else None
        if heading and skipping is not None and len(heading[1]) <= skipping:
            skipping = None
        if heading and skipping is None and PRAISE_HEADING.fullmatch(heading[2].strip(" *_:")):
            skipping = len(heading[1])
            sections += 1
        if skipping is not None:
            continue
        short = code is None and len(line) <= LONGEST_LINE
        if short and PRAISE_LINE.fullmatch(line):
            lines += 1
        elif short and TRAILER.fullmatch(line):
            trailers += 1
        else:
            kept.append(line)
    shown, count = withhold("\n".join(kept), names)
    told = (
        (sections, "sections in which the author rates the work"),
        (lines, "lines in which the author rates the work"),
        (trailers, "lines that name the maker"),
        (count, "names of model or agent"),
    )
    return Blinded(shown, tuple(f"{number} {what}" for number, what in told if number))


def blind_patch(patch: str, names: Iterable[str]) -> Blinded:
    """``patch`` without the ``names`` in the lines that it adds; everything else is evidence and stays."""
    count, lines = 0, []
    wanted = tuple(names)
    for line in patch.split("\n"):
        if line.startswith("+") and not line.startswith("+++"):
            line, found = withhold(line, wanted)
            count += found
        lines.append(line)
    return Blinded("\n".join(lines), (f"{count} names of model or agent",) if count else ())


def withhold(text: str, names: Iterable[str]) -> tuple[str, int]:
    """``text`` with each of ``names`` replaced, and how often that was.

    Case and what stands between the parts of a name make no difference: ``some-model-4-5`` is found in
    ``Some Model 4.5`` too.
    """
    wanted = sorted({name for name in names if len(name) >= SHORTEST_NAME}, key=len, reverse=True)
    if not wanted:
        return text, 0
    pattern = "|".join(_BETWEEN.join(map(re.escape, _PARTS.split(name))) for name in wanted)
    return re.subn(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", WITHHELD, text, flags=re.IGNORECASE)
