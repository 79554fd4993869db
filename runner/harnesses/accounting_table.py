"""The accounting table: rows of recorded and true counts as Markdown and as values for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from runner.harnesses.accounting import CLASSES, Row
from runner.records import AccountingRow

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


def to_rows(rows: Sequence[Row], versions: Mapping[str, str], taken_on: date) -> tuple[AccountingRow, ...]:
    """The same as values, for a data file.

    Args:
        taken_on: the day of the runs.
    """
    return tuple(_value(row, versions.get(row.harness, ""), taken_on) for row in rows)


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
        ("as far as it tells" if row.leaves_out else "yes") if row.agrees else "no",
    ]
    return "| " + " | ".join(cells) + " |"


def _pair(recorded: int | None, true: int, partly: int) -> str:
    if recorded == true and not partly:
        return f"{true:,}"
    return f"{_shown(recorded)} / {true:,}" + (f" + {partly:,}" if partly else "")


def _shown(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _value(row: Row, version: str, taken_on: date) -> AccountingRow:
    reading = row.reading
    warnings = reading.warnings
    return AccountingRow(
        harness=row.harness,
        version=version,
        protocol=row.protocol.value,
        case=row.case.name,
        title=row.case.title,
        requests=row.requests,
        answered=row.answered,
        turns=reading.turns,
        retries=reading.retries,
        stop_reason=reading.stop_reason,
        is_error=reading.is_error,
        warnings=tuple(warning.code for warning in warnings),
        recorded=dict(row.recorded),
        true=dict(row.true),
        told_of_broken_answers=dict(row.partly),
        agrees=row.agrees,
        explanation="" if row.equal else "; ".join(dict.fromkeys(warning.text for warning in warnings)),
        stand_in=row.stand_in,
        taken_on=taken_on,
    )
