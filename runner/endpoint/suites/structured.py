"""Structured: JSON as it was asked for, with and without a schema that the endpoint enforces."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import JsonValue

from runner.endpoint.suites.case import Case, Feature, Kind, Puzzle, question, reading, user
from runner.endpoint.suites.draw import Draw
from runner.endpoint.suites.extraction import json_equal

RECORDS = 12
IDLE_CHANCE = 0.3
SCORES = (30, 99)
PASS_MARK = 70
FIRST_NAMES = ("Amara", "Bodil", "Chidi", "Danuta", "Eero", "Farida", "Goran", "Hana")
GOODS = ("lamp", "kettle", "ladder", "blanket", "drill", "mirror", "basket", "clock")
TOWNS = ("Tromso", "Cork", "Pecs", "Gdansk", "Braga", "Turku")


@dataclass(frozen=True)
class Entry:
    """One line of the list that is filtered."""

    number: int
    active: bool
    score: int

    @property
    def identifier(self) -> str:
        """As it is written, such as ``R07``."""
        return f"R{self.number:02d}"


def drawn_entries(seed: int) -> tuple[Entry, ...]:
    """Twelve entries; a state is drawn before its score."""
    draw = Draw(seed)
    return tuple(
        Entry(number, draw.fraction() >= IDLE_CHANCE, draw.integer(*SCORES))
        for number in range(1, RECORDS + 1)
    )


def chosen(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The active ones with at least the pass mark."""
    return tuple(entry for entry in entries if entry.active and entry.score >= PASS_MARK)


def extraction(seed: int) -> Puzzle:
    """Filter a list and answer with one object."""
    entries = drawn_entries(seed)
    lines = "\n".join(
        f"{entry.identifier} | {'active' if entry.active else 'idle'} | {entry.score} points"
        for entry in entries
    )
    picked = chosen(entries)
    expected: dict[str, JsonValue] = {
        "selected": [entry.identifier for entry in picked],
        "total": sum(entry.number for entry in picked),
    }
    text = (
        f"The table has an identifier, a state and points on each line.\n{lines}\n\n"
        f"Keep the lines that are active and have {PASS_MARK} points or more. Answer with a single JSON "
        "object "
        'and no other text. Its key "selected" holds the identifiers kept, in ascending order. Its key '
        '"total" '
        "holds the sum of their numbers, where R07 counts as 7."
    )
    return question(text, json_equal(expected), json.dumps(expected), {"selected": expected["selected"]})


SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "customer": {"type": "string"},
        "town": {"type": "string"},
        "express": {"type": "boolean"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["name", "count"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["customer", "town", "express", "items"],
    "additionalProperties": False,
}


def schema_object(seed: int) -> Puzzle:
    """Read an order out of prose into a schema that the endpoint is told to keep."""
    draw = Draw(seed)
    customer, town, express = draw.choice(FIRST_NAMES), draw.choice(TOWNS), draw.chance(0.5)
    goods = draw.shuffled(GOODS)[:3]
    counts = [draw.integer(2, 19) for _ in goods]
    items: list[JsonValue] = [
        {"name": name, "count": count} for name, count in zip(goods, counts, strict=True)
    ]
    expected: dict[str, JsonValue] = {"customer": customer, "town": town, "express": express, "items": items}
    listed = ", then ".join(f"{count} of the {name}" for name, count in zip(goods, counts, strict=True))
    speed = (
        "It has to be there tomorrow, so send it express."
        if express
        else "There is no hurry, do not send it express."
    )
    text = (
        f"A message came in: 'Hello, this is {customer}, writing from {town}. Please put down {listed}. "
        f"{speed}'\n\nTurn the message into a JSON object with the keys customer, town, express (true or "
        "false) and items, a list in the order of the message whose members have a name (singular, as "
        "written) and a count. Answer with the JSON object alone."
    )
    return Puzzle((user(text),), reading(json_equal(expected)), json.dumps(expected), schema=SCHEMA)


EXTRACTION = Case(
    identifier="seeded_structured_extraction",
    title="Filter a table into JSON",
    kind=Kind.QUALITY,
    category="structured-output",
    dimension="instruction-following",
    difficulty="medium",
    description="One JSON object with the right members; a code fence around it is tolerated.",
    make=extraction,
    runs=2,
    effort="none",
    seeded=True,
)
SCHEMA_OBJECT = Case(
    identifier="seeded_json_schema",
    title="An order in prose into a JSON schema",
    kind=Kind.QUALITY,
    category="structured-output",
    dimension="instruction-following",
    difficulty="easy",
    description="The endpoint is given the schema; asked only of targets that accept one.",
    make=schema_object,
    runs=2,
    seeded=True,
    needs=frozenset({Feature.JSON_SCHEMA}),
)
