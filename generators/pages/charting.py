"""Charting: boards and profiles as charts on a page, with the JSON file beside each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from generators import escape
from generators.charts import ParetoPoint, RadarSeries, pareto_chart, radar_chart
from generators.charts.chart import Chart
from generators.pages import links, words
from generators.pages.dated_text import price_days
from generators.pages.interval_words import sureness
from generators.pages.money_flag import flag_of
from generators.pages.rendering import Asset
from generators.pages.world import World
from generators.tables.boards import Board, Placement
from generators.tables.cells import Cell
from generators.tables.dollars import Priced
from generators.tables.profiles import CRITERION_MAXIMUM, artifact_means, criterion_means, has_parts
from generators.tables.sample import Unit, Value
from runner.records import CostBasis

RADAR_SERIES = 4
ARTIFACT_WORDS = {
    "github_issue": "Issue",
    "lld": "Design",
    "review": "Review",
    "testing": "Test plan",
    "implementation": "Implementation",
}


@dataclass(frozen=True)
class Drawn:
    """A chart on a page and the file that Plotly reads."""

    html: Markup
    asset: Asset


def artifact_name(name: str) -> str:
    """Name of a judged artifact as a reader sees it."""
    return ARTIFACT_WORDS.get(name, name.replace("_", " ").capitalize())


def criterion_name(name: str) -> str:
    """Name of a criterion as a reader sees it."""
    return name.replace("_", " ").capitalize()


def pareto(world: World, board: Board, page: str, *, slug: str, title: str, scope: str) -> Drawn | None:
    """The cost-quality chart of a board as seen from ``page``; None without at least one point."""
    if not board.placements:
        return None
    several = len({placement.cell.identity.harness for placement in board.placements}) > 1
    points = [_point(world, placement, page, several) for placement in board.placements]
    caption = (
        "Each point is one cell: mean judge score over scored trials against mean cost per task. Lines join "
        "the frontier within one cost basis; across bases the comparison is directional only. "
        f"Days of the prices: {_price_days(board)}."
    )
    chart = pareto_chart(points, slug=slug, title=title, scope=scope, caption=caption)
    return drawn(chart, page)


def _price_days(board: Board) -> str:
    """Basis and days of the prices of the points, one basis after the other."""
    found: dict[CostBasis, list[Priced]] = {}
    for placement in board.placements:
        if (priced := placement.cell.figures["cost_per_task"].priced) is not None:
            found.setdefault(placement.basis, []).append(priced)
    return "; ".join(words.priced(Priced.over(found[basis])) for basis in board.bases if basis in found)


def radars(world: World, cells: Sequence[Cell], page: str, *, slug: str, scope: str) -> list[Drawn]:
    """Radar by criterion and by artifact of the cells given; empty when none publishes scores by part."""
    shown = [cell for cell in cells if has_parts(cell)]
    if not shown:
        return []
    criteria = list(criterion_means(shown[0]))
    by_criterion = [
        _series(world, cell, page, [criterion_means(cell)[name] for name in criteria], Unit.PERCENT)
        for cell in shown
    ]
    names = list(dict.fromkeys(name for cell in shown for name in artifact_means(cell)))
    by_artifact = []
    for cell in shown:
        means = artifact_means(cell)
        by_artifact.append(_series(world, cell, page, [means.get(name) for name in names], Unit.POINTS))
    charts = [
        radar_chart(
            by_criterion,
            axes=tuple(criterion_name(name) for name in criteria),
            maximum=100,
            slug=f"{slug}-criteria",
            title=f"Score by criterion, percent of the {CRITERION_MAXIMUM} points of each",
            scope=scope,
        )
    ]
    if len(names) > 2:
        charts.append(
            radar_chart(
                by_artifact,
                axes=tuple(artifact_name(name) for name in names),
                maximum=100,
                slug=f"{slug}-artifacts",
                title="Score by artifact, of 100 points each",
                scope=scope,
            )
        )
    return [drawn(chart, page) for chart in charts]


def top_cells(board: Board) -> list[Cell]:
    """The cells a radar shows: the highest mean scores among those that publish scores by part."""
    return [cell for cell in board.by_score if has_parts(cell)][:RADAR_SERIES]


def label(cell: Cell, *, with_harness: bool = False) -> str:
    """Name of a cell on a chart or in a table; a chart marks incomplete cells by itself."""
    name = cell.identity.model.slug
    if cell.identity.effort:
        name += f" ({cell.identity.effort})"
    return f"{name} · {cell.identity.harness}" if with_harness else name


def _point(world: World, placement: Placement, page: str, with_harness: bool) -> ParetoPoint:
    cell = placement.cell
    value = cell.figures["mean_score"]
    cost = cell.figures["cost_per_task"]
    notes = [f"cost known for {words.n_of_m(cost)}"] if cost.n < cost.m else []
    notes += ["≠ money figures differ"] if flag_of(world, cell, page) is not None else []
    return ParetoPoint(
        label=label(cell, with_harness=with_harness),
        href=links.relative(page, world.cell_page(cell)),
        cost_usd=placement.cost,
        score=placement.score,
        basis=words.basis(placement.basis),
        hosting=words.hosting(cell.hosting),
        harness=cell.identity.harness,
        n_scored=value.n,
        n_planned=value.m,
        on_basis_frontier=placement.on_basis_frontier,
        on_combined_frontier=placement.on_combined_frontier,
        membership=placement.membership,
        note="; ".join(notes),
        score_sure=sureness(value, Unit.POINTS),
        cost_sure=sureness(cost, Unit.DOLLARS),
        price_days=price_days(cost.priced),
    )


def _series(world: World, cell: Cell, page: str, parts: Sequence[Value | None], unit: Unit) -> RadarSeries:
    value = cell.figures["mean_score"]
    return RadarSeries(
        label=label(cell),
        href=links.relative(page, world.cell_page(cell)),
        values=tuple(part.amount if part else None for part in parts),
        sure=tuple(sureness(part, unit) if part else "" for part in parts),
        n_scored=value.n,
        n_planned=value.m,
    )


def drawn(chart: Chart, page: str) -> Drawn:
    """A chart as it stands on ``page``, with its file among the site's data."""
    path = f"data/charts/{chart.slug}.json"
    content = str(escape.json_script(chart.figure)) + "\n"
    return Drawn(chart.html(links.relative(page, path)), Asset(path, content.encode()))
