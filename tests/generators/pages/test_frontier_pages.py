"""Pages on the frontier, by complexity and on statistics say what the committed data say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generators.pages import complexity, frontier, links, statistics, words
from generators.pages.rendering import Renderer
from generators.pages.world import World
from generators.reference import load_reference
from generators.tables.comparisons import standings
from tests.generators.committed import committed_world
from tests.generators.pages.shown import Row, Shown
from tests.generators.tables.made import ROOT

MAIN = links.frontier_page("swe3", "mcp-gateway-registry")
TIERED = links.complexity_page("swe3", "mcp-gateway-registry-v2")


@pytest.fixture(scope="module")
def world() -> World:
    """The committed results with what the simulation found."""
    return replace(committed_world(), reference=load_reference(ROOT / "site_src"))


@pytest.fixture(scope="module")
def pages(world: World) -> dict[str, Shown]:
    """The pages of the three kinds."""
    renderer = Renderer()
    made = [*frontier.pages(world), *complexity.pages(world), *statistics.pages(world)]
    return {page.path: Shown(page, renderer.render(page)) for page in made}


def by_name(rows: list[Row], column: str) -> dict[str, Row]:
    """Rows by the first word of a column."""
    return {row[column].split()[0]: row for row in rows}


def test_the_page_holds_every_cell_and_not_one_for_each_model(pages: dict[str, Shown], world: World) -> None:
    board = world.skill_boards[0][1]
    rows = pages[MAIN].table("Every cell with its place")
    assert len(rows) == len(board.cells)
    assert len({row["Cell"].split()[0] for row in rows}) < len(rows)


def test_membership_is_said_within_a_basis_and_across_as_directional(
    pages: dict[str, Shown], world: World
) -> None:
    board = world.skill_boards[0][1]
    rows = pages[MAIN].table("Every cell with its place")
    places = sorted(board.placements, key=lambda place: (-place.membership, place.cost, place.cell.key))
    for row, place in zip(rows, places, strict=False):
        assert row["Membership"] == words.percent(place.membership)
        assert row["Across bases"] == f"{words.percent(place.membership_across)} directional"
        assert place.on_basis_frontier == (row["Frontier of its basis"] == "on it")


def test_the_static_chart_draws_membership_as_length(pages: dict[str, Shown]) -> None:
    assert pages[MAIN].source.count('hm-arc" d="M') >= 2
    assert "arc: probability of being on that frontier" in pages[MAIN].body.text


def test_the_published_choice_stands_beside_what_we_conclude(pages: dict[str, Shown]) -> None:
    rows = by_name(pages[MAIN].table("Best harness by the published rule, all harnesses"), "Model")
    opus = rows["claude-opus-4-8"]
    assert opus["Chosen by the published rule"] == "pi"
    assert opus["Decided by"] == "cost per point"
    assert "60.7 (5 of 5) at $4.60 (5 of 5), $0.0758 a point" in opus["Its score and cost"]
    assert "claude-code, 69.2 (5 of 5) at $9.90 (5 of 5), $0.14 a point" in opus["Instead of"]
    assert opus["Our verdict on the scores"].startswith("not enough data")


def test_the_published_prices_of_a_point_stand_beside_our_verdict(pages: dict[str, Shown]) -> None:
    rows = pages[TIERED].table("Dollars for one more point, by tier")
    step = next(
        row
        for row in rows
        if (row["From"], row["To the next dearer"]) == ("claude-sonnet-5", "claude-opus-5")
    )
    found = [step[f"A point more, {tier}"].split()[0] for tier in ("trivial", "low", "medium", "high")]
    assert found == ["$0.40", "$0.86", "$0.69", "$0.82"]
    assert step["Our verdict on the scores"]
    gaps = pages[TIERED].table("Score gained from one cell to the next dearer one")
    gap = next(
        row
        for row in gaps
        if (row["From"], row["To the next dearer"]) == ("claude-sonnet-5", "claude-opus-5")
    )
    assert gap["Explained by tier"] == "6 %"
    assert "95 %: " in gap["Mean score gained"]


def test_the_statistics_page_counts_what_the_data_can_decide(pages: dict[str, Shown], world: World) -> None:
    rows = pages[links.STATISTICS].table("What the present data can decide")
    assert len(rows) == len(world.skill_boards)
    for skill, board in world.skill_boards:
        row = next(each for each in rows if each["Skill and dataset"] == f"{skill} on {board.dataset}")
        standing = standings(board, world.repositories.get(board.dataset))
        assert row["Neighbours told apart"] == "{} of {}".format(*standing.neighbours)
        assert row["Pairs told apart"] == "{} of {}".format(*standing.separable)
    main = rows[0]
    assert main["Neighbours told apart"] == "0 of 32"
    assert main["Detectable now"] == "none fewer than 6 common tasks"
    assert float(main["With 10 tasks"]) > float(main["With 21 tasks"]) > float(main["With 50 tasks"])


def test_five_tasks_claim_no_bar_and_no_tested_membership(pages: dict[str, Shown]) -> None:
    shown = pages["complexity/swe3_mcp-gateway-registry-v2.md"]
    assert shown.headings[1:3] == ["Cheapest cell that clears a bar", "Scores by tier"]
    rows = shown.table("Cheapest cell that clears a bar, by tier")
    sixty = next(row for row in rows if row["Bar"] == "60 points" and row["Cost basis"] == "metered")
    assert "not enough data: 6 tasks are the fewest for a claim" in sixty["Tier high"]
    assert "its whole interval clears it" in sixty["Tier medium"]
    assert "untested below 20 tasks: with 5 tasks" in pages[MAIN].body.text
    assert "untested below" not in pages["frontier/swe3_mcp-gateway-registry-v2.md"].body.text


@pytest.mark.parametrize(
    ("model", "score", "cost"),
    [("haiku-4-5", "57.3", "$0.54"), ("sonnet-5", "72.5", "$2.31"), ("opus-5", "77.6", "$5.83")],
)
def test_beside_the_tiers_stands_the_mean_over_all_tasks(
    pages: dict[str, Shown], model: str, score: str, cost: str
) -> None:
    shown = pages["complexity/swe3_mcp-gateway-registry-v2.md"]
    for label, column, said in (
        ("Mean score by tier", "Mean score, all tasks", score),
        ("Cost per task by tier", "Cost, all tasks", cost),
    ):
        [row] = [
            each
            for each in shown.table(label)
            if each["Cell"].startswith(f"claude-{model}") and "pi" in each["Harness"]
        ]
        assert row[column].startswith(said)


def test_a_point_that_costs_less_has_no_negative_price(pages: dict[str, Shown]) -> None:
    assert [path for path, shown in pages.items() if "$-" in shown.source] == []
    rows = pages["complexity/swe3_mcp-gateway-registry-v2.md"].table("Dollars for one more point, by tier")
    row = next(each for each in rows if each["From"] == "claude-haiku-4-5" and "strands" in each["Harness"])
    assert row["A point more, trivial"].startswith("free the dearer one of all tasks costs no more here")
    assert row["A point more, high"].startswith("$0.0558")


def test_an_interval_that_pages_show_is_told_from_one_for_comparison(pages: dict[str, Shown]) -> None:
    rows = pages[links.STATISTICS].table("Coverage and mean width of nominal 95 % intervals")
    said = {(row["Interval"], row["Of"]) for row in rows}
    assert ("Wilson shown, promised", "rate") in said
    assert ("t shown, nothing promised", "mean score") in said
    assert ("bootstrap-t shown, nothing promised", "cost difference") in said
    assert ("t for comparison, not shown", "mean cost") in said


def test_membership_that_holds_only_over_boards_of_all_sizes_says_how_far_one_size_is_off(
    pages: dict[str, Shown],
) -> None:
    text = pages[links.STATISTICS].body.text
    assert "at worst 63 % was stated where 76 % was true (made checks, 21 tasks, boards of 20 cells" in text


def test_the_statistics_page_shows_every_promise_of_the_simulation(
    pages: dict[str, Shown], world: World
) -> None:
    measured = world.reference.statistics
    assert measured is not None
    rows = pages[links.STATISTICS].table("What the methods promise")
    assert [row["Promise"] for row in rows] == [each.name for each in measured.criteria]
    assert [row["Holds"] for row in rows] == ["yes" if each.holds else "no" for each in measured.criteria]
    assert f"(seed {measured.seed};" in pages[links.STATISTICS].body.text


def test_without_a_simulation_the_page_says_how_to_run_it(world: World) -> None:
    bare = replace(world, reference=replace(world.reference, statistics=None))
    (page,) = statistics.pages(bare)
    assert "No simulation has been run" in Renderer().render(page)
