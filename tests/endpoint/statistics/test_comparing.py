"""Targets compared: pairs of instances, agreement, coding figures and conditions that fail a run."""

from __future__ import annotations

import statistics

import pytest

from runner.endpoint.statistics.agreement import agreements
from runner.endpoint.statistics.coding import coding
from runner.endpoint.statistics.outcomes import GIVEN_UP
from runner.endpoint.statistics.pairing import bootstrap, comparisons
from runner.endpoint.statistics.summary import Ending, account, summarise
from runner.endpoint.statistics.thresholds import judged, known_metrics, parse_thresholds
from runner.errors import UsageError
from runner.records.bench_trial import BenchTrial, BenchUsage
from tests import bench_examples
from tests.endpoint.statistics.trials import WRONG, agent, loaded, request, stage, trial


def timed(target: str, times: list[float]) -> list[BenchTrial]:
    return [
        trial(f"case-{number}", target=target, requests=(request(ttft_ms=time),))
        for number, time in enumerate(times)
    ]


def test_a_difference_is_taken_within_pairs() -> None:
    # The cases differ much more than the targets do: unpaired, nothing would be seen.
    base = [10.0, 100.0, 1000.0, 50.0, 500.0, 5.0]
    both = {
        "one": timed("one", base),
        "two": timed("two", [each + 3.0 + 0.1 * n for n, each in enumerate(base)]),
    }
    found = {each.metric: each for each in comparisons("one", both, 1)}
    ttft = found["ttft_ms"]
    assert (ttft.pairs, ttft.verdict) == (6, "higher")
    assert ttft.difference == pytest.approx(3.25)
    assert ttft.low is not None
    assert ttft.low >= 3.0
    assert found["score"].verdict == "no difference shown"
    assert found["cost_usd"].pairs == 0


def test_repeats_of_an_instance_are_one_pair() -> None:
    def asked(target: str, times: dict[str, float]) -> list[BenchTrial]:
        return [
            trial("a", slot, target=target, requests=(request(ttft_ms=time),)) for slot, time in times.items()
        ]

    both = {
        "one": asked("one", {"1": 10.0, "1.2": 20.0, "2": 50.0, "1.3": 1.0}),
        "two": asked("two", {"1": 16.0, "1.2": 26.0, "2": 58.0}),
    }
    ttft = {each.metric: each for each in comparisons("one", both, 1)}["ttft_ms"]
    assert (ttft.pairs, ttft.unpaired) == (2, 1)
    assert (ttft.reference_value, ttft.target_value, ttft.difference) == (32.5, 39.5, 7.0)


def test_scores_are_compared_over_one_kind_of_case() -> None:
    def asked(target: str, counted: str) -> list[BenchTrial]:
        kinds = {"quality": "passed", "performance": counted, "agentic": WRONG}
        return [
            trial(kind, target=target, case_kind=kind, verdict=verdict) for kind, verdict in kinds.items()
        ]

    both = {"one": asked("one", "passed"), "two": asked("two", WRONG)}
    found = {each.metric: each for each in comparisons("one", both, 1)}["score"]
    assert (found.pairs, found.reference_value, found.target_value) == (1, 1.0, 1.0)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [1.0, 2.0, 4.0, 8.0, 16.0]
    assert bootstrap(values, statistics.median, 3) == bootstrap(values, statistics.median, 3)
    assert bootstrap(values, statistics.median, 3) != bootstrap(values, statistics.fmean, 3)


def test_few_or_equal_pairs_have_no_interval() -> None:
    assert bootstrap([1.0, 2.0, 3.0, 4.0], statistics.fmean, 1) is None
    assert bootstrap([2.0] * 50, statistics.fmean, 1) is None


def test_what_only_one_target_answered_is_no_pair() -> None:
    left = [trial("a", requests=(request(ttft_ms=1.0),)), trial("b", requests=(request(ttft_ms=1.0),))]
    right = [
        trial("a", target="two", requests=(request("http_error"),), verdict="error", outcome="http_error"),
        trial("b", target="two", requests=(request(ttft_ms=2.0),)),
    ]
    found = {each.metric: each for each in comparisons("one", {"one": left, "two": right}, 1)}
    assert (found["ttft_ms"].pairs, found["ttft_ms"].unpaired) == (1, 1)
    assert found["score"].pairs == 2


def test_agreement_counts_same_answers_right_or_wrong() -> None:
    left = [
        trial("a", answer="1"),
        trial("b", verdict=WRONG, answer="7"),
        trial("c", verdict=WRONG, answer="9"),
    ]
    right = [
        trial("a", target="two", answer="1"),
        trial("b", target="two", verdict=WRONG, answer="7"),
        trial("c", target="two", answer="3"),
    ]
    (found,) = agreements({"one": left, "two": right}, {"a": "x", "b": "x", "c": "y"}, 1)
    assert (found.same.count, found.same.of) == (2, 3)
    assert (found.same_errors.count, found.same_errors.of) == (1, 2)
    # Of two wrong answers the shared one is given twice and weighs 1/2, the other 1.
    assert found.rare_errors == pytest.approx(0.5 / 1.5)
    assert found.category_similarity == pytest.approx(1 - (0.0 + 1.0) / 2)
    assert found.reasoning_share_difference is None
    assert found.similarity == pytest.approx((2 / 3 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_agreement_has_the_same_interval_every_time_and_how_much_is_thought_is_part_of_it() -> None:
    def answered(target: str, answers: str, thought: int) -> list[BenchTrial]:
        usage = BenchUsage(prompt_tokens=1, output_tokens=20, reasoning_tokens=thought)
        return [
            trial(f"case-{number}", target=target, answer=answer, requests=(request(usage=usage),))
            for number, answer in enumerate(answers)
        ]

    both = {"one": answered("one", "abcdefgh", 5), "two": answered("two", "abcdexyz", 15)}
    (found,) = agreements(both, {}, 3)
    assert agreements(both, {}, 3) == (found,)
    assert (found.same.count, found.same.of) == (5, 8)
    assert found.same_low is not None
    assert found.same_high is not None
    assert found.same_low < 5 / 8 < found.same_high
    assert found.reasoning_share_difference == pytest.approx(0.5)
    assert found.similarity == pytest.approx((5 / 8 + 1.0 + 0.5) / 3)


def test_answers_that_are_not_kept_are_still_compared_by_their_marks() -> None:
    def marked(target: str, mark: str) -> BenchTrial:
        kept = trial("a", target=target)
        return kept.model_copy(
            update={"score": kept.score.model_copy(update={"answer": None, "answer_mark": mark})}
        )

    (same,) = agreements({"one": [marked("one", "m")], "two": [marked("two", "m")]}, {}, 1)
    (other,) = agreements({"one": [marked("one", "m")], "two": [marked("two", "n")]}, {}, 1)
    assert (same.same.count, other.same.count) == (1, 0)


def test_nothing_in_common_is_no_agreement_and_no_difference() -> None:
    (found,) = agreements({"one": [trial("a")], "two": [trial("b", target="two")]}, {}, 1)
    assert (found.same.of, found.similarity) == (0, None)


def test_coding_counts_unsolved_tasks_and_their_money() -> None:
    def worked(case: str, verdict: str, cost: float, **changes: object) -> BenchTrial:
        return trial(
            case,
            verdict=verdict,
            case_kind="agentic",
            agent=agent(**changes),
            requests=(request(cost_usd=cost, ttft_ms=5.0),),
        )

    trials = [
        worked("a", "passed", 1.0),
        worked("b", WRONG, 3.0, stop_reason="max_turns", self_verified=False),
        worked("b", "error", 2.0, stop_reason="error", self_verified=False, prompt_tokens=None),
    ]
    together, only_a, only_b = coding("one", trials)
    assert (together.case, only_a.case, only_b.case) == (None, "a", "b")
    assert (together.solved.count, together.solved.of, together.graded.count) == (1, 3, 2)
    assert together.money.per_solved_usd == pytest.approx(6.0)
    assert together.stop_reasons == {"error": 1, "max_turns": 1, "no_tool_calls": 1}
    assert (together.invalid_calls.count, together.invalid_calls.of) == (3, 12)
    assert together.total_tokens.tally.used == 2
    assert only_b.money.per_solved_usd is None
    assert coding("one", [trial()]) == ()
    cut = trial("c", verdict="skipped", case_kind="agentic", skipped="no time", requests=(), outcome=None)
    assert coding("one", [cut]) == ()
    with_cut = coding("one", [*trials, cut])
    assert [each.case for each in with_cut] == [None, "a", "b"]
    assert (with_cut[0].attempted, with_cut[0].skipped) == (3, {"no time": 1})
    assert with_cut[0].turns.tally.skipped == {"no time": 1}
    assert with_cut[0].solved == together.solved


@pytest.mark.parametrize(
    "text", ["ttft_p90_ms", "ttft_p90_ms>", "ttft_p90_ms>fast", ">3", "ttft_p91_ms>3", "evil()>1"]
)
def test_a_condition_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_thresholds([text])


def test_conditions_are_judged_for_each_target_and_unknown_figures_decide_nothing() -> None:
    summary = bench_examples.summary()
    found = judged(
        summary, parse_thresholds(["ttft_p50_ms>200, score<0.5", "cost_usd>1", "succeeded_rate<=1"])
    )
    assert [(each.metric, each.failed) for each in found] == [
        ("ttft_p50_ms", True),
        ("score", False),
        ("cost_usd", None),
        ("succeeded_rate", True),
    ]
    assert found[0].value == 210.5
    assert {"tpot_p95_ms", "output_tps_p50", "solve_rate"} <= {
        name.replace("output_p50_tps", "output_tps_p50") for name in known_metrics()
    }


def test_every_planned_trial_is_done_skipped_or_left() -> None:
    manifest = bench_examples.manifest()
    assert account(manifest, []).left == 1
    assert account(manifest, [bench_examples.trial()]).done == 1
    skipped = bench_examples.trial().model_copy(update={"skipped": "no tools", "requests": ()})
    found = account(manifest, [skipped])
    assert (found.done, found.left, found.skipped) == (0, 0, {"no tools": 1})


def test_a_summary_is_a_function_of_its_files_alone() -> None:
    manifest, trials = bench_examples.manifest(), [bench_examples.trial()]
    first = summarise(manifest, trials, Ending("complete"), "0" * 64)
    assert first == summarise(manifest, trials, Ending("complete"), "0" * 64)
    assert first.targets[0].score is not None
    assert first.targets[0].score.over_attempted.count == 1
    assert first.flags[0].startswith("the client was not calibrated")
    assert summarise(manifest, [], Ending("partial"), "0" * 64).targets[0].measures["ttft_ms"].tally.used == 0


def test_what_was_given_up_is_in_no_figure_and_makes_the_money_of_its_case_unknown() -> None:
    plain, level = bench_examples.trial(), stage(target=bench_examples.TARGET)
    paid = plain.model_copy(update={"requests": (request(cost_usd=0.5),)})
    over_budget = {"key": "cut", "skipped": "cut by the budget of time", "outcome": None}
    gone = {"key": "gone", "skipped": GIVEN_UP, "outcome": None, "cut_requests": 2, "requests": ()}
    here = {"target": bench_examples.TARGET}
    asked = [loaded(number, 0.0, 100.0).model_copy(update=here) for number in range(2)]
    trials = [paid, paid.model_copy(update=over_budget), plain.model_copy(update=gone)]
    trials += [asked[0], asked[1].model_copy(update=gone)]
    manifest = bench_examples.manifest().model_copy(update={"stages": (level,)})
    found = summarise(manifest, trials, Ending("partial"), "0" * 64)
    ((case,), (point,)) = found.cases, found.load[0].points
    assert (case.account.cut_requests, found.account.cut_requests) == (2, 4)
    assert (case.money.total_usd, case.money.known_usd, case.money.unknown) == (None, 1.0, {GIVEN_UP: 2})
    assert case.money.per_attempt_usd == found.targets[0].money.per_attempt_usd == 0.5
    assert (point.requests, point.skipped) == (1, {})
