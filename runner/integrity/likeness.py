"""Likeness: how much of a patch is the reference solution, line by line."""

from __future__ import annotations

import re
from collections import Counter

from runner.datasets.changes import changes_of
from runner.records import Severity

LEAST_LINES = 12
"""A reference shorter than this can be written twice by chance."""
ALIKE = 0.9
"""From here on a patch is near-identical. Of the tasks that come with the project, two solutions that were
written apart share 0.79 at most."""
COPIED, LONG = 0.98, 30
"""So many lines are not found again to the letter, with their comments and the names of tests."""
_WORD = re.compile(r"\w{2,}")


def likeness(patch: bytes, reference: bytes) -> float | None:
    """Share of changed lines that both patches have: 2 x common / (lines of one + lines of the other).

    Lines are compared with their file and direction, without their spaces; lines without a word are left out.

    Returns:
        0..1; None where the reference is too short to tell anything.
    """
    ours, theirs = _lines(patch), _lines(reference)
    if theirs.total() < LEAST_LINES:
        return None
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def severity_of(alike: float, reference: bytes) -> Severity:
    """Whether so much likeness voids a trial, or is for a reader to judge: what is short is found twice."""
    copied = alike >= COPIED and _lines(reference).total() >= LONG
    return Severity.VOID if copied else Severity.NOTE


def _lines(patch: bytes) -> Counter[tuple[str, str, str]]:
    return Counter(
        (change.path, sign, "".join(line.split()))
        for change in changes_of(patch)
        for sign, lines in (("+", change.added), ("-", change.removed))
        for line in lines
        if _WORD.search(line)
    )
