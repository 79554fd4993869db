"""Complexity: what the cells of a skill and dataset score and cost by tier, and what one more point costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from generators.charts import ParetoPoint, pareto_chart
from generators.pages import links, words
from generators.pages.charting import Drawn, drawn, label
from generators.pages.complexity_tables import (
    clearing_table,
    cost_table,
    gap_table,
    price_table,
    score_table,
)
from generators.pages.dated_text import price_days
from generators.pages.frontier import tiered
from generators.pages.interval_words import sureness
from generators.pages.rendering import Crumb, Page
from generators.pages.world import World
from generators.statistics.frontier import FEW_TASKS
from generators.tables.boards import Board
from generators.tables.dollars import Priced
from generators.tables.sample import Unit
from generators.tables.tiers import TierPoint, ladders, tier_points, tiers_of


@dataclass(frozen=True)
class TierSection:
    """One tier: its tasks and the chart of its frontier."""

    name: str
    tasks: str
    chart: Markup | None


def pages(world: World) -> Iterator[Page]:
    """One page for each skill and dataset whose scored tasks are of at least two tiers."""
    for skill, board in world.skill_boards:
        if tiered(board):
            yield _page(world, skill, board)


def _page(world: World, skill: str, board: Board) -> Page:
    path = links.complexity_page(skill, board.dataset, world.prefix)
    tiers = tiers_of(board, world.datasets.get(board.dataset))
    names = list(dict.fromkeys(tiers.values()))
    points = {tier: tier_points(board.cells, tier, tiers) for tier in names}
    charts = {
        tier: chart
        for tier in names
        if (chart := _chart(world, skill, board, tier, points[tier], path)) is not None
    }
    steps = ladders(board.by_score, tiers)
    home: tuple[Crumb, ...] = (Crumb("Home", links.HOME),)
    if world.demonstration:
        home = (*home, Crumb("Demonstration", links.DEMONSTRATION + links.HOME))
    return Page(
        path=path,
        title=f"{skill} on {board.dataset} by complexity",
        template="complexity.md.j2",
        description=f"Scores, costs and frontiers of {skill} on {board.dataset} by complexity of the task.",
        context={
            "skill": skill,
            "dataset": board.dataset,
            "frontier": links.relative(path, links.frontier_page(skill, board.dataset, world.prefix)),
            "tested": FEW_TASKS,
            "sections": [
                TierSection(tier, _tasks(tiers, tier), charts[tier].html if tier in charts else None)
                for tier in names
            ],
            "scores": score_table(world, board, tiers, path),
            "costs": cost_table(world, board, tiers, path),
            "clearing": clearing_table(world, points, path),
            "prices": price_table(world, steps, names, path),
            "gaps": gap_table(world, steps, tiers, path),
            "links": links,
        },
        crumbs=(*home, Crumb("Frontiers", links.frontiers(world.prefix))),
        in_search=False,
        demonstration=world.demonstration,
        assets=tuple(chart.asset for chart in charts.values()),
    )


def _tasks(tiers: Mapping[str, str], tier: str) -> str:
    return words.counted(sum(its == tier for its in tiers.values()), "task")


def _chart(
    world: World, skill: str, board: Board, tier: str, points: Sequence[TierPoint], page: str
) -> Drawn | None:
    """Cost against score in one tier; None with fewer than two cells."""
    if len(points) < 2:
        return None
    several = len({point.cell.identity.harness for point in points}) > 1
    prefix = "demonstration-" if world.demonstration else ""
    by_basis: dict[str, list[Priced]] = {}
    for point in points:
        if point.cost.priced is not None:
            by_basis.setdefault(words.basis(point.basis), []).append(point.cost.priced)
    days = "; ".join(words.priced(Priced.over(found)) for _, found in sorted(by_basis.items()))
    chart = pareto_chart(
        [_point(world, point, page, several) for point in points],
        slug=f"{prefix}tier-{skill}-{board.dataset}-{tier}",
        title=f"Score against cost, tier {tier}",
        scope=f"{skill} on {board.dataset}, all harnesses",
        caption=f"Means over the scored tasks of this tier only. Days of the prices: {days}.",
    )
    return drawn(chart, page)


def _point(world: World, point: TierPoint, page: str, several: bool) -> ParetoPoint:
    cell = point.cell
    return ParetoPoint(
        label=label(cell, with_harness=several),
        href=links.relative(page, world.cell_page(cell)),
        cost_usd=point.cost.amount,
        score=point.score.amount,
        basis=words.basis(point.basis),
        hosting=words.hosting(cell.hosting),
        harness=cell.identity.harness,
        n_scored=point.score.n,
        n_planned=point.score.m,
        on_basis_frontier=point.on_frontier,
        on_combined_frontier=False,
        membership=point.membership,
        note=f"cost known for {words.n_of_m(point.cost)}" if point.cost.n < point.cost.m else "",
        score_sure=sureness(point.score, Unit.POINTS),
        cost_sure=sureness(point.cost, Unit.DOLLARS),
        price_days=price_days(point.cost.priced),
    )
