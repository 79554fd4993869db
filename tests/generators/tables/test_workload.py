"""What an agent's tokens are: each counted once, ratios over known counts only, a bill that adds up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.pages.world import World
from generators.sources import load_worlds
from generators.tables.workload import CLASSES, dearest_bill, token_classes, workloads
from runner.costs.tokens import tokens_processed
from runner.records import CacheSemantics, SemanticsDecision, Usage
from tests.generators.pages.shown import committed
from tests.generators.tables.made import ROOT

COUNTS = st.one_of(st.none(), st.integers(0, 10**9))
USAGES = st.builds(
    Usage,
    input_tokens=COUNTS,
    output_tokens=COUNTS,
    cache_read_tokens=COUNTS,
    cache_write_tokens=COUNTS,
    cache_semantics=st.sampled_from(list(CacheSemantics)),
    semantics_decided_by=st.just(SemanticsDecision.ADAPTER),
)


@pytest.fixture(scope="module")
def world() -> World:
    return load_worlds(ROOT / "results", ROOT / "datasets")[0]


@given(USAGES)
def test_classes_add_up_to_the_tokens_processed_or_are_unknown(usage: Usage) -> None:
    classes = token_classes(usage)
    if classes is None:
        counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        assert None in counts or usage.cache_semantics is CacheSemantics.UNKNOWN
        return
    cached = classes["cache read"] + classes["cache write"]
    if usage.cache_semantics is CacheSemantics.DISJOINT or cached <= (usage.input_tokens or 0):
        assert sum(classes.values()) == tokens_processed(usage)
    assert min(classes.values()) >= 0


def test_no_usage_has_no_classes() -> None:
    assert token_classes(None) is None


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
