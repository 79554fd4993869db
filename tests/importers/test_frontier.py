"""The published frontiers follow from our records, and from the published points by our rule."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from generators.statistics.frontier import pareto_frontier
from runner.costs import Commitment
from runner.records import Hosting
from tests.importers import figures
from tests.importers.figures import V1, Json, prints_as
from tests.importers.test_tables import REPORT

Point = tuple[str, float, float]
"""Slug, dollars per task, mean score."""

PUBLISHED = figures.tables()["pareto"][0]
EXTRA = figures.DATA / "pi" / "extra"
OLDER = figures.read(EXTRA / "published-pareto__pi__swe3__mcp-gateway-registry.json")
COMPARISON = figures.tables()["comparisons"][0]["rows"]


def frontier(points: Iterable[Point]) -> list[str]:
    """Slugs on the frontier, cheapest first."""
    points = list(points)
    return [points[index][0] for index in pareto_frontier([p[1] for p in points], [p[2] for p in points])]


def by_brute_force(points: Iterable[Point]) -> list[str]:
    """The same, by comparing every pair."""
    points = list(points)
    kept = [
        point
        for point in points
        if not any(
            other[1] <= point[1] and other[2] >= point[2] and other[1:] != point[1:] for other in points
        )
    ]
    return [slug for slug, _, _ in sorted(kept, key=lambda point: point[1])]


def our_points(harness: str, slugs: Iterable[str], p5en: float | None = None) -> dict[str, list[Point]]:
    """Points from the committed records, by hosting as the source words it."""
    rates = figures.rates(Commitment.COMMIT_3YR, **({} if p5en is None else {"p5en": p5en}))
    found: dict[str, list[Point]] = {"combined": [], "bedrock": [], "self_hosted": []}
    for slug in slugs:
        cell = figures.cell(harness, "swe3", V1, slug)
        cost, score = cell.cost_per_task(rates), cell.mean_score
        assert cost is not None
        assert score is not None
        found["combined"].append((slug, cost, score))
        cloud = cell.trials[0].record.serving.hosting is Hosting.CLOUD
        found["bedrock" if cloud else "self_hosted"].append((slug, cost, score))
    return found


def published_points(rows: Iterable[Json], cost: str, score: str) -> dict[str, list[Point]]:
    """Points as printed, by hosting."""
    found: dict[str, list[Point]] = {"combined": [], "bedrock": [], "self_hosted": []}
    for row in rows:
        point = (row["model_slug"], row[cost], row[score])
        found["combined"].append(point)
        found["bedrock" if row["hosting"] == "Bedrock" else "self_hosted"].append(point)
    return found


OWN_MACHINE = {"qwen3-coder-30b", "qwen3.6-35b", "gemma-4-31b"}
"""Models that ran on g6e.12xlarge and were priced by sweeps on it when the frontier was published."""


@pytest.mark.parametrize("part", ["combined", "bedrock", "self_hosted"])
def test_pi_on_swe3_has_the_published_frontier_at_the_prices_of_its_day(part: str) -> None:
    # A whole p5en.48xlarge cost 41.1424 USD an hour then. Of three models priced by sweeps on g6e.12xlarge
    # only one sweep was published; the other two keep the dollars that were printed.
    printed = {point["model_slug"]: point["usd_per_task"] for point in PUBLISHED["points"]}
    points = [
        (slug, printed[slug] if slug in OWN_MACHINE else cost, score)
        for slug, cost, score in our_points("pi", printed, p5en=41.1424)[part]
    ]
    assert frontier(points) == by_brute_force(points) == PUBLISHED["frontier"][part]


TODAY = {
    "combined": "qwen3.6-35b deepseek-v3.2 nemotron-ultra-550b kimi-k2.7-code claude-sonnet-5 glm-5.2 "
    "claude-opus-5",
    "bedrock": "claude-haiku-4-5 claude-sonnet-5 claude-opus-5",
    "self_hosted": "qwen3.6-35b deepseek-v3.2 nemotron-ultra-550b kimi-k2.7-code glm-5.2",
}
"""At three-year prices and without qwen3.8-27b, which the published frontier did not have.

Machines cost a third less than when the frontier was published, so that nemotron-ultra-550b and
kimi-k2.7-code became cheaper than claude-sonnet-5. qwen3-coder-30b fell off: on an H200 it costs 0.180 USD a
task for 26.9 points, and qwen3.6-35b 0.156 for 52.3.
"""


@pytest.mark.parametrize("part", ["combined", "bedrock", "self_hosted"])
def test_pi_on_swe3_at_three_year_prices_differs_from_the_published_frontier_only_by_price(
    part: str,
) -> None:
    points = our_points("pi", [point["model_slug"] for point in PUBLISHED["points"]])
    assert len(points["combined"]) == 15
    assert frontier(points[part]) == by_brute_force(points[part]) == TODAY[part].split()


@pytest.mark.parametrize("part", ["combined", "bedrock", "self_hosted"])
def test_the_newest_published_table_has_the_same_frontier_as_our_records(part: str) -> None:
    table = figures.read(EXTRA / "published-table__pi__swe3__mcp-gateway-registry.json")
    rows = [
        {
            **row,
            "hosting": "Bedrock" if row["cost_basis"] == "metered" else "self-hosted",
            "usd_per_task": row["run_cost_usd"] / int(row["completed"][0]),
        }
        for row in table["rows"]
    ]
    printed = published_points(rows, "usd_per_task", "mean_task_score")
    ours = our_points("pi", [row["model_slug"] for row in rows])
    assert len(ours["combined"]) == 16
    assert frontier(ours[part]) == frontier(printed[part])


@pytest.mark.parametrize("point", PUBLISHED["points"], ids=lambda point: str(point["model_slug"]))
def test_each_published_point_is_reproduced_at_the_price_of_its_day(point: Json) -> None:
    slug = point["model_slug"]
    cell = figures.cell("pi", "swe3", V1, slug)
    assert prints_as(cell.mean_score, point["mean_task_score"])
    assert cell.completed == point["completed"]
    assert cell.unscored_tasks == sorted(point.get("excluded_tasks", []))
    if slug in OWN_MACHINE:
        # Priced by sweeps on g6e.12xlarge; today's published tables price them on an H200, as we do.
        return
    cost = cell.cost_per_task(figures.rates(p5en=41.1424))
    digits = 2 if point["hosting"] == "Bedrock" else 4
    assert prints_as(cost, point["usd_per_task"], digits)


@pytest.mark.parametrize("part", ["combined", "bedrock", "self_hosted"])
def test_claude_code_on_swe3_has_the_frontier_of_the_published_comparison_at_its_prices(part: str) -> None:
    rows = COMPARISON["claude-code"]
    ours = our_points("claude-code", [row["model_slug"] for row in rows], p5en=41.1424)
    printed = published_points(rows, "usd_per_task", "mean_task_score")
    assert len(ours["combined"]) == 12
    assert frontier(ours[part]) == frontier(printed[part]) == by_brute_force(printed[part])


@pytest.mark.parametrize("part", ["combined", "bedrock", "self_hosted"])
def test_claude_code_on_swe3_has_the_frontier_of_the_published_report_at_three_year_prices(part: str) -> None:
    run_costs = {slug: float(dollars) for skill, slug, dollars in REPORT if skill == "swe3"}
    rows = [{**row, "usd_per_task": run_costs[row["model_slug"]] / 5} for row in COMPARISON["claude-code"]]
    ours = our_points("claude-code", run_costs)
    printed = published_points(rows, "usd_per_task", "mean_task_score")
    assert frontier(ours[part]) == frontier(printed[part]) == by_brute_force(printed[part])


@pytest.mark.parametrize("part", ["combined", "bedrock", "self_hosted"])
def test_our_rule_gives_the_published_frontiers_from_the_published_points(part: str) -> None:
    newer = published_points(PUBLISHED["points"], "usd_per_task", "mean_task_score")
    assert frontier(newer[part]) == PUBLISHED["frontier"][part]
    older = published_points(OLDER["points"], "mean_cost_per_task", "mean_score")
    assert frontier(older[part]) == OLDER[f"{part}_frontier"]


OMP = """
opus-5 82.83 11.9543 B; opus-5-5 81.16 4.44 B; glm-5.3 80.11 7.0397 S; kimi-k3 79.17 4.331 S;
qwen3.8-27b 78.48 1.4738 S; sonnet-5 76.97 4.6715 B; opus-4-7 75.6 7.3514 B; opus-4-8 74.69 5.32 B;
kimi-k3-bedrock 72.87 3.87 B; opus-4-6-v1 70.64 4.95 B; kimi-k2.7-code 69.13 2.4709 S; opus-4-5 66.32 4.18 B;
deepseek-v3.2 61.66 2.1485 S; minimax-m3 60.51 3.5108 S; gemma-4-31b 59.74 0.8708 S;
qwen3.6-35b 59.24 0.2594 S; haiku-4-5 56.18 0.7648 B; minimax-m2.5 55.94 0.4765 S; devstral 51.15 0.7862 S;
minicpm5-2b 42.59 0.3993 S; qwen3-coder-30b 42.58 0.4733 S
"""


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("BS", "qwen3.6-35b gemma-4-31b qwen3.8-27b kimi-k3 opus-5-5 opus-5"),
        ("B", "haiku-4-5 kimi-k3-bedrock opus-5-5 opus-5"),
        ("S", "qwen3.6-35b gemma-4-31b qwen3.8-27b kimi-k3 glm-5.3"),
    ],
)
def test_the_frontiers_of_the_21_task_scope_follow_from_their_points(letters: str, expected: str) -> None:
    rows = [entry.split() for entry in OMP.split(";")]
    points = [(slug, float(cost), float(score)) for slug, score, cost, letter in rows if letter in letters]
    assert frontier(points) == expected.split()
    assert by_brute_force(points) == expected.split()
