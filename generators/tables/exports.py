"""Exports: the summary of one cell as JSON and as Markdown text."""

from __future__ import annotations

import json
import posixpath

from generators.escape import markdown_text
from generators.statistics.intervals import LEVEL
from generators.tables.agreement_columns import NOTHING, cell_columns, trial_columns
from generators.tables.cells import Cell
from generators.tables.columns import Scalar
from generators.tables.facts import TrialFacts
from generators.tables.figures import FIGURES
from generators.tables.reconciliation import Reconciled
from generators.tables.sample import Value

AGREEMENT = ("cost_agreement", "cost_beyond", "cost_ratio", "cost_reasons")
Json = Scalar | list["Json"] | dict[str, "Json"]


def summary_paths(cell: Cell, prefix: str) -> tuple[str, str]:
    """Paths of a cell's summaries below the docs folder: JSON, and Markdown.

    The Markdown one ends in ``.txt``, because the site builder turns every ``.md`` file into a page.
    """
    folder = prefix + posixpath.join("data", "cells", *cell.key)
    return f"{folder}/run-summary.json", f"{folder}/run-summary.txt"


def summary_json(cell: Cell, reconciled: Reconciled = NOTHING) -> bytes:
    """All figures of a cell with n of m and formula, every trial, every warning, and how far costs agree."""
    figures: dict[str, Json] = {}
    for figure in FIGURES:
        value = cell.figures[figure.name]
        figures[figure.name] = {
            "value": value.amount,
            "unit": figure.unit.value,
            "basis": value.priced.basis.value if value.priced else None,
            "price_dates": _days(value),
            "n": value.n,
            "m": value.m,
            **_sure(value),
            "missing_reason": value.reason or None,
            "formula": figure.formula,
        }
    trials: list[Json] = [
        {column.name: column.read((cell, trial)) for column in trial_columns(reconciled)}
        for trial in cell.trials
    ]
    warnings: list[Json] = [
        {"code": warning.code, "task": task, "text": warning.text} for warning, task in cell.warnings()
    ]
    identity = cell.identity
    agreement = {column.name: column.read(cell) for column in cell_columns(reconciled)}
    content: dict[str, Json] = {
        "schema": "run-summary/1",
        "model": identity.model.slug,
        "raw_model_ids": list(cell.raw_ids),
        "provider": identity.provider,
        "effort": identity.effort,
        "harness": identity.harness,
        "skill": identity.skill,
        "dataset": identity.dataset,
        "demonstration": cell.demonstration,
        "rubric": cell.rubric,
        "cost_basis": cell.basis.value if cell.basis else None,
        **{name: agreement[name] for name in AGREEMENT},
        "planned": cell.sample.planned,
        "missing": [f"{task}/{number}" for task, number in cell.missing],
        "figures": figures,
        "trials": trials,
        "warnings": warnings,
    }
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def summary_markdown(cell: Cell, reconciled: Reconciled = NOTHING) -> bytes:
    """Figures and tasks of a cell as Markdown tables; whatever a record says is escaped."""
    identity = cell.identity
    lines = [
        f"# {_safe(identity.model.slug)}, {_safe(identity.harness)}, {_safe(identity.skill)}, "
        f"{_safe(identity.dataset)}",
        "",
        "| Figure | Value | 95 % interval | Unit | n of m |",
        "|---|---:|---|---|---:|",
    ]
    for figure in FIGURES:
        value = cell.figures[figure.name]
        amount = _number(value.amount) if value.amount is not None else f"unknown: {_safe(value.reason)}"
        unit = figure.unit.value
        if value.priced is not None:
            days = " to ".join(dict.fromkeys(str(day or "day not known") for day in _days(value) or []))
            unit += f", {value.priced.basis.value}, {days}"
        lines.append(f"| {figure.title} | {amount} | {_interval(value)} | {unit} | {value.n} of {value.m} |")
    lines += [
        "",
        "| Task | Trial | State | Score | Cost (USD) | Basis | Ways agree | Minutes | Tokens |",
        "|---|---:|---|---:|---:|---|---|---:|---:|",
    ]
    for trial in cell.trials:
        lines.append(
            f"| {_safe(trial.task)} | {trial.record.identity.trial} | {trial.state.value} "
            f"| {_number(trial.score)} | {_number(trial.cost.amount_usd)} | {_rests_on(trial)} "
            f"| {_agreement(reconciled, trial)} "
            f"| {_number(trial.minutes)} | {_number(trial.tokens)} |"
        )
    return ("\n".join(lines) + "\n").encode()


def _days(value: Value) -> list[Json] | None:
    """First and last day of the prices in an amount; None for figures that are no dollars."""
    if value.priced is None:
        return None
    return [day.isoformat() if day else None for day in (value.priced.first, value.priced.last)]


def _sure(value: Value) -> dict[str, Json]:
    """Interval and bounds of a mean; nothing for other figures."""
    spread = value.spread
    if spread is None or value.amount is None:
        return {}
    interval, bounds = spread.interval, spread.bounds
    return {
        "interval": {
            "lower": interval.lower if interval else None,
            "upper": interval.upper if interval else None,
            "level": LEVEL,
            "method": spread.method,
            "tasks": len(spread.values),
            "missing_reason": spread.reason or None,
        },
        "bounds": {"least": bounds.lower, "most": bounds.upper, "open": bounds.open} if bounds else None,
    }


def _interval(value: Value) -> str:
    """Interval of a mean for the text summary; a dash for other figures."""
    spread = value.spread
    if spread is None or value.amount is None:
        return "-"
    interval = spread.interval
    return f"{_number(interval.lower)} to {_number(interval.upper)}" if interval else f"none: {spread.reason}"


def _safe(raw: str) -> str:
    """Escaped where needed only, so that names stay readable in a terminal."""
    plain = raw.isascii() and all(letter.isalnum() or letter in " .-,;:%" for letter in raw)
    return raw if plain else markdown_text(raw)


def _rests_on(trial: TrialFacts) -> str:
    cost = trial.cost
    return f"{cost.basis.value}, {cost.price_as_of or 'day not known'}"


def _agreement(reconciled: Reconciled, trial: TrialFacts) -> str:
    found = reconciled.trial(trial)
    if found is None:
        return "not compared"
    return f"{found.agreement.value}: {found.reason.value}" if found.reason else found.agreement.value


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
