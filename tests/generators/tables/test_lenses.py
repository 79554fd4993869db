"""The published selections come out of the records, and beside each stands what the policy says."""

from __future__ import annotations

import pytest

from generators.statistics.published_rules import DecidedBy
from generators.statistics.verdict import Word
from generators.tables.cells import Cell
from generators.tables.comparisons import compare_cells
from generators.tables.lenses import (
    harness_choices,
    model_gap,
    prices_of_a_point,
    tier_rows,
)
from generators.tables.pairs import HarnessPair, harness_pairs
from tests.generators.tables.made import aliases, committed

ORDER = ("trivial", "low", "medium", "high")


@pytest.fixture(scope="module")
def published() -> list[Cell]:
    """Cells of the committed store."""
    return committed()


@pytest.fixture(scope="module")
def pair(published: list[Cell]) -> HarnessPair:
    """The two harnesses with the twelve models of the published comparison."""
    return next(
        each
        for each in harness_pairs(published, aliases())
        if (each.first, each.second, each.skill, each.dataset)
        == ("claude-code", "pi", "swe3", "mcp-gateway-registry")
    )


@pytest.fixture(scope="module")
def tiered(published: list[Cell]) -> list[Cell]:
    """The three models of the published tier tables."""
    return [
        cell
        for cell in published
        if (cell.identity.dataset, cell.identity.harness) == ("mcp-gateway-registry-v2", "pi")
    ]


def tiers(cell: Cell) -> dict[str, str]:
    """Published tier of each task, ascending."""
    known = {trial.task: trial.complexity or "" for trial in cell.counted}
    return dict(sorted(known.items(), key=lambda item: ORDER.index(item[1])))


def by_model(cells: list[Cell], slug: str) -> Cell:
    """The cell of a model."""
    return next(cell for cell in cells if cell.identity.model.slug == slug)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [("score", (5, 6, 1)), ("cost", (0, 12, 0)), ("tokens", (0, 12, 0)), ("minutes", (2, 10, 0))],
)
def test_the_published_win_tally_comes_out_of_the_records(
    pair: HarnessPair, measure: str, expected: tuple[int, int, int]
) -> None:
    found = pair.tally(measure)
    assert (found.first, found.second, found.ties) == expected


def test_the_policy_finds_not_enough_data_in_all_twelve(pair: HarnessPair) -> None:
    found = compare_cells([(model.first, model.second) for model in pair.models])
    assert len(found) == 12
    for each in found:
        assert each.verdict is not None
        assert each.verdict.word is Word.NOT_ENOUGH
        assert each.verdict.deciding_number <= 5
        assert "more common task" in each.verdict.what_would_decide


@pytest.mark.parametrize(
    ("model", "decided"),
    [
        ("claude-opus-4-8", DecidedBy.COST_PER_POINT),
        ("claude-sonnet-5", DecidedBy.COST_PER_POINT),
        ("claude-haiku-4-5", DecidedBy.DOMINATES),
    ],
)
def test_the_published_best_harnesses_come_out_of_the_records(
    published: list[Cell], model: str, decided: DecidedBy
) -> None:
    two = [
        cell
        for cell in published
        if (cell.identity.skill, cell.identity.dataset) == ("swe3", "mcp-gateway-registry")
        and cell.identity.harness in {"claude-code", "pi"}
    ]
    choice = next(each for each in harness_choices(two, aliases()) if each.model == model)
    assert (choice.winner.identity.harness, choice.decided_by) == ("pi", decided)
    (beside,) = choice.compared
    assert beside.verdict is not None
    assert beside.verdict.word is Word.NOT_ENOUGH


def test_a_third_harness_on_another_basis_changes_the_published_rules_choice(published: list[Cell]) -> None:
    all_of_them = [
        cell
        for cell in published
        if (cell.identity.skill, cell.identity.dataset) == ("swe3", "mcp-gateway-registry")
    ]
    choices = {each.model: each for each in harness_choices(all_of_them, aliases())}
    assert choices["claude-opus-5"].winner.identity.harness == "kiro-cli"
    assert len(choices["claude-opus-5"].compared) == 2
    assert choices["gemma-4-31b"].decided_by is DecidedBy.ONLY_ONE


def test_the_published_tier_means_come_out_of_the_records(tiered: list[Cell]) -> None:
    rows = tier_rows(tiered, tiers(tiered[0]))
    assert [row.cell.identity.model.slug for row in rows] == [
        "claude-haiku-4-5",
        "claude-sonnet-5",
        "claude-opus-5",
    ]
    scores = [[round(row.scores[tier].mean, 2) for tier in ORDER] for row in rows]
    assert scores == [
        [54.80, 65.36, 56.53, 52.48],
        [73.64, 76.52, 73.57, 66.20],
        [79.04, 79.92, 77.93, 73.52],
    ]
    costs = [[round(row.costs[tier].mean, 2) for tier in ORDER] for row in rows]
    assert costs == [[0.33, 0.49, 0.63, 0.68], [0.72, 1.18, 2.09, 5.32], [2.88, 4.11, 5.11, 11.34]]
    assert [rows[0].scores[tier].m for tier in ORDER] == [5, 5, 6, 5]


def test_the_published_prices_of_a_point_come_out(tiered: list[Cell]) -> None:
    rows = tier_rows(tiered, tiers(tiered[0]))
    first, second = prices_of_a_point(rows)
    assert [first[2][tier] for tier in ORDER] == pytest.approx([0.021, 0.062, 0.086, 0.338], abs=1e-3)
    assert [second[2][tier] for tier in ORDER] == pytest.approx([0.400, 0.862, 0.693, 0.822], abs=4e-3)


def test_tiers_explain_six_per_cent_of_the_published_gap(tiered: list[Cell]) -> None:
    gap = model_gap(by_model(tiered, "claude-opus-5"), by_model(tiered, "claude-sonnet-5"), tiers(tiered[0]))
    assert gap.explained == pytest.approx(0.06, abs=0.005)
    assert len(gap.differences) == 21
    amounts = [amount for _, amount in gap.differences]
    assert amounts == sorted(amounts, reverse=True)
    assert gap.compared.verdict is not None
    assert (gap.compared.verdict.word, gap.compared.better) == (
        Word.BETTER,
        by_model(tiered, "claude-opus-5"),
    )
