"""Distributions, reliability, scores and money: what counts, what does not, and what is not known."""

from __future__ import annotations

import math

import pytest

from runner.endpoint.result import ReportedUsage
from runner.endpoint.statistics.distribution import CURVE_POINTS, distribution, measure, measures
from runner.endpoint.statistics.money import money, request_cost, tokens
from runner.endpoint.statistics.outcomes import reliability
from runner.endpoint.statistics.scores import entropy_bits, of_one_kind, score
from runner.records.bench_manifest import BenchPrice
from runner.records.bench_trial import BenchRequest, BenchTrial, BenchUsage
from tests.endpoint.statistics.trials import NOON, WRONG, request, trial

DAY = NOON.date()


def test_the_figures_of_a_known_sample() -> None:
    found = distribution([1.0, 2.0, 3.0, 4.0, 100.0])
    assert found.quantile(0.5) is not None
    assert found.quantiles[0].value == 3.0
    assert (found.mean, found.median_deviation) == (22.0, 1.0)
    assert found.standard_deviation == pytest.approx(43.617, abs=0.001)
    assert [figure.q for figure in found.quantiles] == [0.5, 0.9, 0.95, 0.99]
    assert [figure.value for figure in found.quantiles[1:]] == [100.0, None, None]
    assert (found.minimum, found.maximum, found.tally.used) == (1.0, 100.0, 5)
    assert found.variation == pytest.approx(43.617 / 22, abs=1e-4)
    assert distribution([-1.0, 1.0]).variation is None
    assert distribution([7.0]).standard_deviation is None


def test_what_was_not_measured_is_counted_and_is_no_zero() -> None:
    found = distribution([None, math.inf, math.nan, 2.0])
    assert (found.tally.attempted, found.tally.used) == (4, 1)
    assert found.tally.excluded == {"not measured": 3}
    assert found.mean == 2.0
    assert distribution([]).mean is None


def test_a_long_sample_is_thinned_to_ranks_that_keep_both_ends() -> None:
    found = distribution(float(each) for each in range(1000))
    assert len(found.curve) == CURVE_POINTS
    assert (found.curve[0], found.curve[-1]) == (0.0, 999.0)


def test_wrong_answers_keep_their_times_and_failures_are_told_by_class() -> None:
    requests = [
        request(ttft_ms=10.0),
        request("length", ttft_ms=30.0),
        request("rate_limited"),
        request("incomplete", ttft_ms=5.0),
        request("cancelled", ttft_ms=1.0),
    ]
    found = measure(requests, "ttft_ms", {"the budget of time was spent": 2})
    assert (found.tally.used, found.tally.attempted) == (2, 5)
    assert found.tally.excluded == {"cancelled": 1, "incomplete": 1, "rate_limited": 1}
    assert found.tally.skipped == {"the budget of time was spent": 2}
    assert found.adjusted[1].infinite
    assert found.adjusted[0].value == 30.0


def test_the_times_that_matter_stand_even_where_nothing_was_measured() -> None:
    found = measures([request("http_error")])
    assert found["ttft_ms"].tally.used == 0
    assert "gap_max_ms" not in found


def test_reliability_counts_the_endpoint_and_not_us() -> None:
    found = reliability(
        [
            request(),
            request("length"),
            request("incomplete"),
            request("timeout_stall"),
            request("rate_limited", usage=None, streamed=None, fragment_count=0),
            request("cancelled"),
            request(usage=None),
            request(fragment_count=0),
            request("stream_error"),
            request("parse_error"),
        ]
    )
    assert found.requests == 9
    assert (found.answered.count, found.succeeded.count) == (4, 3)
    assert (found.truncated.count, found.incomplete.count, found.timed_out.count) == (2, 1, 1)
    assert (found.broken_stream.count, found.malformed.count, found.empty.count) == (1, 1, 1)
    assert (found.usage_missing.count, found.usage_missing.of) == (1, 4)
    assert found.outcomes["cancelled"] == 1


def test_buffering_is_a_share_of_the_answers_that_are_long_enough_to_tell() -> None:
    found = reliability([request(buffered=True), request(buffered=False), request(buffered=None)])
    assert (found.buffered.count, found.buffered.of) == (1, 2)


def test_a_failed_trial_lowers_the_score_over_what_was_asked_only() -> None:
    found = score(
        [
            trial("a"),
            trial("b", verdict="error", outcome="http_error"),
            trial("c", verdict="skipped", skipped="the endpoint accepts no tools", requests=()),
            trial("d", verdict=WRONG),
            trial("e", verdict="truncated", outcome="length"),
            trial("f", "w1"),
        ]
    )
    assert (found.over_attempted.count, found.over_attempted.of) == (1, 4)
    assert (found.over_answered.count, found.over_answered.of) == (1, 2)
    assert found.verdicts == {"error": 1, "failed": 1, "passed": 1, "truncated": 1}


def test_consistency_compares_repeats_of_one_instance_and_nothing_else() -> None:
    apart = score([trial(slot="1", answer="22"), trial(slot="2", answer="19")])
    assert (apart.consistency, apart.consistency_groups) == (None, 0)
    same = score(
        [trial(slot="1", answer="22"), trial(slot="1.2", answer="22"), trial(slot="1.3", answer="7")]
    )
    assert same.consistency == pytest.approx(2 / 3)
    assert same.consistency_groups == 1


def test_entropy_of_two_answers_twice_each_is_one_bit() -> None:
    assert entropy_bits(["a", "b", "a", "b"]) == 1.0
    assert entropy_bits(["a", "a"]) == 0.0


def test_brier_is_the_mean_square_of_what_confidence_missed() -> None:
    found = score([trial("a", confidence=0.9), trial("b", verdict=WRONG, confidence=0.6), trial("c")])
    assert found.brier == pytest.approx((0.01 + 0.36) / 2)
    assert found.confidences == 2
    assert found.mean_confidence == pytest.approx(0.75)
    assert score([trial()]).mean_confidence is None


def test_single_instructions_are_counted_over_all_answers_that_have_them() -> None:
    def followed(case: str, held: int, of: int) -> BenchTrial:
        made = trial(case, verdict="passed" if held == of else WRONG)
        metrics = {"instructions_passed": held, "instructions_total": of}
        return made.model_copy(update={"score": made.score.model_copy(update={"metrics": metrics})})

    found = score([followed("a", 4, 4), followed("b", 2, 4), trial("c")])
    assert found.instructions is not None
    assert (found.instructions.count, found.instructions.of) == (6, 8)
    assert (found.over_attempted.count, found.over_attempted.of) == (2, 3)
    assert score([trial("c")]).instructions is None


def test_the_drop_of_a_variant_is_over_instances_that_both_were_asked() -> None:
    trials = [
        trial("plain", "1"),
        trial("plain", "2"),
        trial("told", "1", WRONG),
        trial("told", "3"),
    ]
    assert score(trials, {"told": "plain"}).robustness_drop == 1.0
    assert score(trials, {"other": "plain"}).robustness_drop is None


def test_a_request_costs_each_class_at_its_own_price() -> None:
    price = BenchPrice(
        input=2.0, output=10.0, cache_read=0.2, cache_write=2.5, per_request=0.01, priced_on=DAY
    )
    usage = ReportedUsage(prompt_tokens=1000, cached_tokens=400, cache_write_tokens=100, completion_tokens=50)
    dollars = (500 * 2 + 400 * 0.2 + 100 * 2.5 + 50 * 10) / 1e6 + 0.01
    cost, missing = request_cost(usage, price)
    assert cost == pytest.approx(dollars)
    assert missing is None


@pytest.mark.parametrize(
    ("usage", "price", "why"),
    [
        (None, BenchPrice(input=1.0, output=1.0, priced_on=DAY), "no token counts"),
        (ReportedUsage(prompt_tokens=1), BenchPrice(input=1.0, output=1.0, priced_on=DAY), "no token counts"),
        (ReportedUsage(), BenchPrice(priced_on=DAY, missing_reason="no row"), "no row"),
        (
            ReportedUsage(prompt_tokens=9, cached_tokens=5, completion_tokens=1),
            BenchPrice(input=1.0, output=1.0, priced_on=DAY),
            "cached input has no price",
        ),
    ],
)
def test_a_cost_with_an_unknown_part_is_unknown_and_says_which(
    usage: ReportedUsage | None, price: BenchPrice, why: str
) -> None:
    cost, missing = request_cost(usage, price)
    assert cost is None
    assert why in (missing or "")


def test_what_unsolved_trials_cost_is_in_the_cost_per_solved() -> None:
    trials = [
        trial("a", requests=(request(cost_usd=0.5),)),
        trial("b", verdict=WRONG, requests=(request(cost_usd=1.5), request(cost_usd=1.0))),
    ]
    found = money(trials, solved=1, attempts=2)
    assert (found.total_usd, found.per_solved_usd, found.per_attempt_usd) == (3.0, 3.0, 1.5)


def test_no_kind_of_case_pays_for_the_right_answers_of_another() -> None:
    quality = [
        trial("a", requests=(request(cost_usd=0.5),)),
        trial("b", verdict=WRONG, requests=(request(cost_usd=0.25),)),
    ]
    timed = [trial("c", case_kind="performance", requests=(request(cost_usd=8.0),))]
    agent = [trial("d", case_kind="agentic", requests=(request(cost_usd=16.0),))]
    alike = of_one_kind([*agent, *timed, *quality])
    assert alike == quality
    found = money([*agent, *timed, *quality], solved=1, attempts=2, alike=alike)
    assert (found.total_usd, found.per_solved_usd, found.per_attempt_usd) == (24.75, 0.75, 0.375)
    assert (found.solved, found.attempts, found.requests) == (1, 2, 4)
    assert (of_one_kind([*agent, *timed]), of_one_kind(agent), of_one_kind([])) == (timed, agent, [])


def test_what_the_gateway_says_is_a_sum_of_its_own_and_unknown_where_a_part_is() -> None:
    told = [trial("a", requests=(request(cost_usd=0.5, cost_reported_usd=0.75),))]
    untold = trial("b", requests=(request(cost_usd=0.5),))
    assert (money(told, 1, 1).total_usd, money(told, 1, 1).reported_usd) == (0.5, 0.75)
    assert (money([*told, untold], 2, 2).total_usd, money([*told, untold], 2, 2).reported_usd) == (1.0, None)


def test_one_unknown_cost_makes_the_sum_unknown_and_leaves_a_lower_bound() -> None:
    trials = [
        trial("a", requests=(request(cost_usd=0.5),)),
        trial("b", requests=(request(cost_missing="no row"),)),
    ]
    found = money(trials, solved=2, attempts=2)
    assert (found.total_usd, found.known_usd, found.per_solved_usd) == (None, 0.5, None)
    assert found.unknown == {"no row": 1}
    assert money([], 0, 0).total_usd is None


def test_sums_of_tokens_say_how_many_requests_told_them() -> None:
    found = tokens([request(), request(usage=None), request(usage=BenchUsage(output_tokens=5))])
    assert (found.prompt, found.output, found.told_by, found.of) == (100, 15, 1, 3)
    assert found.reasoning is None
    thinking = tokens([request(usage=BenchUsage(prompt_tokens=1, output_tokens=20, reasoning_tokens=5))])
    assert thinking.reasoning_share == 0.25


def test_tokens_that_do_not_fit_the_text_that_came_are_told_and_change_no_count() -> None:
    def answer(
        characters: int, told: int, reasoning: int | None = None, outcome: str = "ok", calls: int = 0
    ) -> BenchRequest:
        usage = BenchUsage(prompt_tokens=1, output_tokens=told, reasoning_tokens=reasoning)
        pieces = ((1.0, "r", 999, None), (2.0, "c", characters, None))
        return request(outcome, usage=usage, fragments=pieces, fragment_count=2, tool_call_count=calls)

    plain, thinking, hidden = answer(200, 50), answer(160, 140, 100), answer(3, 400)
    found = tokens([plain, thinking, hidden, answer(1, 31), answer(9, 99, calls=1)])
    # Short answers and calls of tools say nothing; reasoning that is told is none of the visible tokens.
    assert (found.compared, found.misfits) == (3, 1)
    assert found.characters_per_token == (200 + 160 + 3) / (50 + 40 + 400)
    assert found.output == 50 + 140 + 400 + 31 + 99
    assert tokens([answer(2000, 40)]).misfits == 1
    none = tokens([request(usage=None), answer(10, 40, outcome="incomplete")])
    assert (none.characters_per_token, none.compared, none.misfits) == (None, 0, 0)
