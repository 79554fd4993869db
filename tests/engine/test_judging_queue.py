"""Finished trials are judged beside the run, in its workers or not at all; what fails is named."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner.engine.attempt import Attempt
from runner.engine.desk import Desk
from runner.engine.isolation import choose
from runner.engine.judging_queue import Judging, JudgingQueue
from runner.engine.places import Places
from runner.engine.progress import summary_lines
from runner.engine.resolution import resolve_all
from runner.engine.resuming import settings_of
from runner.engine.run import Run
from runner.engine.running import run_plan
from runner.engine.sessions import open_sessions
from runner.engine.settings import changed
from runner.engine.spending import Spent
from runner.engine.stop import Stop
from runner.engine.tally import RunSummary
from runner.errors import EndpointError
from runner.records import PlanRecord, TrialIdentity
from runner.secrets import Scanner
from runner.store import ResultsStore
from tests import examples
from tests.engine.puppets import End, Quiet, attempt_of, new_plan

Key = tuple[str, ...]


class Court:
    """Judges into a store and counts."""

    def __init__(self, plan: PlanRecord, store: ResultsStore, fails: Callable[[int], str | None]) -> None:
        self.plan, self.store, self.fails = plan, store, fails
        self.calls: Counter[Key] = Counter()
        self.threads: set[str] = set()
        self.now = self.most = 0
        self.lock = threading.Lock()

    def judge(self, identity: TrialIdentity) -> str | None:
        with self.lock:
            self.calls[identity.key] += 1
            number = sum(self.calls.values())
            self.threads.add(threading.current_thread().name.split("_")[0])
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            assert self.store.has_trial(identity), "a trial is judged when it is written"
            if (reason := self.fails(number)) is not None:
                return reason
            judgement = examples.judgement(identity)
            self.store.write_judgement(self.plan.plan_id, judgement)
            return None
        finally:
            with self.lock:
                self.now -= 1

    def is_judged(self, identity: TrialIdentity) -> bool:
        return bool(self.store.trial(identity).judgements)


def carried_out(
    places: Places, plan: PlanRecord, judging: Judging | None, stop: Stop | None = None, **flags: object
) -> RunSummary:
    """The plan run with trials that end at once."""
    groups = resolve_all([changed(each, flags) for each in settings_of(plan)], places)
    store = ResultsStore(places.results)

    def work(desk: Desk) -> Attempt:
        return attempt_of(desk, End())

    with open_sessions(groups, places, {}) as sessions:
        isolation = choose("none", private=())
        run = Run(plan, groups, sessions, places, store, Scanner(), Quiet(), Stop(), isolation)
        return run_plan(replace(run, work=work, judging=judging))


@pytest.fixture
def planned(places: Places) -> tuple[Places, PlanRecord, ResultsStore]:
    places.harnesses.mkdir()
    return places, *new_plan(places)


@pytest.mark.parametrize(("mode", "thread"), [("inline", "ThreadPoolExecutor-"), ("async", "judging")])
def test_every_finished_trial_is_judged_once(
    planned: tuple[Places, PlanRecord, ResultsStore], mode: str, thread: str
) -> None:
    places, plan, store = planned
    court = Court(plan, store, lambda _: None)
    judging = Judging(court.judge, court.is_judged, mode="inline" if mode == "inline" else "async")
    summary = carried_out(places, plan, judging)
    assert summary.exit_code(None) == 0
    assert court.calls == Counter(planned.identity.key for planned in plan.trials)
    assert all(name.startswith(thread) for name in court.threads)
    assert court.most <= (2 if mode == "inline" else 1)
    assert all(court.is_judged(planned.identity) for planned in plan.trials)


def test_nothing_is_judged_where_nobody_wants_it(planned: tuple[Places, PlanRecord, ResultsStore]) -> None:
    places, plan, store = planned
    court = Court(plan, store, lambda _: None)
    summary = carried_out(places, plan, Judging(court.judge, court.is_judged, mode="skip"))
    assert summary.exit_code(None) == 0
    assert not court.calls


@pytest.mark.parametrize("mode", ["inline", "async"])
def test_what_judging_fails_at_is_named_and_made_up_for_by_the_next_runner(
    planned: tuple[Places, PlanRecord, ResultsStore], mode: str
) -> None:
    places, plan, store = planned
    court = Court(plan, store, lambda number: "the judge gave no valid reply" if number in {2, 5} else None)
    judging = Judging(court.judge, court.is_judged, mode="inline" if mode == "inline" else "async")
    summary = carried_out(places, plan, judging)
    assert summary.finished == summary.planned == 8
    assert list(summary.not_judged.values()) == ["the judge gave no valid reply"] * 2
    assert summary.exit_code(None) == 3
    lines = summary_lines(summary)
    assert sum("not judged: " in line and "the judge gave no valid reply" in line for line in lines) == 2
    assert f"go on with: invoke run --resume {plan.plan_id}" in lines
    failed = {"/".join(key) for key, count in court.calls.items() if not judged(court, plan, key)}
    assert failed == set(summary.not_judged)
    again = carried_out(places, plan, judging)
    assert again.exit_code(None) == 0
    assert sum(court.calls.values()) == 10


def test_what_judging_costs_counts_for_the_ceiling_of_the_run(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, store = planned
    court = Court(plan, store, lambda _: None)

    def spent(identity: TrialIdentity) -> Spent:
        return Spent(usd=1.0 if court.is_judged(identity) else 0.0)

    judging = Judging(court.judge, court.is_judged, "inline", spent=spent)
    summary = carried_out(places, plan, judging, budget_usd=3.5)
    # A trial costs a dollar, and so does its judgement.
    assert (summary.finished, sum(court.calls.values())) == (2, 2)
    assert [reason.split(":")[0] for reason in summary.reasons] == ["the budget of the run is used up"]
    again = carried_out(places, plan, judging, budget_usd=3.5)
    assert (again.finished, sum(court.calls.values())) == (2, 2)


def test_nothing_is_judged_above_the_ceiling_of_the_run_and_that_is_said(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, store = planned
    court = Court(plan, store, lambda _: None)
    summary = carried_out(places, plan, Judging(court.judge, court.is_judged), budget_usd=0.0001)
    assert (summary.finished, sum(court.calls.values())) == (1, 0)
    [reason] = summary.not_judged.values()
    assert reason.startswith("the budget of the run is used up: $")
    assert reason.endswith("; invoke judge judges it all the same")
    assert carried_out(places, plan, Judging(court.judge, court.is_judged)).exit_code(None) == 0
    assert sum(court.calls.values()) == 8


def judged(court: Court, plan: PlanRecord, key: Key) -> bool:
    [identity] = [planned.identity for planned in plan.trials if planned.identity.key == key]
    return court.is_judged(identity)


def test_a_judge_that_cannot_be_reached_is_a_failure_of_that_trial_only(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, store = planned

    def unreachable(number: int) -> str | None:
        if number == 1:
            raise EndpointError("the judge does not answer", remedy="look at it")
        return None

    court = Court(plan, store, unreachable)
    summary = carried_out(places, plan, Judging(court.judge, court.is_judged))
    assert [why.split(" what")[0] for why in summary.not_judged.values()] == ["the judge does not answer"]
    assert summary.finished == 8


def test_so_many_judgements_at_a_time_and_no_more() -> None:
    meet = threading.Barrier(3)
    most = Counter[str]()
    lock = threading.Lock()

    def judge(_: TrialIdentity) -> str | None:
        with lock:
            most["now"] += 1
            most["most"] = max(most["most"], most["now"])
        meet.wait(120)
        with lock:
            most["now"] -= 1
        return None

    waiting: list[int] = []
    judging = Judging(judge, lambda _: False, concurrency=3)
    queue = JudgingQueue(judging, lambda each: waiting.append(each.waiting))
    for number in range(1, 7):
        queue.put(examples.identity(trial=number))
        queue.put(examples.identity(trial=number))
    queue.close(give_up=lambda: False)
    assert most["most"] == 3
    assert waiting[-1] == 0
    assert max(waiting) >= 3


def test_a_user_who_stops_waits_only_for_the_judgement_in_hand() -> None:
    begun, go = threading.Event(), threading.Event()
    calls: list[TrialIdentity] = []

    def judge(identity: TrialIdentity) -> str | None:
        calls.append(identity)
        begun.set()
        assert go.wait(120)
        return None

    queue = JudgingQueue(Judging(judge, lambda _: False), lambda _: None)
    for number in range(1, 6):
        queue.put(examples.identity(trial=number))
    assert begun.wait(120)

    def give_up() -> bool:
        # The judge ends only when the others are given up.
        threading.Timer(0.3, go.set).start()
        return True

    queue.close(give_up=give_up)
    assert len(calls) == 1
    assert queue.waiting == 0
    assert queue.failed == {}


def test_a_fault_of_ours_in_judging_is_not_hidden(tmp_path: Path) -> None:
    def judge(_: TrialIdentity) -> str | None:
        raise ZeroDivisionError

    queue = JudgingQueue(Judging(judge, lambda _: False), lambda _: None)
    queue.put(examples.identity())
    with pytest.raises(ZeroDivisionError):
        queue.close(give_up=lambda: False)
