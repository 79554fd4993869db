"""Statistics: what each interval means, how the methods did on known truth, and what the data can decide."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from generators.pages import links, words
from generators.pages.rendering import Crumb, Page
from generators.pages.simulation_tables import (
    calibration_table,
    claims_table,
    coverage_table,
    criteria_table,
    equal_boards_table,
    source_table,
    widest_miss,
    worst_shown,
)
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.statistics.frontier import FEW_TASKS
from generators.statistics.planner import FEWEST_TASKS, POWER, detectable_difference
from generators.statistics.verdict import MARGIN, Kind, Word
from generators.tables.comparisons import standings
from generators.tables.pair_table import PairTable

PLANNED = (10, 21, 50)
"""Numbers of tasks for which the page says what could be shown, beside the present one."""


@dataclass(frozen=True)
class Decidable:
    """What the data of one skill and dataset can decide."""

    pairs: PairTable
    tasks: int
    """Tasks that the middle pair has in common."""
    neighbours: tuple[int, int]
    separable: tuple[int, int]
    ties: int
    groups: int
    spread: float | None
    """Middle standard deviation of a paired difference, in points; None where no pair has one."""

    def detectable(self, tasks: int) -> float | None:
        """Smallest true difference of the middle pair that so many tasks would show; None below six."""
        if self.spread is None or tasks < FEWEST_TASKS:
            return None
        return detectable_difference(self.spread, tasks)


def pages(world: World) -> Iterator[Page]:
    """The page of the real results."""
    if world.demonstration:
        return
    measured = world.reference.statistics
    found = decidable(world)
    yield Page(
        path=links.STATISTICS,
        title="Statistics",
        template="statistics.md.j2",
        description="What each interval means, how well it holds, and what the present data can decide.",
        context={
            "measured": measured is not None,
            "holds": measured is not None and measured.holds,
            "taken_on": words.day(measured.taken_on) if measured else "",
            "seed": measured.seed if measured else 0,
            "criteria": criteria_table(measured) if measured else None,
            "coverage": coverage_table(measured) if measured else None,
            "worst_shown": worst_shown(measured) if measured else "",
            "widest_miss": widest_miss(measured) if measured else "",
            "equal_boards": equal_boards_table(measured) if measured else None,
            "claims": claims_table(measured) if measured else None,
            "calibration": calibration_table(measured) if measured else None,
            "sources": source_table(measured) if measured else None,
            "decides": _table(found),
            "summary": _summary(found),
            "fewest": FEWEST_TASKS,
            "few": FEW_TASKS,
            "margin": f"{MARGIN:g}",
            "power": words.percent(POWER),
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Methodology", links.METHODOLOGY)),
    )


def decidable(world: World) -> list[Decidable]:
    """One entry for each skill and dataset with judge scores, the ones with most pairs first."""
    found = []
    for pairs in world.pair_tables:
        if pairs.kind is not Kind.SCORE:
            continue
        standing = standings(pairs.board, world.repositories.get(pairs.dataset))
        evidence = [each.verdict.evidence for each in standing.compared if each.verdict is not None]
        spreads = [each.spread for each in evidence if each.spread is not None]
        ties = sum(each.verdict is not None and each.verdict.word is Word.TIE for each in standing.compared)
        found.append(
            Decidable(
                pairs=pairs,
                tasks=int(statistics.median_low([each.tasks for each in evidence])) if evidence else 0,
                neighbours=standing.neighbours,
                separable=standing.separable,
                ties=ties,
                groups=len(standing.groups),
                spread=statistics.median(spreads) if spreads else None,
            )
        )
    return sorted(found, key=lambda each: (-each.separable[1], each.pairs.skill, each.pairs.dataset))


def _table(found: list[Decidable]) -> Table:
    columns = [
        Column("Skill and dataset"),
        Column("Common tasks", "number", "of the middle pair"),
        Column("Neighbours told apart", "number", "pairs next to each other by mean score that are better"),
        Column("Pairs told apart", "number", "of all pairs, adjusted for their number"),
        Column("Ties", "number", f"pairs whose whole interval lies within {MARGIN:g} points"),
        Column("Groups", "number", "cells that no chain of undecided pairs joins"),
        Column("Spread of a difference", "number", "middle standard deviation over tasks, points"),
        Column("Detectable now", "number", "smallest true difference that one pair would show, points"),
        *(Column(f"With {tasks} tasks", "number", "the same, points") for tasks in PLANNED),
    ]
    rows = []
    for each in found:
        page = links.frontier_page(each.pairs.skill, each.pairs.dataset)
        rows.append(
            [
                link_entry(each.pairs.title, links.relative(links.STATISTICS, page)),
                Entry(str(each.tasks), float(each.tasks)),
                _share(each.neighbours),
                _share(each.separable),
                Entry(str(each.ties), float(each.ties)),
                Entry(str(each.groups), float(each.groups)),
                _points(each.spread),
                _points(each.detectable(each.tasks))
                if each.tasks >= FEWEST_TASKS
                else Entry("none", None, note=f"fewer than {FEWEST_TASKS} common tasks", unknown=True),
                *(_points(each.detectable(tasks)) for tasks in PLANNED),
            ]
        )
    return table("What the present data can decide", columns, rows)


def _share(counts: tuple[int, int]) -> Entry:
    return Entry(f"{counts[0]:,} of {counts[1]:,}", float(counts[0]))


def _points(value: float | None) -> Entry:
    if value is None:
        return Entry("not known", None, note="fewer than two common tasks", unknown=True)
    return Entry(f"{value:.1f}", value)


def _summary(found: list[Decidable]) -> str:
    told, neighbours = (sum(each.neighbours[part] for each in found) for part in (0, 1))
    apart, pairs = (sum(each.separable[part] for each in found) for part in (0, 1))
    return (
        f"{told:,} of {neighbours:,} neighbouring pairs by mean score are told apart, and {apart:,} of "
        f"{pairs:,} pairs of all. For the others the data are not enough, or they are a tie."
    )
