"""Dollars per token from a sweep and the price of its machine."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import (
    Commitment,
    HardwareRate,
    HardwareRates,
    InstancePrice,
    InstancePrices,
    LatencyLimit,
    MissingRate,
    blended_rate,
    cheapest_level,
    split_rates,
    wall_clock_cost,
)
from runner.records import Deployment, Hosting, Level, Quantiles, Serving, Source, ThroughputRecord

SWEEP = {
    1: (61.59, 6957.78, 1.09696),
    2: (128.21, 10800.29, 0.70458),
    5: (188.85, 15678.55, 0.48527),
    7: (177.18, 13399.76, 0.56714),
    10: (189.83, 15185.09, 0.50082),
    15: (175.99, 14375.66, 0.52915),
    20: (143.83, 14800.62, 0.51524),
}
"""Concurrency to output rate, prompt rate and dollars per million tokens at 27.72 USD an hour."""

LEVELS = tuple(
    Level(concurrency=level, output_tokens_per_second=output, prompt_tokens_per_second=prompt)
    for level, (output, prompt, _) in SWEEP.items()
)
TOKENS = 41_519_145
rates_of_use = st.floats(min_value=0.01, max_value=1e6)


def price_list(**rates: float) -> InstancePrices:
    """A list with one machine of 8 accelerators."""
    return InstancePrices(
        schema_version=1,
        currency="USD",
        region="us-east-1",
        as_of=date(2026, 9, 1),
        checked_on=date(2026, 9, 1),
        source=Source(repository="a/b", commit="0" * 40, path="prices.json", license="MIT-0"),
        instances={
            "big.48xlarge": InstancePrice(
                gpus=8,
                gpu="H200",
                usd_per_hour={Commitment(name): rate for name, rate in rates.items()},
            )
        },
        default_deployments={"model-b": "model-b-tp1"},
    )


def sweep(name: str = "model-a", sweep_id: str = "one", **changes: object) -> ThroughputRecord:
    """A sweep of the levels above on the whole machine."""
    parts: dict[str, object] = {
        "name": name,
        "model": name,
        "instance_type": "big.48xlarge",
        "instance_share": 1.0,
        **changes,
    }
    return ThroughputRecord(sweep_id=sweep_id, deployment=Deployment.model_validate(parts), levels=LEVELS)


PRICES = price_list(commit_3yr=27.72, commit_1yr=40.43, on_demand=63.296)


def rate_of(rate: HardwareRate | MissingRate) -> HardwareRate:
    """A rate that is there."""
    assert isinstance(rate, HardwareRate), rate
    return rate


def test_a_rate_per_token_is_dollars_a_second_by_tokens_a_second() -> None:
    rate = blended_rate(27.72, 15_867 - 188.85, 188.85)
    assert rate == pytest.approx(4.85284e-7, rel=1e-5)
    assert pytest.approx(2616.7, abs=0.05) == TOKENS / 15_867
    assert rate * TOKENS == pytest.approx(20.15, abs=0.005)


@pytest.mark.parametrize(("hourly", "dollars"), [(27.72, 20.15), (40.43, 29.39), (63.296, 46.01)])
def test_the_same_run_at_other_commitments(hourly: float, dollars: float) -> None:
    assert blended_rate(hourly, 15_867, 0) * TOKENS == pytest.approx(dollars, abs=0.005)


def test_the_same_run_at_the_slow_level_costs_more_than_twice_as_much() -> None:
    assert blended_rate(27.72, 7_019, 0) * TOKENS == pytest.approx(45.55, abs=0.005)


def test_the_rejected_wall_clock_lens_would_say_48_dollars() -> None:
    assert wall_clock_cost(6_288, 27.72) == pytest.approx(48.42, abs=0.005)


def test_split_rates_price_output_above_input() -> None:
    split = split_rates(27.72, 15_678.55, 188.85)
    blended = blended_rate(27.72, 15_678.55, 188.85)
    assert blended == pytest.approx(4.85272e-7, rel=1e-5)
    assert split.output_usd == pytest.approx(1.874169e-6, rel=1e-6)
    assert split.input_usd == pytest.approx(4.685423e-7, rel=1e-6)
    assert 8_050_000 * blended == pytest.approx(3.9064, abs=5e-5)
    assert 8_000_000 * split.input_usd + 50_000 * split.output_usd == pytest.approx(3.8420, abs=5e-5)


@pytest.mark.parametrize("level", SWEEP)
def test_dollars_per_million_at_each_level(level: int) -> None:
    output, prompt, expected = SWEEP[level]
    assert blended_rate(27.72, prompt, output) * 1e6 == pytest.approx(expected, abs=5e-6)


def test_the_cheapest_level_is_not_the_one_with_the_most_output() -> None:
    found = cheapest_level(LEVELS, 27.72)
    assert found is not None
    assert found[0].concurrency == 5
    assert max(LEVELS, key=lambda level: level.output_tokens_per_second or 0).concurrency == 10


def test_of_equal_rates_the_lower_concurrency_wins() -> None:
    equal = [
        level.model_copy(update={"concurrency": number}) for number, level in enumerate(LEVELS[:1] * 3, 1)
    ]
    found = cheapest_level(list(reversed(equal)), 1.0)
    assert found is not None
    assert found[0].concurrency == 1


def test_a_latency_limit_rules_levels_out_and_an_unknown_latency_keeps_none() -> None:
    fast = LEVELS[0].model_copy(update={"ttft_ms_upper": Quantiles(p90=2_000.0), "tpot_ms_mean": 11.0})
    slow = LEVELS[2].model_copy(update={"ttft_ms_upper": Quantiles(p90=20_000.0), "tpot_ms_mean": 53.0})
    for limit in (LatencyLimit(ttft_p90_ms=5_000), LatencyLimit(tpot_mean_ms=11.0)):
        found = cheapest_level((fast, slow, LEVELS[3]), 27.72, limit)
        assert found is not None
        assert found[0].concurrency == 1
    assert cheapest_level((slow, LEVELS[3]), 27.72, LatencyLimit(ttft_p90_ms=100)) is None


def test_levels_without_both_throughputs_have_no_rate() -> None:
    half = [level.model_copy(update={"prompt_tokens_per_second": None}) for level in LEVELS]
    idle = [
        Level(concurrency=1, prompt_tokens_per_second=0.0, output_tokens_per_second=0.0),
    ]
    assert cheapest_level([*half, *idle], 1.0) is None
    with pytest.raises(ValueError, match="no tokens"):
        blended_rate(1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="no tokens"):
        split_rates(1.0, 1.0, 0.0, 0.0)


@given(hourly=rates_of_use, prompt=rates_of_use, output=rates_of_use)
def test_split_rates_spend_what_the_machine_costs(hourly: float, prompt: float, output: float) -> None:
    split = split_rates(hourly, prompt, output)
    assert prompt * split.input_usd + output * split.output_usd == pytest.approx(hourly / 3600, rel=1e-9)
    assert blended_rate(hourly, prompt, output) * (prompt + output) == pytest.approx(hourly / 3600, rel=1e-9)


@pytest.mark.parametrize(("share", "hourly"), [(0.5, 13.86), (0.125, 3.465)])
def test_a_part_of_a_machine_costs_that_part(share: float, hourly: float) -> None:
    rate = rate_of(HardwareRates([sweep(instance_share=share)], PRICES).rate_of("model-a"))
    assert rate.usd_per_hour == pytest.approx(hourly)
    whole = rate_of(HardwareRates([sweep()], PRICES).rate_of("model-a"))
    assert rate.usd_per_token == pytest.approx(whole.usd_per_token * share)


def test_rates_follow_the_commitment() -> None:
    by_commitment = {
        commitment: rate_of(HardwareRates([sweep()], PRICES, commitment).rate_for("model-a")).usd_per_hour
        for commitment in (Commitment.COMMIT_3YR, Commitment.COMMIT_1YR, Commitment.ON_DEMAND)
    }
    assert list(by_commitment.values()) == [27.72, 40.43, 63.296]


@pytest.mark.parametrize(
    ("record", "commitment", "reason"),
    [
        (sweep("other"), Commitment.COMMIT_3YR, "no throughput sweep of a deployment named model-a"),
        (sweep(), Commitment.SPOT, "has no spot rate for big.48xlarge"),
        (
            sweep(instance_type="p6-b300.48xlarge"),
            Commitment.COMMIT_3YR,
            "p6-b300.48xlarge is not in",
        ),
        (sweep(instance_share=None), Commitment.COMMIT_3YR, "share of the big.48xlarge"),
        (sweep().model_copy(update={"levels": ()}), Commitment.COMMIT_3YR, "no level of the sweep"),
    ],
)
def test_what_is_missing_says_why(record: ThroughputRecord, commitment: Commitment, reason: str) -> None:
    rate = HardwareRates([record], PRICES, commitment).rate_for("model-a")
    assert isinstance(rate, MissingRate)
    assert reason in rate.reason


def test_the_price_list_says_which_deployment_prices_a_model() -> None:
    rates = HardwareRates([sweep("model-b"), sweep("model-b-tp1", instance_share=0.125)], PRICES)
    assert rates.deployments() == ("model-b", "model-b-tp1")
    assert rates.default_deployment("model-b") == "model-b-tp1"
    assert rate_of(rates.rate_for("model-b")).deployment.name == "model-b-tp1"
    assert rate_of(rates.rate_of("model-b")).deployment.name == "model-b"


def test_of_several_sweeps_of_a_deployment_the_last_by_date_counts() -> None:
    early = sweep(sweep_id="z").model_copy(update={"sweep_date": "2026-01-01"})
    late = sweep(sweep_id="a").model_copy(update={"sweep_date": "2026-02-01"})
    for order in ([early, late], [late, early]):
        assert rate_of(HardwareRates(order, PRICES).rate_of("model-a")).sweep_id == "a"


def serving(**changes: object) -> Serving:
    """A self-hosted block that fits the sweep."""
    parts: dict[str, object] = {
        "hosting": Hosting.SELF_HOSTED,
        "instance_type": "big.48xlarge",
        "tensor_parallel_size": 8,
        **changes,
    }
    return Serving.model_validate(parts)


@pytest.mark.parametrize(
    ("block", "matches", "note"),
    [
        (serving(), True, ""),
        (serving(tensor_parallel_size=None), True, ""),
        (serving(instance_type=None), None, "unknown"),
        (serving(instance_type="g6e.12xlarge"), False, "run on g6e.12xlarge, priced by a sweep on big"),
        (serving(tensor_parallel_size=4), False, "run on 4 accelerators, priced by a sweep on 8"),
        (serving(precision="BF16"), False, "run in BF16, priced by a sweep in FP8"),
        (serving(precision="fp8"), True, ""),
    ],
)
def test_a_cell_on_other_hardware_than_its_sweep_is_flagged(
    block: Serving, matches: bool | None, note: str
) -> None:
    rate = rate_of(HardwareRates([sweep(precision="FP8")], PRICES).rate_for("model-a", block))
    assert rate.hardware_matches is matches
    assert note in rate.hardware_note
    assert bool(rate.hardware_note) is (matches is not True)
