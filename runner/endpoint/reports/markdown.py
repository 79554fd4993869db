"""Markdown: a report as tables that no text from outside can break out of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.endpoint.reports.table import Table
from runner.endpoint.reports.tables import Report

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$^])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LINES = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
PLAIN = re.compile(r"[A-Za-z0-9 .,:%/()=\u2014-]*")
"""What means itself in a cell: figures and words stay readable in the source."""


def cell(text: str) -> str:
    """``text`` as one cell: on one line, with nothing in it that is markup."""
    flat = _LINES.sub(" ", text)
    if PLAIN.fullmatch(flat):
        return flat
    escaped = "".join(_ENTITIES.get(letter, letter) for letter in flat)
    # A colon with slashes would become a link of its own where renderers look for them.
    return _SPECIAL.sub(r"\\\1", escaped).replace("://", ":\u200b//")


def markdown(report: Report) -> str:
    """The whole report."""
    return "\n".join(_lines(report)) + "\n"


def table(found: Table) -> Iterator[str]:
    """One section."""
    yield f"## {cell(found.title)}"
    yield ""
    if found.note:
        yield cell(found.note)
        yield ""
    yield f"| {' | '.join(map(cell, found.head))} |"
    yield f"|{' --- |' * len(found.head)}"
    for row in found.rows:
        yield f"| {' | '.join(map(cell, row))} |"
    yield ""


def _lines(report: Report) -> Iterator[str]:
    yield f"# {cell(report.title)}"
    yield ""
    for name, value in report.facts:
        yield f"- {cell(name)}: {cell(value)}"
    yield ""
    for flag in report.flags:
        yield f"> {cell(flag)}"
        yield ""
    for each in report.tables:
        yield from table(each)
