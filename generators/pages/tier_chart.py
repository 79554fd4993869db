"""Tier chart: the score of each task of a cell, grouped by tier, below the mean of the tier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from generators.charts.ranges import Range, ranges_chart
from generators.pages.world import World
from generators.tables.boards import task_means
from generators.tables.cells import Cell
from generators.tables.profiles import tier_rank
from generators.tables.tiers import tier_score


def tier_chart(world: World, cell: Cell, slug: str, scope: str) -> Markup:
    """Tier by tier the mean with its interval and the tasks behind it; empty with fewer than two tiers."""
    tiers = _tiers(world, cell)
    if len(set(tiers.values())) < 2 or not cell.has_scores:
        return Markup("")
    chart = ranges_chart(
        list(_rows(cell, tiers)),
        slug=f"{slug}-tiers",
        title="Score by task and tier",
        scope=scope,
        unit="score",
        counted="results",
        caption="Tasks without a score are not drawn; the table above counts them in n of m.",
    )
    return chart.html("")


def _tiers(world: World, cell: Cell) -> dict[str, str]:
    described = world.datasets.get(cell.identity.dataset)
    known = {task.id: task.complexity for task in described.tasks if task.complexity} if described else {}
    tasks = {task: known.get(task) or trials[0].complexity for task, trials in cell.by_task.items()}
    named = {task: tier for task, tier in tasks.items() if tier is not None}
    return dict(sorted(named.items(), key=lambda item: (tier_rank(item[1]), item[0])))


def _rows(cell: Cell, tiers: Mapping[str, str]) -> Iterator[Range]:
    scores = task_means(cell, "score")
    for tier in dict.fromkeys(tiers.values()):
        value = tier_score(cell, tier, tiers)
        if value.amount is None or value.spread is None:
            continue
        interval = value.spread.interval
        yield Range(
            label=f"{tier}: mean of {value.n} of {value.m}",
            estimate=value.amount,
            lower=interval.lower if interval else None,
            upper=interval.upper if interval else None,
            count=value.n,
        )
        for task in (task for task, its in tiers.items() if its == tier and task in scores):
            count = sum(trial.score is not None for trial in cell.by_task[task])
            yield Range(f"· {task}", scores[task], None, None, count, single=True)
