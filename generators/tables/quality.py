"""Quality: every data-quality warning of a set of cells, by code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from generators.tables.cells import Cell
from runner.records.warning import CODES

OWN_CODES = {
    "several-raw-model-ids": "One model name covers several raw model ids, so the cell may mix variants.",
    "other-judge-left-out": "Some scores are by another judge; they are left out of the figures.",
    "other-rubric-left-out": "Some scores used another rubric; they are left out of the figures.",
    "other-dataset-version-left-out": "Some trials used another version of the dataset; they are left out.",
}
"""Codes that are found when cells are built, beside those that records carry."""


@dataclass(frozen=True)
class Occurrence:
    """One warning: the cell, the task it is about (None: the whole cell) and its text."""

    cell: Cell
    task: str | None
    text: str


def explain(code: str) -> str:
    """One sentence on what a code means."""
    return CODES.get(code) or OWN_CODES.get(code) or "This code has no explanation yet."


def occurrences(cells: Iterable[Cell]) -> dict[str, list[Occurrence]]:
    """Warnings by code, in order of the codes; within a code in order of the cells."""
    found: dict[str, list[Occurrence]] = {}
    for cell in cells:
        for warning, task in cell.warnings():
            found.setdefault(warning.code, []).append(Occurrence(cell, task, warning.text))
        for warning, trial in cell.warnings_left_out():
            found.setdefault(warning.code, []).append(Occurrence(cell, trial.task, warning.text))
    return dict(sorted(found.items()))
