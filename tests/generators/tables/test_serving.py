"""What a level and a task cost on a deployment: the published sweep to the digit, and laws of the rates."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.tables.serving import DEFAULT_SHAPE, TaskShape, deployment_economics, economics
from runner.costs import Commitment, HardwareRates, InstancePrice, InstancePrices
from runner.records import Deployment, Level, Source, ThroughputRecord

SWEEP = [
    (1, 61.59, 6957.78),
    (2, 128.21, 10800.29),
    (5, 188.85, 15678.55),
    (7, 177.18, 13399.76),
    (10, 189.83, 15185.09),
    (15, 175.99, 14375.66),
    (20, 143.83, 14800.62),
]
"""Concurrency, output and prompt tokens per second of one published sweep on a whole p5en.48xlarge."""
PRICES = InstancePrices(
    schema_version=1,
    currency="USD",
    region="us-east-1",
    as_of=date(2026, 9, 1),
    checked_on=date(2026, 9, 1),
    source=Source(repository="a/b", commit="0" * 40, path="prices.json", license="MIT-0"),
    instances={
        "p5en.48xlarge": InstancePrice(
            gpus=8, gpu="H200", usd_per_hour={Commitment.COMMIT_3YR: 27.72, Commitment.ON_DEMAND: 63.296}
        )
    },
)
SPEEDS = st.floats(0.01, 1e6)


def sweep(levels: list[tuple[int, float | None, float | None]], **machine: Any) -> ThroughputRecord:
    """A sweep of these levels: concurrency, output and prompt tokens per second."""
    described = {
        "name": "glm-5.2",
        "model": "glm-5.2",
        "instance_type": "p5en.48xlarge",
        "instance_share": 1.0,
    }
    return ThroughputRecord(
        sweep_id="s-1",
        deployment=Deployment.model_validate({**described, **machine}),
        levels=tuple(
            Level(concurrency=count, output_tokens_per_second=output, prompt_tokens_per_second=prompt)
            for count, output, prompt in levels
        ),
    )


def rates(commitment: Commitment = Commitment.COMMIT_3YR, *sweeps: ThroughputRecord) -> HardwareRates:
    return HardwareRates(sweeps, PRICES, commitment)


def test_the_published_sweep_has_its_published_rates() -> None:
    found = deployment_economics(sweep(list(SWEEP)), rates())
    per_million = [round((each.blended or 0) * 1e6, 5) for each in found.levels]
    assert per_million == [1.09696, 0.70458, 0.48527, 0.56714, 0.50082, 0.52915, 0.51524]
    assert found.cheapest is not None
    assert found.fastest is not None
    assert (found.cheapest.level.concurrency, found.fastest.level.concurrency) == (5, 10)


def test_a_task_of_the_published_shape_has_its_published_costs() -> None:
    cheapest = deployment_economics(sweep(list(SWEEP)), rates()).cheapest
    assert cheapest is not None
    assert cheapest.blended_cost(DEFAULT_SHAPE) == pytest.approx(3.9064, abs=5e-5)
    assert cheapest.split_cost(DEFAULT_SHAPE) == pytest.approx(3.8420, abs=5e-5)
    assert cheapest.split is not None
    assert cheapest.split.output_usd == pytest.approx(1.874169e-6, rel=1e-6)
    assert cheapest.split.input_usd == pytest.approx(4.685423e-7, rel=1e-6)


def test_half_a_machine_costs_half() -> None:
    whole = deployment_economics(sweep(list(SWEEP)), rates())
    half = deployment_economics(sweep(list(SWEEP), instance_share=0.5), rates())
    assert half.usd_per_hour == 13.86
    assert whole.cheapest is not None
    assert half.cheapest is not None
    assert half.cheapest.blended == pytest.approx((whole.cheapest.blended or 0) / 2)


@pytest.mark.parametrize(
    ("machine", "levels", "why"),
    [
        ({"instance_type": "p6-b300.48xlarge"}, SWEEP, "not in the price list of 2026-09-01"),
        ({"instance_share": None}, SWEEP, "the share of the p5en.48xlarge that glm-5.2 uses is unknown"),
        ({}, [(4, 12.0, None)], "has the throughputs a rate needs"),
        ({}, [], "has the throughputs a rate needs"),
    ],
)
def test_what_cannot_be_priced_says_why_and_costs_nothing_known(
    machine: dict[str, Any], levels: list[tuple[int, float, float]], why: str
) -> None:
    found = deployment_economics(sweep(list(levels), **machine), rates())
    assert why in found.missing
    assert found.cheapest is None
    assert all(each.blended_cost(DEFAULT_SHAPE) is None for each in found.levels)
    assert all(each.split_cost(DEFAULT_SHAPE) is None for each in found.levels)


def test_a_commitment_that_the_list_does_not_have_is_not_priced() -> None:
    found = deployment_economics(sweep(list(SWEEP)), rates(Commitment.SPOT))
    assert "has no spot rate" in found.missing
    assert found.usd_per_hour is None


def test_deployments_come_by_name_and_levels_by_concurrency() -> None:
    found = economics(rates(Commitment.COMMIT_3YR, sweep(list(reversed(SWEEP))), sweep([], name="a-first")))
    assert [each.name for each in found] == ["a-first", "glm-5.2"]
    assert [each.level.concurrency for each in found[1].levels] == [1, 2, 5, 7, 10, 15, 20]


@given(st.lists(st.tuples(st.integers(1, 200), SPEEDS, SPEEDS), min_size=1, max_size=6), st.floats(0.01, 1))
def test_the_cheapest_level_is_cheapest_for_every_task_at_the_blended_rate(
    levels: list[tuple[int, float, float]], share: float
) -> None:
    found = deployment_economics(sweep(list(levels), instance_share=share), rates())
    assert found.cheapest is not None
    for shape in (TaskShape(1, 0), TaskShape(0, 1), DEFAULT_SHAPE):
        best = found.cheapest.blended_cost(shape)
        assert best is not None
        assert all(best <= (each.blended_cost(shape) or 0) * (1 + 1e-12) for each in found.levels)


@given(SPEEDS, SPEEDS)
def test_split_rates_charge_a_second_of_work_what_a_second_costs(output: float, prompt: float) -> None:
    found = deployment_economics(sweep([(1, output, prompt)]), rates()).levels[0]
    assert found.split is not None
    second = prompt * found.split.input_usd + output * found.split.output_usd
    assert second == pytest.approx(27.72 / 3600)
