"""What an agent's tokens are: each counted once, ratios over known counts only, a bill that adds up."""

from __future__ import annotations

import pytest

from generators.pages.world import World
from generators.tables.workload import CLASSES, dearest_bill, workloads
from tests.generators.committed import committed_world
from tests.generators.pages.shown import committed


@pytest.fixture(scope="module")
def world() -> World:
    return committed_world()


def test_agents_read_far_more_than_they_write(world: World) -> None:
    found = {each.harness: each for each in workloads(world.cells)}
    for harness in ("claude-code", "pi"):
        ratio, share = found[harness].read_per_written, found[harness].cached_share
        assert (ratio.median or 0) > 50
        assert 0 < ratio.count <= found[harness].trials
        assert share.median is None or 0 < share.median < 1


def test_a_harness_that_tells_no_tokens_has_none_and_not_zero(world: World) -> None:
    found = {each.harness: each for each in workloads(world.cells)}["kiro-cli"]
    assert (found.tokens.median, found.tokens.count) == (None, 0)
    assert found.trials > 0


def test_the_bill_of_the_largest_trial_adds_up_to_its_price_table_cost(world: World) -> None:
    bill = dearest_bill(world.cells)
    assert bill is not None
    table = bill.trial.costs.table
    assert table is not None
    assert bill.total == pytest.approx(table.cost.amount_usd, abs=1e-6)
    assert bill.without_cache > bill.total
    assert set(bill.tokens) == set(CLASSES)


def test_the_methodology_page_shows_the_bill_with_basis_and_day() -> None:
    page = committed()["methodology/cost.md"]
    rows = next(
        rows for label, rows in page.tables() if label.startswith("One trial, class by class (price table, ")
    )
    assert [row["Tokens"] for row in rows] == ["Fresh input", "Cache read", "Cache write", "Output"]
    assert all("price table, " in row["Cost"] for row in rows)
    assert "Why an agent's work is bound by reading" in page.headings
