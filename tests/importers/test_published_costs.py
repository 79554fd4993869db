"""What the indexes say about dollars is what the committed records say."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import costs_of
from runner.importers.published.money import credits_in
from runner.records import CostBasis
from tests.importers import figures
from tests.importers.lookup import (
    EFS,
    ENV,
    FAISS,
    SSRF,
    record,
    text,
    with_code,
)


class TestCost:
    """Dollars."""

    def test_the_basis_follows_from_who_was_billed(self) -> None:
        bases = {
            (found.record.identity.cell.provider, cost.basis)
            for found in figures.committed()
            for cost in found.record.costs
        }
        assert bases == {
            ("bedrock", CostBasis.METERED),
            ("endpoint", CostBasis.NOTIONAL),
            ("kiro", CostBasis.CREDITS),
        }

    def test_a_zero_is_never_a_cost(self) -> None:
        assert all(cost.amount_usd != 0 for found in figures.committed() for cost in found.record.costs)
        assert len(with_code("zero-cost-is-unknown")) == 15
        trial = record("pi", "swe3", "kimi-k2.7-code", FAISS)
        assert trial.costs == ()
        assert "several invocations" in text(trial, "zero-cost-is-unknown")

    def test_a_missing_bill_is_unknown_and_says_so(self) -> None:
        (trial,) = [
            found.record
            for found in figures.cell("strands", "swe3", "hello-world-sanity", "claude-opus-4-8").trials
        ]
        (cost,) = trial.costs
        assert (cost.basis, cost.amount_usd) == (CostBasis.METERED, None)
        assert "bills for tokens" in (cost.missing_reason or "")
        assert costs_of(trial, figures.pricing()).headline.amount_usd is None

    def test_the_list_price_of_a_self_hosted_run_never_becomes_its_cost(self) -> None:
        trial = record("claude-code", "swe3", "glm-5.2", FAISS)
        assert trial.costs[0].amount_usd == pytest.approx(253.41382)
        found = costs_of(trial, figures.pricing()).headline
        assert found.basis is CostBasis.HARDWARE_DERIVED
        assert found.amount_usd == pytest.approx(24.26, abs=0.005)
        assert text(trial, "notional-price").startswith("253.41 USD")
        assert len(with_code("notional-price")) == 92

    def test_kiro_costs_are_credits_at_4_cents(self) -> None:
        (cost,) = record("kiro-cli", "swe3", "claude-haiku-4-5", FAISS).costs
        assert (cost.amount_usd, cost.credits_used) == (0.246, 6.15)
        assert "0.04 USD per credit" in cost.source
        assert "credits_used" not in cost.source

    def test_the_credits_that_the_source_leaves_out_follow_from_its_dollars(self) -> None:
        (cost,) = record("kiro-cli", "swe3", "claude-opus-5", FAISS).costs
        assert cost.credits_used is not None
        assert cost.amount_usd is not None
        assert round(cost.credits_used * 100) * 4 == round(cost.amount_usd * 10_000)
        assert "credits_used: the amount over that price" in cost.source
        kiro = [
            found.record.costs[0]
            for found in figures.committed()
            if found.record.identity.cell.provider == "kiro"
        ]
        assert [each for each in kiro if each.amount_usd is not None and each.credits_used is None] == []
        assert len(kiro) == 25

    @pytest.mark.parametrize(
        ("amount", "used"),
        [(0.246, 6.15), (9.4856, 237.14), (1.32, 33.0), (0.0004, 0.01), (0.0, 0.0)],
    )
    def test_an_amount_of_whole_hundredths_of_a_credit_gives_them_exactly(
        self, amount: float, used: float
    ) -> None:
        assert credits_in(amount) == used

    @pytest.mark.parametrize("amount", [None, 0.0005, 0.24601, 1 / 3, 0.24600001])
    def test_no_credits_are_made_up_of_an_amount_that_is_none_of_them(self, amount: float | None) -> None:
        assert credits_in(amount) is None

    @given(st.integers(0, 10**9))
    def test_credits_survive_the_way_to_dollars_and_back(self, hundredths: int) -> None:
        assert credits_in(float(Decimal(hundredths) * Decimal("0.0004"))) == hundredths / 100

    @pytest.mark.parametrize(
        ("skill", "slug", "task", "factor"),
        [
            ("swe2", "claude-opus-5", EFS, "5.13"),
            ("swe2", "claude-opus-5", FAISS, "10.77"),
            ("swe3", "claude-opus-4-8", FAISS, "1.05"),
            ("swe2", "kimi-k2.7-code", SSRF, "57.84"),
        ],
    )
    def test_a_cost_above_what_tokens_explain_says_the_factor(
        self, skill: str, slug: str, task: str, factor: str
    ) -> None:
        assert f"a factor of {factor}." in text(record("claude-code", skill, slug, task), "cost-above-tokens")

    def test_costs_that_tokens_explain_are_not_doubted(self) -> None:
        doubted = {trial.identity.cell.harness for trial in with_code("cost-above-tokens")}
        assert doubted == {"claude-code"}
        assert len(with_code("cost-above-tokens")) == 68
        swe3 = [trial for trial in with_code("cost-above-tokens") if trial.identity.cell.skill == "swe3"]
        assert sorted((trial.identity.cell.model.slug, trial.identity.task) for trial in swe3) == [
            ("claude-opus-4-8", ENV),
            ("claude-opus-4-8", FAISS),
            ("claude-opus-4-8", SSRF),
            ("claude-sonnet-5", SSRF),
        ]

    def test_a_metered_cost_at_the_agents_default_price_is_doubted(self) -> None:
        assert {trial.identity.cell.model.slug for trial in with_code("metered-at-default-price")} == {
            "grok-4.6"
        }
        trial = record("pi", "swe3", "grok-4.6", SSRF)
        assert "5.14 USD per million tokens" in text(trial, "uncached-run")

    def test_a_model_billed_at_several_prices_is_marked_in_all_its_cells(self) -> None:
        slugs = {trial.identity.cell.model.slug for trial in with_code("price-differs-between-cells")}
        assert slugs == {"claude-sonnet-5", "claude-haiku-4-5"}
