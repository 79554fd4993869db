"""Differences of cost, time and tokens: paired, marked across bases, and claimed only where data carry it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.statistics.intervals import Interval
from generators.statistics.paired import PairedMean
from generators.statistics.verdict import Word
from generators.tables.cells import Cell
from generators.tables.differences import AMOUNTS, AmountDifference, amount_difference, conclude, graded_means
from runner.records import CostBasis
from tests.generators.tables import compare_made
from tests.generators.tables.made import Made, cells


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Cell]:
    """Cells of the made store by model and harness."""
    world = compare_made.world(tmp_path_factory.mktemp("differences"))
    return {(cell.identity.model.slug, cell.identity.harness): cell for cell in world.cells}


def test_the_difference_is_paired_and_turns_its_sign(made: dict[tuple[str, str], Cell]) -> None:
    one, two = made["strong", "loop"], made["twin", "loop"]
    for measure in AMOUNTS:
        there, back = amount_difference(one, two, measure), amount_difference(two, one, measure)
        assert there.means is not None
        assert back.means is not None
        assert there.means.difference == pytest.approx(-back.means.difference)
        assert there.p_value == back.p_value
    cost = amount_difference(one, two, "cost")
    assert cost.means is not None
    assert cost.means.difference == pytest.approx(1.5)
    assert (cost.apart, cost.reason, cost.tasks) == (None, "", 8)


def test_costs_of_different_bases_keep_the_mark_and_conclude_nothing(
    made: dict[tuple[str, str], Cell],
) -> None:
    found = amount_difference(made["strong", "loop"], made["strong", "pi"], "cost")
    assert found.apart == (CostBasis.METERED, CostBasis.CREDITS)
    assert found.means is not None
    assert found.tasks == 4
    (conclusion,) = conclude([found])
    assert (conclusion.word, conclusion.lower) == (Word.NOT_ENOUGH, None)
    assert conclusion.number == "costs rest on different bases"
    assert amount_difference(made["strong", "loop"], made["strong", "pi"], "minutes").apart is None


def test_without_a_common_task_there_is_no_difference(tmp_path: Path) -> None:
    one, two = cells(
        tmp_path,
        [
            Made("task-a", cell=compare_made.cell("one")),
            Made("task-b", cell=compare_made.cell("two")),
        ],
    )
    found = amount_difference(one, two, "cost")
    assert (found.means, found.interval, found.tasks) == (None, None, 0)
    assert found.reason == "no common task has it for both"


def test_an_unscored_task_enters_no_amount(tmp_path: Path) -> None:
    (cell,) = cells(tmp_path, [Made("task-a"), Made("task-b", None)])
    assert set(graded_means(cell, "cost")) == {"task-a"}


def test_where_nobody_judges_checked_tasks_count(tmp_path: Path) -> None:
    (cell,) = cells(tmp_path, compare_made.checked(compare_made.cell("model-c"), 3))
    assert len(graded_means(cell, "minutes")) == 8


def row(
    difference: float, p_value: float | None, ends: tuple[float, float] | None, tasks: int = 8
) -> AmountDifference:
    """A row of a table."""
    lower, upper = ends or (None, None)
    return AmountDifference(
        "cost",
        PairedMean(1.0 + difference, 1.0, difference, tasks),
        Interval(difference, lower, upper, tasks),
        p_value,
    )


def test_what_needs_less_is_better_only_with_both_p_and_interval() -> None:
    found = conclude([row(-1.0, 0.01, (-2.0, -0.5))])
    assert (found[0].word, found[0].lower) == (Word.BETTER, "first")
    assert conclude([row(1.0, 0.01, (0.5, 2.0))])[0].lower == "second"
    assert conclude([row(-1.0, 0.01, (-2.0, 0.5))])[0].word is Word.NOT_ENOUGH
    assert conclude([row(-1.0, 0.2, (-2.0, -0.5))])[0].word is Word.NOT_ENOUGH


def test_differences_that_are_all_alike_have_no_ends_and_their_sign_decides() -> None:
    assert conclude([row(-1.0, 0.01, None)])[0].word is Word.BETTER
    assert conclude([row(0.0, 1.0, None)])[0].word is Word.NOT_ENOUGH


def test_the_number_of_rows_counts_and_rows_that_can_claim_nothing_do_not() -> None:
    able, short = row(-1.0, 0.03, (-2.0, -0.5)), row(-1.0, None, (-2.0, -0.5), tasks=5)
    assert conclude([able, short])[0].word is Word.BETTER
    assert [each.word for each in conclude([able, able])] == [Word.NOT_ENOUGH] * 2
    assert conclude([able, short])[1].number == "5 common tasks, limit 6"
    assert conclude([row(-1.0, 1e-6, (-2.0, -0.5))])[0].number == "adjusted p < 0.001"


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_more_rows_never_make_a_claim(p_values: list[float]) -> None:
    alone = [conclude([row(-1.0, p, (-2.0, -0.5))])[0].word for p in p_values]
    together = [each.word for each in conclude([row(-1.0, p, (-2.0, -0.5)) for p in p_values])]
    assert all(word is Word.NOT_ENOUGH or alone[place] is Word.BETTER for place, word in enumerate(together))
