"""Compare data: every pair of a table as numbers and as the words that the browser shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from generators.charts.dumbbell import LABEL_LIMIT
from generators.escape.characters import one_line, shortened
from generators.escape.html import Json
from generators.pages import links, words
from generators.pages.charting import artifact_name, criterion_name
from generators.pages.pair_words import FACTS, QUALITY_UNIT, Said, amounts_of, names_of, pair_words, priced_of
from generators.pages.world import World
from generators.statistics.intervals import Interval
from generators.statistics.verdict import MARGIN, Kind
from generators.tables.boards import task_means
from generators.tables.cells import Cell, CellKey
from generators.tables.comparisons import Compared
from generators.tables.differences import AmountDifference
from generators.tables.pair_table import PairTable
from generators.tables.profiles import artifact_means, criterion_means
from generators.tables.sample import Unit

SHOWN = {"cost": Unit.DOLLARS, "minutes": Unit.MINUTES}
"""Amounts that stand beside the scores of each task."""


class Texts:
    """Texts by number, each kept once: most pairs of a table say much the same."""

    def __init__(self) -> None:
        """None yet."""
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """The number of a text."""
        return self._places.setdefault(text, len(self._places))

    def said(self, said: Said) -> list[Json]:
        """The numbers of a text and of its note."""
        return [self.place(said.text), self.place(said.note)]

    @property
    def all(self) -> list[Json]:
        """All of them in order of their numbers."""
        return list(self._places)


def data_path(pairs: PairTable) -> str:
    """Path of a table's data below the docs folder."""
    return f"data/compare/{pairs.skill}_{pairs.dataset}.json"


def cell_id(cell: Cell) -> str:
    """What the address and the data call a cell."""
    return "/".join(cell.key)


def data(world: World, pairs: PairTable) -> bytes:
    """The file of a table.

    ``pairs`` hold numbers, and their words by place in ``texts``; values of tasks stand in the order of
    ``tasks``, those of profiles in that of ``profile``; null is unknown.
    """
    texts, names = Texts(), names_of(pairs)
    tasks = tasks_of_table(pairs)
    profile = profile_names(pairs)
    content: dict[str, Json] = {
        "schema": "compare/1",
        "title": pairs.title,
        "skill": pairs.skill,
        "dataset": pairs.dataset,
        "quality": pairs.kind.value,
        "margin": MARGIN,
        "family": pairs.family,
        "facts": list(FACTS),
        "tasks": [
            {**named(task), "href": links.relative(links.COMPARE, links.task_page(pairs.dataset, task))}
            for task in tasks
        ],
        "profile": [named(name) for _, name in profile],
        "cells": [_cell(world, pairs, cell, names, tasks, profile) for cell in pairs.cells],
        "pairs": [_pair(pairs, each, names, texts) for each in pairs.compared],
    }
    content["texts"] = texts.all
    return (json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def named(name: str) -> dict[str, Json]:
    """A name, and as the two drawings cut it."""
    return {"name": one_line(name), **{kind: shortened(name, LABEL_LIMIT[kind]) for kind in LABEL_LIMIT}}


def tasks_of_table(pairs: PairTable) -> list[str]:
    """Every task that a cell of the table planned or ran."""
    names = {task for cell in pairs.cells for task in cell.by_task}
    names.update(task for cell in pairs.cells for task, _ in cell.missing)
    return sorted(names)


def profile_names(pairs: PairTable) -> list[tuple[str, str]]:
    """Parts that judges score: the key and the name of each criterion and each artifact."""
    criteria = dict.fromkeys(name for cell in pairs.cells for name in criterion_means(cell))
    artifacts = dict.fromkeys(name for cell in pairs.cells for name in artifact_means(cell))
    found = [(f"criterion {name}", f"{criterion_name(name)} (criterion)") for name in criteria]
    return found + [(f"artifact {name}", f"{artifact_name(name)} (artifact)") for name in artifacts]


def profile_of(cell: Cell, profile: Sequence[tuple[str, str]]) -> list[float | None]:
    """Mean of each part in percent of its maximum, over the scored trials of the cell."""
    known = {f"criterion {name}": value.amount for name, value in criterion_means(cell).items()}
    known |= {f"artifact {name}": value.amount for name, value in artifact_means(cell).items()}
    return [known.get(key) for key, _ in profile]


def quality_of(pairs: PairTable, cell: Cell) -> dict[str, float]:
    """Score of each task, or the percent of its trials that passed."""
    return task_means(cell, "score" if pairs.kind is Kind.SCORE else "resolved")


def task_texts(pairs: PairTable, cell: Cell, tasks: Sequence[str]) -> list[str]:
    """What stands for the quality of each task: the number, or what is known in its place."""
    means = quality_of(pairs, cell)
    return [
        words.amount(means[task], QUALITY_UNIT[pairs.kind]) if task in means else _why_unknown(cell, task)
        for task in tasks
    ]


def amount_texts(cell: Cell, tasks: Sequence[str], measure: str) -> list[str]:
    """What stands for an amount of each task."""
    means, unit = task_means(cell, measure), SHOWN[measure]
    missing = words.NOT_PRICED if unit is Unit.DOLLARS else "not known"
    return [words.amount(means[task], unit) if task in means else missing for task in tasks]


def _why_unknown(cell: Cell, task: str) -> str:
    trials = cell.by_task.get(task)
    if trials:
        return words.STATE_WORDS[trials[0].state]
    return "never recorded" if any(name == task for name, _ in cell.missing) else "no trial"


def _cell(
    world: World,
    pairs: PairTable,
    cell: Cell,
    names: Mapping[CellKey, str],
    tasks: Sequence[str],
    profile: Sequence[tuple[str, str]],
) -> Json:
    quality, parts = quality_of(pairs, cell), profile_of(cell, profile)
    amounts = {measure: task_means(cell, measure) for measure in SHOWN}
    found: dict[str, Json] = {
        "id": cell_id(cell),
        "name": names[cell.key],
        "href": links.relative(links.COMPARE, world.cell_page(cell)),
        "priced": words.priced(cell.figures["cost_per_task"].priced),
        "quality": [quality.get(task) for task in tasks],
        "quality_texts": list[Json](task_texts(pairs, cell, tasks)),
        "profile": list[Json](parts),
        "profile_texts": ["not known" if part is None else f"{part:.1f}" for part in parts],
    }
    for measure in SHOWN:
        found[measure] = [amounts[measure].get(task) for task in tasks]
        found[f"{measure}_texts"] = list[Json](amount_texts(cell, tasks, measure))
    return found


def _pair(pairs: PairTable, each: Compared, names: Mapping[CellKey, str], texts: Texts) -> Json:
    differences = amounts_of(each)
    said = pair_words(each, pairs.kind, names, differences)
    order = list(names)
    return {
        "cells": [order.index(each.first.key), order.index(each.second.key)],
        "good": said.good,
        "verdict": texts.place(said.verdict),
        "facts": [texts.said(fact) for fact in said.facts],
        "measures": [
            [
                texts.place(row.title),
                *(texts.said(part) for part in (row.first, row.second, row.difference, row.tasks)),
            ]
            for row in said.measures
        ],
        "numbers": _numbers(each),
        "priced": texts.place(priced_of(each.first, each.second)),
        "amounts": {difference.measure: _difference(difference) for difference in differences},
    }


def _numbers(each: Compared) -> Json:
    verdict = each.verdict
    if verdict is None:
        return {"reason": each.reason}
    plan, evidence = verdict.plan, verdict.evidence
    return {
        "word": verdict.word.value,
        "favoured": verdict.favoured,
        "deciding": verdict.deciding.value,
        "deciding_number": verdict.deciding_number,
        "limit": verdict.limit,
        "tasks": evidence.tasks,
        **_ends(evidence.interval),
        "p": evidence.p_value,
        "test": evidence.test,
        "more_tasks": plan.more if plan else None,
        "more_usd": plan.cost_usd if plan else None,
    }


def _difference(each: AmountDifference) -> Json:
    return {**_ends(each.interval), "tasks": each.tasks, "across_bases": each.apart is not None}


def _ends(interval: Interval | None) -> dict[str, Json]:
    if interval is None:
        return {"difference": None, "lower": None, "upper": None}
    return {"difference": interval.estimate, "lower": interval.lower, "upper": interval.upper}
