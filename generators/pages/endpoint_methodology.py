"""Endpoint methodology: every word and figure of endpoint benchmarks, as the code that makes it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from generators.pages import links
from generators.pages.endpoint_words import BY_NAME, CLASSES, outcome
from generators.pages.rendering import Crumb, Page
from generators.pages.world import World
from runner.records import Definition
from runner.records.bench_manifest import METHODOLOGY

GROUPS = (
    (
        "moments",
        "Moments of a request",
        "Stamped in nanoseconds as each network read comes in, parsed later.",
    ),
    (
        "times",
        "Figures of one request",
        "Each from its moments by one formula; one that lacks a moment is unknown.",
    ),
    (
        "ends",
        "How requests end",
        "Every request has one class. What had come before stays, whatever the class.",
    ),
    ("statistics", "Figures over many requests", "With n of m, and an interval of 95 %."),
    (
        "scores",
        "Right and wrong",
        "Whether an answer is right and how long it took are two things, kept apart.",
    ),
    ("comparison", "Mappings against each other", "On the same instances, asked in turn in a random order."),
    ("load", "Load", "Levels run one after the other, and nothing runs beside them."),
    ("coding", "Coding tasks", "An agent of ours with a few tools, and tests that it never saw."),
    ("money", "Money", "By the price book, with the day of its prices; what is not known is never 0."),
    ("client", "The client itself", "Measured before each run against a server whose delays are known."),
)
IN_RECORDS = frozenset({"moments", "times", "ends"})
"""Groups whose names stand in records and tables as they are here."""
TITLES = {**{name: measure.title for name, measure in BY_NAME.items()}, **dict(CLASSES)}


@dataclass(frozen=True)
class Part:
    """A piece of a definition; ``code`` is a name or a formula."""

    text: str
    code: bool


@dataclass(frozen=True)
class Defined:
    """A definition as the page shows it."""

    name: str
    title: str
    in_records: bool
    formula: str
    parts: tuple[Part, ...]


def pages(world: World) -> Iterator[Page]:
    """The one page; real results only, as words mean the same in both worlds."""
    if world.demonstration:
        return
    groups = [
        (title, lead, [_defined(each) for each in world.reference.definitions if each.group == name])
        for name, title, lead in GROUPS
    ]
    yield Page(
        path=links.ENDPOINT_METHODOLOGY,
        title="Methodology of endpoint benchmarks",
        template="endpoint_methodology.md.j2",
        description="What TTFT, latency, knee and every other word of the endpoint pages means.",
        context={
            "groups": [(title, lead, found) for title, lead, found in groups if found],
            "version": METHODOLOGY,
            "endpoints": links.ENDPOINTS,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Methodology", links.METHODOLOGY)),
    )


def _defined(each: Definition) -> Defined:
    title = TITLES.get(each.name) or outcome(each.name).capitalize()
    return Defined(each.name, title, each.group in IN_RECORDS, each.formula, parts_of(each.text))


def parts_of(text: str) -> tuple[Part, ...]:
    """The text cut where it marks names and formulas by double backticks; None is said as a reader does."""
    pieces = text.split("``")
    return tuple(
        Part(piece, code=True) if number % 2 else Part(_for_readers(piece), code=False)
        for number, piece in enumerate(pieces)
        if piece
    )


def _for_readers(text: str) -> str:
    begun = re.sub(r"(^|\. )None\b", r"\1Unknown", text)
    return re.sub(r"\bNone\b", "unknown", begun)
