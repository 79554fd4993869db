"""The accounting table: rows of recorded and true counts as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from runner.harnesses.accounting import CLASSES, Row

HEADS = {"fresh": "input", "read": "cache read", "write": "cache write", "output": "output"}


def to_markdown(rows: Sequence[Row], versions: Mapping[str, str]) -> str:
    """A Markdown table; a cell holds recorded / true, or one number where they are equal.

    Where an answer broke off, the truth has two parts: whole answers + what was told of the broken one.

    Args:
        versions: by harness, the version that ran.
    """
    classes = [*HEADS.values(), "reasoning"]
    lines = [
        "| Harness | Protocol | What happened | Requests | Turns | Retries seen | "
        + " | ".join(classes)
        + " | Agrees |",
        "|---|---|---|" + "---:|" * (3 + len(classes)) + "---|",
    ]
    lines += [_line(row, versions.get(row.harness, "")) for row in rows]
    return "\n".join(lines) + "\n"


def to_json(rows: Sequence[Row], versions: Mapping[str, str]) -> str:
    """The same as a JSON list, one object a row, for a data file."""
    return json.dumps([_object(row, versions.get(row.harness)) for row in rows], indent=2) + "\n"


def _line(row: Row, version: str) -> str:
    reading = row.reading
    cells = [
        f"{row.harness} {version}".strip(),
        row.protocol.value,
        row.case.title,
        str(row.requests),
        _shown(reading.turns),
        _shown(reading.retries),
        *(_pair(row.recorded[name], row.true[name], row.partly[name]) for name in CLASSES),
        "yes" if row.agrees else "no",
    ]
    return "| " + " | ".join(cells) + " |"


def _pair(recorded: int | None, true: int, partly: int) -> str:
    if recorded == true and not partly:
        return f"{true:,}"
    return f"{_shown(recorded)} / {true:,}" + (f" + {partly:,}" if partly else "")


def _shown(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _object(row: Row, version: str | None) -> dict[str, object]:
    reading = row.reading
    return {
        "harness": row.harness,
        "version": version,
        "protocol": row.protocol.value,
        "case": row.case.name,
        "title": row.case.title,
        "requests": row.requests,
        "answered": row.answered,
        "turns": reading.turns,
        "retries": reading.retries,
        "stop_reason": reading.stop_reason,
        "is_error": reading.is_error,
        "warnings": [warning.code for warning in reading.warnings],
        "recorded": dict(row.recorded),
        "true": dict(row.true),
        "told_of_broken_answers": dict(row.partly),
        "agrees": row.agrees,
    }
