"""The one rule that says what a trial cost."""

from __future__ import annotations

import pytest

from runner.costs import HardwareRates, PriceBook, Pricing, costs_of, hardware_cost, tokens_processed
from runner.records import Cost, CostBasis, Hosting, Serving, TrialRecord, Usage
from runner.records.usage import CacheSemantics, SemanticsDecision
from tests import examples
from tests.costs.test_hardware import PRICES, sweep

RATES = Pricing(PriceBook(), HardwareRates([sweep("model-a")], PRICES))
USAGE = Usage(
    input_tokens=8_000_000,
    output_tokens=50_000,
    cache_semantics=CacheSemantics.PARTITION,
    semantics_decided_by=SemanticsDecision.ADAPTER,
)


def cost(basis: CostBasis, amount: float | None = 1.0) -> Cost:
    """A cost on one basis."""
    return Cost(
        basis=basis, amount_usd=amount, source="test", missing_reason=None if amount is not None else "why"
    )


def trial(hosting: Hosting, *costs: Cost, usage: Usage | None = USAGE) -> TrialRecord:
    """A trial of model-a with these costs."""
    return examples.trial().model_copy(
        update={
            "serving": Serving(hosting=hosting, instance_type="big.48xlarge", tensor_parallel_size=8),
            "costs": costs,
            "usage": usage,
        }
    )


def headline(record: TrialRecord) -> Cost:
    """What the trial cost by the rule."""
    return costs_of(record, RATES).headline


def test_a_bill_comes_before_credits_and_a_calculation() -> None:
    listed = (cost(CostBasis.PRICE_TABLE, 3.0), cost(CostBasis.CREDITS, 2.0), cost(CostBasis.METERED, 1.0))
    for count, expected in ((3, CostBasis.METERED), (2, CostBasis.CREDITS), (1, CostBasis.PRICE_TABLE)):
        assert headline(trial(Hosting.CLOUD, *listed[:count])).basis is expected


def test_an_unknown_bill_gives_way_to_a_known_calculation() -> None:
    found = headline(trial(Hosting.CLOUD, cost(CostBasis.METERED, None), cost(CostBasis.PRICE_TABLE, 3.0)))
    assert (found.basis, found.amount_usd) == (CostBasis.PRICE_TABLE, 3.0)


def test_a_self_hosted_trial_costs_its_tokens_at_the_rate_of_its_deployment() -> None:
    found = headline(trial(Hosting.SELF_HOSTED))
    assert found.basis is CostBasis.HARDWARE_DERIVED
    assert found.amount_usd == pytest.approx(3.9064, abs=5e-5)
    assert found.price_as_of == PRICES.as_of
    assert "concurrency 5, commit_3yr price" in found.source


def test_a_notional_price_is_never_a_cost() -> None:
    notional = cost(CostBasis.NOTIONAL, 250.0)
    own = headline(trial(Hosting.SELF_HOSTED, notional))
    assert own.basis is CostBasis.HARDWARE_DERIVED
    elsewhere = headline(trial(Hosting.CLOUD, notional))
    assert elsewhere.amount_usd is None
    assert elsewhere.missing_reason


def test_a_cloud_run_of_a_model_that_was_also_swept_never_takes_the_rate_of_the_sweep() -> None:
    found = headline(trial(Hosting.CLOUD, cost(CostBasis.METERED, None)))
    assert (found.basis, found.amount_usd, found.missing_reason) == (CostBasis.METERED, None, "why")


@pytest.mark.parametrize("usage", [None, USAGE.model_copy(update={"output_tokens": None})])
def test_unknown_tokens_cost_an_unknown_amount_and_not_zero(usage: Usage | None) -> None:
    found = headline(trial(Hosting.SELF_HOSTED, usage=usage))
    assert tokens_processed(usage) is None
    assert found.amount_usd is None
    assert "tokens" in (found.missing_reason or "")


def test_a_model_without_a_sweep_costs_an_unknown_amount() -> None:
    found = hardware_cost(trial(Hosting.SELF_HOSTED), HardwareRates([], PRICES))
    assert found.amount_usd is None
    assert "no throughput sweep" in (found.missing_reason or "")


def test_other_hardware_is_noted_in_the_cost() -> None:
    elsewhere = trial(Hosting.SELF_HOSTED).model_copy(
        update={"serving": Serving(hosting=Hosting.SELF_HOSTED, instance_type="g6e.12xlarge")}
    )
    assert "run on g6e.12xlarge" in headline(elsewhere).source


def test_a_demonstration_costs_nothing_by_design() -> None:
    found = headline(trial(Hosting.BUILT_IN, cost(CostBasis.NONE, 0.0)))
    assert (found.basis, found.amount_usd) == (CostBasis.NONE, 0.0)


def test_nothing_recorded_is_unknown() -> None:
    found = headline(trial(Hosting.VENDOR_API))
    assert found.amount_usd is None
    assert found.missing_reason == "nothing was recorded about the cost"
