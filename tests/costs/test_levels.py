"""Which level of a sweep is cheapest, which fastest, and where more sessions only wait."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import LatencyLimit, blended_rate
from runner.costs.levels import cheapest, fastest, findings_of, saturation, total_rate
from runner.records import Level, Quantiles, Spread
from tests.costs.test_hardware import LEVELS
from tests.importers import figures

rates = st.floats(min_value=0.01, max_value=1e6)


def level(concurrency: int, total: float, waiting: float = 0.0, peak: float = 0.5) -> Level:
    """A level with so many tokens a second, a tenth of them output."""
    return Level(
        concurrency=concurrency,
        prompt_tokens_per_second=total * 0.9,
        output_tokens_per_second=total * 0.1,
        requests_waiting=Spread(peak=waiting * 2, mean=waiting),
        kv_cache_usage=Spread(peak=peak, mean=peak / 2),
    )


def test_the_cheapest_level_and_the_fastest_one_differ() -> None:
    found = findings_of(LEVELS)
    assert (found.cheapest, found.fastest, found.within_limit) == (5, 10, None)


@given(st.lists(st.tuples(rates, rates), min_size=1, max_size=8), st.floats(min_value=0.1, max_value=200))
def test_the_cheapest_level_is_the_same_at_every_price(
    pairs: list[tuple[float, float]], hourly: float
) -> None:
    levels = [
        Level(concurrency=number, prompt_tokens_per_second=prompt, output_tokens_per_second=output)
        for number, (prompt, output) in enumerate(pairs, 1)
    ]
    found = cheapest(levels)
    assert found is not None
    least = min(blended_rate(hourly, prompt, output) for prompt, output in pairs)
    own = blended_rate(hourly, found.prompt_tokens_per_second or 0.0, found.output_tokens_per_second or 0.0)
    assert own == pytest.approx(least)


def test_a_level_without_one_of_the_rates_has_no_total() -> None:
    half = LEVELS[0].model_copy(update={"prompt_tokens_per_second": None})
    idle = level(1, 0.0)
    assert total_rate(half) is None
    assert total_rate(idle) is None
    assert cheapest([half, idle]) is None
    assert fastest([idle]) is None
    assert findings_of([]).cheapest is None


def test_a_limit_is_held_against_the_estimate_and_else_against_the_upper_bound() -> None:
    limit = LatencyLimit(ttft_p90_ms=1000)
    below = level(4, 400.0).model_copy(
        update={"ttft_ms_estimate": Quantiles(p90=900.0), "ttft_ms_upper": Quantiles(p90=2500.0)}
    )
    bound = level(2, 200.0).model_copy(update={"ttft_ms_upper": Quantiles(p90=500.0)})
    endless = level(8, 800.0).model_copy(update={"ttft_ms_lower": Quantiles(p90=2_560_000.0)})
    found = findings_of([bound, below, endless], limit)
    assert (found.cheapest, found.within_limit, found.ttft_p90_limit_ms) == (8, 4, 1000)
    assert findings_of([endless], limit).within_limit is None


def test_a_server_that_only_queues_is_saturated_and_one_that_still_grows_is_not() -> None:
    growing = [level(1, 100), level(2, 200), level(4, 390, waiting=0.2)]
    assert saturation(growing) is None
    flat = [*growing, level(8, 395, waiting=3.5), level(16, 397, waiting=11.0)]
    found = saturation(list(reversed(flat)))
    assert found is not None
    assert found[0].concurrency == 8
    assert "+1.3%" in found[1]
    assert "0.2 to 3.5" in found[1]


def test_flat_throughput_without_a_queue_is_no_saturation() -> None:
    assert saturation([level(1, 100), level(2, 100), level(4, 100, waiting=0.4)]) is None


def test_a_full_cache_saturates_although_throughput_still_rises() -> None:
    found = saturation([level(1, 100), level(2, 200, waiting=1.0, peak=1.0), level(4, 400, waiting=3.0)])
    assert found is not None
    assert (found[0].concurrency, "full (100%)" in found[1]) == (2, True)


def test_unknown_queues_prove_nothing() -> None:
    unknown = [each.model_copy(update={"requests_waiting": None}) for each in (level(1, 100), level(2, 100))]
    assert saturation(unknown) is None


def test_published_sweeps_name_their_levels() -> None:
    by_name = {each.deployment.name: findings_of(each.levels) for each in figures.sweeps()}
    assert (by_name["devstral-2-123b"].cheapest, by_name["devstral-2-123b"].fastest) == (7, 5)
    assert (by_name["deepseek-v3.2"].cheapest, by_name["deepseek-v3.2"].fastest) == (10, 5)
    assert by_name["glm52-200k-throughput"].cheapest is None
