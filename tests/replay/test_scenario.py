"""Path prefixes name run, dataset, task and faults; what is missing or unknown is said."""

from __future__ import annotations

import contextlib
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.replay.scenario import Faults, ScenarioError, active_faults, parse_fault, parse_path


def test_a_path_is_taken_apart() -> None:
    scenario = parse_path("/r/run%2F7/demo/fix-it/first2-e500/slow20/v1/chat/completions")
    assert (scenario.run, scenario.dataset, scenario.task) == ("run/7", "demo", "fix-it")
    assert [rule.name for rule in scenario.rules] == ["first2-e500", "slow20"]
    assert scenario.api_path == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/chat/completions", "no scenario"),
        ("/r/run/demo/t/chat/completions", "no scenario"),
        ("", "no scenario"),
        ("/r/v1/chat", "the run is missing"),
        ("/r/run/v1/chat", "the dataset is missing"),
        ("/r/run//t/v1/chat", "the dataset is missing"),
        ("/r/run/demo/v1/chat", "the task is missing"),
        ("/r/run/demo/t/e99/v1/chat", "unknown fault 'e99'"),
        ("/r/run/demo/t/first-cut/v1/chat", "unknown fault"),
        ("/r/run/demo/t/e200/v1/chat", "unknown fault"),
    ],
)
def test_what_is_wrong_with_a_path_is_said(path: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_path(path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("e429", Faults(status=429)),
        ("slow1500", Faults(delay_seconds=1.5)),
        ("retryafter0", Faults(retry_after=0)),
        ("hang", Faults(hang=True)),
        ("stall", Faults(stall=True)),
        ("cut", Faults(cut=True)),
        ("malformed", Faults(malformed=True)),
        ("nousage", Faults(no_usage=True)),
        ("nocache", Faults(no_cache_detail=True)),
    ],
)
def test_every_fault_has_a_name(name: str, faults: Faults) -> None:
    rule = parse_fault(name)
    assert rule.faults == faults
    assert rule.applies(0, 0)
    assert rule.applies(99, 99)


def test_a_fault_may_hold_for_the_first_requests_or_after_the_first_tool_result_only() -> None:
    first, late = parse_fault("first2-e500"), parse_fault("late-cut")
    assert [first.applies(number, 0) for number in range(4)] == [True, True, False, False]
    assert [late.applies(0, results) for results in range(3)] == [False, True, True]


def test_faults_are_merged_and_the_later_rule_wins() -> None:
    rules = tuple(parse_fault(name) for name in ("e500", "slow10", "first1-e429", "nousage"))
    assert active_faults(rules, 0, 0) == Faults(status=429, delay_seconds=0.01, no_usage=True)
    assert active_faults(rules, 1, 0).status == 500
    assert active_faults((), 0, 0) == Faults()


NAME = st.text(min_size=1, max_size=12).filter(lambda text: text not in {"v1", "v1beta"})


@given(run=NAME, dataset=NAME, task=NAME)
def test_any_run_name_survives_being_quoted(run: str, dataset: str, task: str) -> None:
    parts = [quote(part, safe="") for part in (run, dataset, task)]
    scenario = parse_path("/r/" + "/".join(parts) + "/v1/models")
    assert (scenario.run, scenario.dataset, scenario.task) == (run, dataset, task)


@given(st.text(max_size=60))
def test_no_path_brings_the_parser_down(path: str) -> None:
    for parse in (parse_path, parse_fault):
        with contextlib.suppress(ScenarioError):
            parse(path)
