"""Whole profiles with a perfect model and with a hopeless one."""

from __future__ import annotations

import asyncio

import pytest

from runner.endpoint.ask import Ask
from runner.endpoint.capabilities import Capabilities
from runner.endpoint.suites.case import Case, Kind
from runner.endpoint.suites.catalogue import PROFILES, Profile
from runner.endpoint.suites.playing import Played, play
from runner.endpoint.suites.score import Verdict
from tests.endpoint.suites.oracle import Oracle
from tests.endpoint.suites.stage import MANNER, Script, said, target

ABLE = target(Capabilities(json_schema=True, efforts=("none", "low", "high")))
PLAIN = target()


def _few(case: Case) -> int | None:
    """As many instances as tell something; an agent's task is the same every time."""
    if case.coding is not None:
        return 1
    return 2 if case.runs > 5 else None


def played(profile: Profile, ask: Ask, *, able: bool = True) -> list[Played]:
    async def run() -> list[Played]:
        return [
            await play(case, slot, ask, ABLE if able else PLAIN, MANNER)
            for case in profile.cases
            for slot in case.slots(runs=_few(case), warm_ups=0)
        ]

    return asyncio.run(run())


@pytest.mark.parametrize("name", PROFILES)
def test_a_perfect_model_passes_everything(name: str) -> None:
    profile = PROFILES[name]
    trials = played(profile, Oracle(profile.cases))
    assert [trial.score.reason for trial in trials if not trial.score.passed] == []
    for trial in trials:
        if trial.case.kind is Kind.AGENTIC:
            assert trial.agent is not None
            assert trial.agent.self_verified
            assert trial.agent.invalid_call_count == trial.agent.no_progress_call_count == 0


@pytest.mark.parametrize("name", ["smoke", "standard", "load"])
def test_a_hopeless_model_passes_nothing(name: str) -> None:
    trials = played(PROFILES[name], Script([said("I am sorry, I would rather talk about the weather.")]))
    assert {trial.score.verdict for trial in trials} <= {Verdict.FAILED, Verdict.INVALID_FORMAT}


def test_a_plain_server_is_spared_what_it_cannot_do_and_the_rest_counts() -> None:
    profile = PROFILES["standard"]
    trials = played(profile, Oracle(profile.cases), able=False)
    skipped = {trial.case.identifier for trial in trials if trial.score.verdict is Verdict.SKIPPED}
    assert skipped == {
        "seeded_json_schema",
        "reasoning_effort_none",
        "reasoning_effort_low",
        "reasoning_effort_high",
    }
    assert all(trial.score.reason for trial in trials if trial.score.verdict is Verdict.SKIPPED)
    assert all(trial.score.passed for trial in trials if trial.case.identifier not in skipped)
