"""Boards and pairs: what may be compared, and what must stand apart."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from generators.statistics.frontier import pareto_frontier
from generators.tables.boards import Board, build_boards
from generators.tables.cells import Cell
from generators.tables.pairs import HarnessPair, compare, harness_pairs
from runner.records import CostBasis
from tests import examples
from tests.generators.tables.made import Made, aliases, cells, committed
from tests.importers import figures


def made(model: str, task: str, points: int, cost: float | None = 1.0, **changes: object) -> Made:
    """A trial of a model with ``points`` on each criterion."""
    basis = changes.pop("basis", CostBasis.METERED)
    assert isinstance(basis, CostBasis)
    harness = str(changes.pop("harness", "loop"))
    rubric = str(changes.pop("rubric", "implementation-1"))
    digest = changes.pop("digest", None)
    assert digest is None or isinstance(digest, str)
    return Made(
        task,
        (points, points, points, points),
        cost,
        basis,
        rubric=rubric,
        digest=digest,
        cell=examples.cell(model, harness=harness),
    )


def board(tmp_path: Path, *trials: Made) -> Board:
    """The only board of a store with these trials."""
    (found,) = build_boards(cells(tmp_path, trials))
    return found


def names(found: list[Cell]) -> list[str]:
    """Model slugs."""
    return [cell.identity.model.slug for cell in found]


def test_each_basis_has_a_frontier_of_its_own(tmp_path: Path) -> None:
    found = board(
        tmp_path,
        made("cheap", "task-a", 10, 1.0),
        made("dear", "task-a", 8, 2.0),
        made("credits", "task-a", 5, 3.0, basis=CostBasis.CREDITS),
    )
    assert names([place.cell for place in found.frontier(CostBasis.METERED)]) == ["cheap"]
    assert names([place.cell for place in found.frontier(CostBasis.CREDITS)]) == ["credits"]
    assert names([place.cell for place in found.frontier(None)]) == ["cheap"]
    assert found.bases == (CostBasis.CREDITS, CostBasis.METERED)


def test_a_cell_without_a_cost_is_no_point_and_says_why(tmp_path: Path) -> None:
    found = board(tmp_path, made("known", "task-a", 10), made("unknown", "task-a", 20, None))
    assert names([place.cell for place in found.placements]) == ["known"]
    assert [(cell.identity.model.slug, reason) for cell, reason in found.unplaced] == [
        ("unknown", "cost: the gateway did not say")
    ]
    assert names(list(found.by_score)) == ["unknown", "known"]


def test_another_rubric_is_set_apart(tmp_path: Path) -> None:
    found = board(
        tmp_path,
        made("one", "task-a", 10),
        made("two", "task-a", 11),
        made("odd", "task-a", 25, rubric="older-1"),
    )
    assert names(list(found.cells)) == ["one", "two"]
    ((cell, reason),) = found.set_apart
    assert cell.identity.model.slug == "odd"
    assert "older-1" in reason


def test_another_version_of_the_dataset_is_set_apart(tmp_path: Path) -> None:
    found = board(
        tmp_path,
        made("one", "task-a", 10, digest="a" * 64),
        made("two", "task-a", 11, digest="a" * 64),
        made("odd", "task-a", 25, digest="b" * 64),
    )
    assert names([cell for cell, _ in found.set_apart]) == ["odd"]


def test_membership_is_within_a_basis(tmp_path: Path) -> None:
    found = board(
        tmp_path,
        made("best", "task-a", 20, 1.0),
        made("best", "task-b", 20, 1.0),
        made("worse", "task-a", 10, 2.0),
        made("worse", "task-b", 10, 2.0),
        made("apart", "task-a", 5, 9.0, basis=CostBasis.CREDITS),
        made("apart", "task-b", 5, 9.0, basis=CostBasis.CREDITS),
    )
    chances = {place.cell.identity.model.slug: place.membership for place in found.placements}
    assert chances == {"best": 1.0, "worse": 0.0, "apart": 1.0}


def test_membership_across_bases_is_kept_apart_from_that_within(tmp_path: Path) -> None:
    found = board(
        tmp_path,
        made("best", "task-a", 20, 1.0),
        made("best", "task-b", 20, 1.0),
        made("apart", "task-a", 5, 9.0, basis=CostBasis.CREDITS),
        made("apart", "task-b", 5, 9.0, basis=CostBasis.CREDITS),
    )
    chances = {place.cell.identity.model.slug: place for place in found.placements}
    assert (chances["apart"].membership, chances["apart"].membership_across) == (1.0, 0.0)
    assert chances["best"].membership_across == 1.0


@cache
def boards_of(harness: str, skill: str) -> dict[str, Board]:
    """Committed boards of a harness under a skill by dataset."""
    chosen = [
        cell for cell in committed() if cell.identity.harness == harness and cell.identity.skill == skill
    ]
    return {found.dataset: found for found in build_boards(chosen)}


def test_the_committed_frontier_of_pi_is_that_of_the_published_table() -> None:
    extra = figures.DATA / "pi" / "extra"
    rows = figures.read(extra / "published-table__pi__swe3__mcp-gateway-registry.json")["rows"]
    metered = [row for row in rows if row["cost_basis"] == "metered"]
    printed = pareto_frontier(
        [row["run_cost_usd"] / int(row["completed"][0]) for row in metered],
        [row["mean_task_score"] for row in metered],
    )
    found = boards_of("pi", "swe3")[figures.V1].frontier(CostBasis.METERED)
    assert names([place.cell for place in found]) == [metered[index]["model_slug"] for index in printed]


def test_a_point_estimate_on_the_frontier_is_seen_there_when_tasks_are_drawn_again() -> None:
    for found in boards_of("pi", "swe3").values():
        for place in found.placements:
            assert 0.0 <= place.membership <= 1.0
            if place.on_basis_frontier:
                assert place.membership > 0.2


def the_pair(first: str, second: str) -> HarnessPair:
    """The committed pair of two harnesses under swe3 on the first dataset."""
    return next(
        pair
        for pair in harness_pairs(committed(), aliases())
        if (pair.first, pair.second, pair.skill, pair.dataset) == (first, second, "swe3", figures.V1)
    )


def test_the_published_win_tally_follows_from_our_records() -> None:
    pair = the_pair("claude-code", "pi")
    published = figures.tables()["harness_delta"]
    assert len(pair.models) == published["n_models"] == 12
    for measure, key in (
        ("score", "mean_task_score"),
        ("cost", "usd_per_task"),
        ("minutes", "wall_clock_minutes"),
    ):
        printed = published["win_tally"][key]
        counts = pair.tally(measure)
        assert (counts.first, counts.second, counts.ties) == (
            printed["claude-code"],
            printed["pi"],
            printed["tie"],
        ), measure


def test_costs_of_different_bases_get_no_verdict() -> None:
    pair = the_pair("kiro-cli", "pi")
    assert all(model.measures["cost"].side is None for model in pair.models)
    assert all("different bases" in model.measures["cost"].reason for model in pair.models)
    assert pair.tally("cost").total == 0


def test_unknown_tokens_give_no_verdict() -> None:
    pair = the_pair("kiro-cli", "pi")
    assert all(model.measures["tokens"].side is None for model in pair.models)


def test_a_pair_rests_on_common_tasks_only(tmp_path: Path) -> None:
    first, second = cells(
        tmp_path,
        [
            made("m", "task-a", 10, harness="loop"),
            made("m", "task-b", 20, harness="loop"),
            made("m", "task-b", 15, harness="pi"),
            made("m", "task-c", 25, harness="pi"),
        ],
    )
    means = compare(first, second).measures["score"].means
    assert means is not None
    assert (means.first, means.second, means.tasks) == (80.0, 60.0, 1)


def test_different_rubrics_get_no_verdict_on_the_score(tmp_path: Path) -> None:
    first, second = cells(
        tmp_path,
        [made("m", "task-a", 10, harness="loop"), made("m", "task-a", 15, harness="pi", rubric="older-1")],
    )
    measured = compare(first, second).measures["score"]
    assert measured.side is None
    assert "rubrics" in measured.reason
