"""Cases against the real replay server, through the real client: what is injected comes out as a class."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from runner.endpoint.address import EndpointAddress
from runner.endpoint.ask import Outcome
from runner.endpoint.client import StreamClient
from runner.endpoint.suites.asking import Manner
from runner.endpoint.suites.case import Case, Slot
from runner.endpoint.suites.coding.cases import CODING_CASES
from runner.endpoint.suites.coding.loop import AgentMeans, TaskLimits
from runner.endpoint.suites.coding.trace import StopReason
from runner.endpoint.suites.grounding import KNOWN
from runner.endpoint.suites.playing import Played, play
from runner.endpoint.suites.score import Verdict
from runner.endpoint.targets import load_targets
from runner.replay.server import ReplayServer

ROOT = Path(__file__).parents[3]
TARGET = load_targets(ROOT / "datasets" / "targets").of_model("replay-careful", on=date(2026, 11, 30))[0]


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer(ROOT / "datasets" / "cassettes") as running:
        yield running


def played(server: ReplayServer, case: Case, *faults: str) -> Played:
    assert TARGET.entry.replay is not None
    base = server.url_for(
        run=f"suites-{'-'.join(faults)}", scenario=TARGET.entry.replay.scenario, faults=faults
    )
    where = replace(TARGET, entry=TARGET.entry.model_copy(update={"base_url": f"{base}/v1", "replay": None}))

    async def run() -> Played:
        async with StreamClient(EndpointAddress(f"{base}/v1")) as client:
            limits = TaskLimits(max_turns=3)
            return await play(case, Slot(1), client, where, Manner("replay"), AgentMeans(limits=limits))

    return asyncio.run(run())


def test_an_answer_that_is_none_is_measured_all_the_same(server: ReplayServer) -> None:
    trial = played(server, KNOWN)
    assert trial.score.verdict in {Verdict.FAILED, Verdict.INVALID_FORMAT}
    assert trial.results[0].outcome is Outcome.OK
    assert trial.results[0].milestones.first_any is not None
    assert trial.results[0].usage is not None


@pytest.mark.parametrize(
    ("fault", "verdict", "outcome"),
    [
        ("e429", Verdict.ERROR, Outcome.RATE_LIMITED),
        ("e500", Verdict.ERROR, Outcome.HTTP_ERROR),
        ("malformed", Verdict.ERROR, Outcome.PARSE_ERROR),
    ],
)
def test_an_injected_fault_comes_out_as_its_class(
    server: ReplayServer, fault: str, verdict: Verdict, outcome: Outcome
) -> None:
    trial = played(server, KNOWN, fault, "retryafter0")
    assert (trial.score.verdict, trial.results[0].outcome) == (verdict, outcome)


def test_a_cut_stream_is_no_success(server: ReplayServer) -> None:
    trial = played(server, KNOWN, "cut")
    assert trial.score.verdict in {Verdict.ERROR, Verdict.TRUNCATED}
    assert not trial.results[0].ended_cleanly


def test_an_agent_talks_to_a_real_server_until_that_refuses(server: ReplayServer) -> None:
    trial = played(server, CODING_CASES[0])
    assert trial.agent is not None
    # The cassette is about another repository: its files are not there, and its edits fit no tool of ours.
    assert Counter(call.name for call in trial.agent.invocations) == {"list_files": 1, "read_file": 5}
    assert trial.agent.invalid_call_count == 4
    assert (trial.agent.stop_reason, trial.agent.turn_count) == (StopReason.ERROR, 2)
    assert (trial.agent.turns[0].prompt_tokens or 0) > 0
    assert trial.agent.prompt_tokens is None
    assert trial.score.reason == "http_error: http_422"
