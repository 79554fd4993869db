"""Everything that is injected comes out right: classes exactly, times never before they can be true."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from runner.engine.bench.answering import WRONG
from runner.records.bench_trial import BenchRequest, BenchTrial
from tests.engine.bench.project import Project, make_project, options_of, server_log

PLAIN = ("pace1", "think8")
BAD = (
    "slow20",
    "pace1",
    "lump",
    "retryafter0",
    "every9-e429",
    "every11-cut",
    "every13-malformed",
    "every7-limit",
    "every17-noend",
    "every5-nousage",
    "fragment",
    "think40",
    "wrong20",
)
SLOW_MS = 20.0
PROFILES: dict[str, dict[str, object]] = {
    "smoke": {"profile": "smoke", "runs": 2},
    "standard": {"profile": "standard", "repeats": 2},
    "load": {
        "profile": "load",
        "runs": 8,
        "warm_ups": 2,
        "cases": ("output_length_32", "input_length_1000", "concurrency_1", "concurrency_2", "concurrency_4"),
    },
    "coding": {"profile": "coding", "cases": ("agentic_bugfix_small", "agentic_feature_small")},
}


def expected(faults: list[str]) -> str:
    """The class that a request must have that these faults held for."""
    names = {name.rpartition("-")[2] for name in faults}
    for fault, outcome in (
        ("e429", "rate_limited"),
        ("malformed", "parse_error"),
        ("cut", "stream_error"),
        ("noend", "incomplete"),
        ("limit", "length"),
    ):
        if fault in names:
            return outcome
    return "ok"


def requests_of(trials: tuple[BenchTrial, ...]) -> list[tuple[BenchTrial, BenchRequest]]:
    return [(trial, request) for trial in trials for request in trial.requests]


@pytest.fixture(scope="module", params=PROFILES)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    """One run of a profile against both mappings, and what the server noted."""
    root = tmp_path_factory.mktemp(str(request.param))
    project = make_project(root, [("plain", PLAIN), ("bad", BAD)])
    log = root / "server.log"
    code = project.bench(options_of(**PROFILES[request.param], concurrency=2), log=log)
    assert code == 0, "\n".join(project.said)
    return project, log


def test_every_trial_of_the_plan_is_done(done: tuple[Project, Path]) -> None:
    manifest, trials, summary = done[0].read()
    skipped = [trial for trial in trials if trial.skipped is not None]
    assert {trial.key for trial in trials} == {planned.key for planned in manifest.planned}
    assert skipped == []
    assert (summary.account.planned, summary.account.left) == (len(manifest.planned), 0)
    assert summary.ended == "complete"


def test_every_request_has_the_class_that_was_injected(done: tuple[Project, Path]) -> None:
    log = server_log(done[1])
    found = requests_of(done[0].read()[1])
    for trial, request in found:
        truth = log[request.request_id or ""]
        assert request.outcome == expected(truth["faults"]), (trial.key, truth)  # type: ignore[arg-type]
    assert len(found) == len({request.request_id for _, request in found}) == len(log)


def test_every_class_was_really_injected(done: tuple[Project, Path]) -> None:
    manifest, trials, _ = done[0].read()
    if manifest.settings.profile == "standard":
        found = {request.outcome for _, request in requests_of(trials)}
        assert found == {"ok", "length", "incomplete", "rate_limited", "stream_error", "parse_error"}


def test_the_rates_of_the_summary_are_those_of_the_server(done: tuple[Project, Path]) -> None:
    manifest, trials, summary = done[0].read()
    log = server_log(done[1])
    for target in summary.targets:
        mine = [
            request
            for trial, request in requests_of(trials)
            if trial.target == target.target and not trial.warm_up and trial.load is None
        ]
        truth = Counter(expected(log[request.request_id or ""]["faults"]) for request in mine)  # type: ignore[arg-type]
        assert dict(target.reliability.outcomes) == dict(truth)
        assert target.reliability.rate_limited.count == truth["rate_limited"]
        assert target.reliability.truncated.count == truth["length"] + truth["incomplete"]
        assert target.reliability.malformed.count == truth["parse_error"]
        assert target.reliability.broken_stream.count == truth["stream_error"]
    plain = next(each for each in summary.targets if each.label == "replay:plain")
    assert plain.reliability.succeeded.rate == 1.0
    assert manifest.demonstration


def test_usage_and_reasoning_are_as_served(done: tuple[Project, Path]) -> None:
    log = server_log(done[1])
    for trial, request in requests_of(done[0].read()[1]):
        faults = log[request.request_id or ""]["faults"]
        assert isinstance(faults, list)
        if request.outcome not in {"ok", "length"}:
            continue
        if "every5-nousage" in faults:
            assert request.usage is None or request.usage.output_tokens is None, trial.key
            continue
        served = log[request.request_id or ""]["usage"]
        assert isinstance(served, dict)
        assert request.usage is not None
        assert request.usage.output_tokens == served["output"]
        assert request.usage.reasoning_tokens == served["reasoning"] == (40 if "think40" in faults else 8)
        assert request.usage.prompt_tokens == served["uncached"]


def test_buffered_answers_are_told_from_flowing_ones(done: tuple[Project, Path]) -> None:
    long = [
        (trial, request)
        for trial, request in requests_of(done[0].read()[1])
        if request.timing.buffered is not None and request.outcome == "ok" and request.fragment_count >= 12
    ]
    bad = [request.timing.buffered for trial, request in long if trial.target.endswith(":bad")]
    assert len(bad) > 0
    assert all(bad)


def test_no_time_is_shorter_than_the_server_took(done: tuple[Project, Path]) -> None:
    log = server_log(done[1])
    for trial, request in requests_of(done[0].read()[1]):
        truth = log[request.request_id or ""]
        if request.timing.ttft_ms is None:
            continue
        if trial.target.endswith(":bad"):
            assert request.timing.ttft_ms >= SLOW_MS
        begun, first = truth["received_ns"], truth["first_write_ns"]
        assert isinstance(begun, int)
        assert isinstance(first, int)
        # The clock of both processes is one; the server notes its read after the bytes had arrived.
        assert request.timing.ttft_ms >= (first - begun) / 1e6 - 1.0, trial.key


def test_an_answer_that_came_whole_is_scored_as_what_was_said(done: tuple[Project, Path]) -> None:
    for trial in done[0].read()[1]:
        outcomes = {request.outcome for request in trial.requests}
        if outcomes != {"ok"} or trial.case_kind == "agentic":
            continue
        wrong = any(request.text == WRONG for request in trial.requests)
        assert (trial.score.verdict == "passed") is not wrong, (trial.key, trial.score)


def test_both_targets_are_asked_the_same_instances_in_turn(done: tuple[Project, Path]) -> None:
    manifest, _, summary = done[0].read()
    plain = [each for each in manifest.planned if each.stage is None]
    for left, right in zip(plain[::2], plain[1::2], strict=True):
        assert (left.case, left.slot, left.seed) == (right.case, right.slot, right.seed)
        assert left.target != right.target
    first = {each.target for each in plain[::2]}
    assert len(first) == 2 or len(plain) < 12
    assert summary.reference == "replay/replay-careful:plain"
