"""Status in words and figures: the estimate and its basis, who is at work, and how a runner left."""

from __future__ import annotations

import io
import json
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from runner.engine.eta import estimate
from runner.engine.journal import FailedBlock, Journal, RunState, read_state
from runner.engine.lock import is_locked, locked, require_unlocked
from runner.engine.places import Places
from runner.engine.processes import Process, identify
from runner.engine.status import Status, status_of
from runner.engine.status_command import status_command, unfinished
from runner.engine.status_text import duration, status_lines
from runner.engine.stopping import stop_command
from runner.errors import UsageError
from runner.records import CheckPurpose, Cost, CostBasis, JudgementStatus, PlanRecord
from runner.store import ResultsStore
from tests import examples
from tests.engine.puppets import new_plan
from tests.engine.runs import demonstration, run

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
A, B = ("a",), ("b",)


def first(plan_id: str = "run-1", **changes: object) -> RunState:
    me = identify(os.getpid())
    state = RunState(
        plan_id=plan_id,
        pid=os.getpid(),
        started=None if me is None else me.started,
        begun_at=NOW,
        heartbeat=NOW,
    )
    return state.model_copy(update=changes)


def written(places: Places, plan_id: str, **changes: object) -> None:
    path = places.state(plan_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(first(plan_id, **changes).model_dump_json(), encoding="utf-8")


@pytest.fixture
def planned(places: Places) -> tuple[Places, PlanRecord, ResultsStore]:
    places.harnesses.mkdir()
    return places, *new_plan(places)


def look(planned: tuple[Places, PlanRecord, ResultsStore], now: datetime = NOW) -> Status:
    places, plan, store = planned
    return status_of(plan, store, places, now)


def test_nothing_finished_means_nothing_is_known() -> None:
    eta = estimate({}, [A, A], [(B, 3.0)], 2)
    assert eta.seconds is None
    assert eta.basis == "no trial of these cells has finished yet"


def test_the_estimate_is_the_median_of_each_cell_shared_by_those_in_flight() -> None:
    eta = estimate({A: [10.0, 20.0, 90.0], B: [30.0]}, [A, A, B], [(A, 5.0), (B, 300.0)], 2)
    assert eta.seconds == pytest.approx((20 + 20 + 30 + 15 + 0) / 2)
    assert estimate({A: [1.0], B: [30.0]}, [A, B], [], 9).seconds == 30.0, "the longest one decides"
    assert not eta.at_least
    assert eta.basis == "median of the finished trials of the same cell, 2 at a time"


def test_cells_nothing_is_known_of_make_it_a_lower_bound_that_says_so() -> None:
    eta = estimate({A: [10.0]}, [A, B], [], 1)
    assert (eta.seconds, eta.at_least) == (10.0, True)
    assert "of 1 cell no trial has finished yet" in eta.basis


CELLS = st.sampled_from([A, B])
SECONDS = st.floats(0, 1e5)


@given(
    st.dictionaries(CELLS, st.lists(SECONDS, max_size=5)),
    st.lists(CELLS, max_size=6),
    st.lists(st.tuples(CELLS, st.floats(0, float("inf"))), max_size=4),
    st.integers(1, 9),
)
def test_an_estimate_is_never_negative_and_grows_with_what_is_left(
    finished: dict[tuple[str, ...], list[float]],
    left: list[tuple[str, ...]],
    running: list[tuple[tuple[str, ...], float]],
    concurrency: int,
) -> None:
    eta = estimate(finished, left, running, concurrency)
    known = {cell for cell, seconds in finished.items() if seconds}
    concerned = {*left, *(cell for cell, _ in running)}
    assert (eta.seconds is None) == (bool(concerned) and not concerned & known)
    assert eta.at_least == (bool(concerned & known) and not concerned <= known)
    if eta.seconds is not None:
        assert eta.seconds >= 0
        if known:
            more = estimate(finished, [*left, sorted(known)[0]], running, concurrency)
            assert more.seconds is not None
            assert more.seconds >= eta.seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min"), (3599, "59 min 59 s"), (3600, "1 h"), (90061, "1 d 1 h")],
)
def test_time_spans_are_said_in_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_runner_without_a_sign_of_life_is_alive_but_silent(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, _ = planned
    with Journal(places.state(plan.plan_id), first(plan.plan_id), now=lambda: NOW) as journal:
        with locked(places.lock(plan.plan_id), wait=False, holder="a test"):
            journal.begins(3)
            journal.agent(3, "at work")
            fresh = look(planned, NOW + timedelta(seconds=10))
            stale = look(planned, NOW + timedelta(minutes=5))
        dead = look(planned, NOW + timedelta(minutes=5))
        journal.end(exit_code=3)
    assert (fresh.runner.state, [each.position for each in fresh.running]) == ("at work", [3])
    assert stale.runner.state == "silent"
    assert "runner: alive, but silent" in "\n".join(status_lines(stale, NOW))
    assert [each.position for each in stale.running] == [3], "it may go on"
    assert (dead.runner.state, dead.running, dead.left) == ("killed", (), 8)
    ended = look(planned)
    assert (ended.runner.state, ended.runner.exit_code) == ("ended", 3)


def test_what_a_dead_runner_said_is_not_believed_of_the_one_that_begins(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, _ = planned
    me = identify(os.getpid())
    assert me is not None
    with Journal(places.state(plan.plan_id), first(plan.plan_id)) as journal:
        journal.begins(0)
        said = journal.state
    written(places, plan.plan_id, running=said.running, started=me.started + 1)
    with locked(places.lock(plan.plan_id), wait=False, holder="a test"):
        status = look(planned)
    assert (status.runner.state, status.running, status.left) == ("at work", (), 8)
    assert status.resume is None
    assert "it has just begun" in status_lines(status, NOW)[2]


def test_a_runner_that_failed_says_why(planned: tuple[Places, PlanRecord, ResultsStore]) -> None:
    places, plan, _ = planned

    def fail() -> None:
        with Journal(places.state(plan.plan_id), first(plan.plan_id)):
            raise ValueError("the disk\n is full")

    with pytest.raises(ValueError, match="disk"):
        fail()
    status = look(planned)
    assert (status.runner.state, status.runner.failure) == ("failed", "the disk is full")
    assert status.resume == f"invoke run --resume {plan.plan_id}"


def test_models_that_were_not_served_and_reasons_are_shown_without_steering_the_terminal(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, _ = planned
    failed = FailedBlock(key="k", models=("b_turns",), reason="no \x1b[2J memory\n")
    written(places, plan.plan_id, failed=(failed,), reasons=("the budget is \x07 used up",), ended_at=NOW)
    lines = status_lines(look(planned), NOW)
    assert all(line.isprintable() for line in lines)
    assert any(line.startswith("not served: b_turns: no ") for line in lines)
    assert any(line.startswith("note: the budget is ") for line in lines)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"plan_id": 3}', b"\xff\xfe"])
def test_a_state_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)
    assert read_state(path) is None


def test_a_journal_that_cannot_be_written_does_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "state.json").mkdir()
    with Journal(tmp_path / "state.json", first()) as journal:
        journal.begins(1)
        journal.leaves(1)
        journal.end(exit_code=0)
    assert journal.state.exit_code == 0


def test_many_threads_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "state.json"
    with Journal(path, first()) as journal:

        def work(position: int) -> None:
            journal.begins(position)
            journal.agent(position, "at work")
            journal.sign(position)
            journal.agent(position, "done")
            if position % 2:
                journal.leaves(position)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        state = read_state(path)
        assert state is not None
        assert sorted(each.position for each in state.running) == list(range(0, 20, 2))
        journal.end(exit_code=0)
    last = read_state(path)
    assert last is not None
    assert (last.phase, last.running, last.ended_at is not None) == ("ended", (), True)


def test_who_only_looks_at_a_lock_does_not_keep_a_runner_from_taking_it(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    assert not is_locked(path)
    with locked(path, wait=False, holder="one"):
        assert is_locked(path)
        with pytest.raises(UsageError, match="another is at work already"):
            require_unlocked(path, holder="another")
    stop = threading.Event()

    def look_often() -> None:
        while not stop.is_set():
            is_locked(path)

    watcher = threading.Thread(target=look_often)
    watcher.start()
    try:
        for _ in range(50):
            with locked(path, wait=False, holder="one"):
                pass
    finally:
        stop.set()
        watcher.join()


def test_a_trial_that_judges_gave_no_valid_answer_on_is_not_judged(places: Places) -> None:
    run(places, {"count": 1, "model": "replay-careful"})
    store = demonstration(places)
    [plan] = store.plans()
    identity = plan.trials[0].identity
    whole = examples.judgement(identity)
    unscored = {
        "status": JudgementStatus.INVALID,
        "invalid_reason": "no sum",
        "costs": (),
        "scores": None,
        "task_score": None,
    }
    store.write_judgement(plan.plan_id, whole.model_copy(update=unscored))
    seen = status_of(plan, store, places, NOW)
    assert (seen.judged, seen.judging_usd, seen.judging_unpriced) == (0, 0.0, 1)
    assert "; judging unknown, 1 judgements without a price" in "\n".join(status_lines(seen, NOW))
    store.write_judgement(plan.plan_id, whole.model_copy(update={"number": 2, "costs": ()}))
    paid = Cost(basis=CostBasis.METERED, amount_usd=0.25, source="a test")
    store.write_judgement(plan.plan_id, whole.model_copy(update={"number": 3, "costs": (paid,)}))
    seen = status_of(plan, store, places, NOW)
    assert (seen.judged, seen.judging_usd, seen.judging_unpriced) == (1, 0.25, 2)
    assert "; judging at least $0.25" in "\n".join(status_lines(seen, NOW))


def test_trials_that_only_a_judge_can_grade_are_told_apart_from_those_without_a_grade(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    _, plan, store = planned
    identity = plan.trials[0].identity
    build = examples.check(identity).model_copy(update={"purpose": CheckPurpose.BUILD})
    store.write_trial(examples.trial(identity, plan.plan_id), checks=(build,))
    seen = look(planned)
    assert (seen.done, seen.graded, seen.untested) == (1, 0, 1)
    assert "1 trial of tasks without hidden tests: only a judge" in "\n".join(status_lines(seen, NOW))


def test_the_newest_plan_is_shown_and_every_unfinished_one_is_listed(places: Places) -> None:
    run(places, {"count": 1, "model": "replay-careful"})
    [done] = demonstration(places).plans()
    places.harnesses.mkdir()
    older, _ = new_plan(places)
    newer, _ = new_plan(places, models="a")
    listed = [each.plan_id for each in unfinished(places) if isinstance(each, Status)]
    assert listed == [newer.plan_id, older.plan_id]
    output = io.StringIO()
    assert status_command(places, Console(file=output, width=300)) == 3
    text = output.getvalue()
    assert text.startswith(
        f"plan {newer.plan_id}\n4 planned: 0 done, 0 running, 4 left\nrunner: none was here"
    )
    assert f"also unfinished: {older.plan_id}: 0 of 8 done, runner none" in text
    assert done.plan_id not in text
    output = io.StringIO()
    assert status_command(places, Console(file=output, width=300), plan_id=done.plan_id) == 0
    assert "1 planned: 1 done" in output.getvalue()
    output = io.StringIO()
    status_command(places, Console(file=output), as_json=True)
    told = json.loads(output.getvalue())
    assert Status.model_validate_json(json.dumps(told["status"])).plan_id == newer.plan_id
    assert [each["plan_id"] for each in told["unfinished"]] == [older.plan_id]
    with pytest.raises(UsageError, match="there is no plan run-of-yesterday"):
        status_command(places, Console(file=io.StringIO()), plan_id="run-of-yesterday")


def test_no_process_is_that_of_another_time() -> None:
    state = first(started=None)
    assert state.writer is None
    assert first(started=7).writer == Process(os.getpid(), 7)


def test_a_runner_that_has_ended_is_not_asked_to_stop_though_it_holds_its_lock_for_a_moment(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, _ = planned
    written(places, plan.plan_id, ended_at=NOW, exit_code=3)
    with locked(places.lock(plan.plan_id), wait=False, holder="a test"):
        for asked, why in (
            (plan.plan_id, "nobody is at work on run-"),
            (None, "nobody is at work on a plan"),
        ):
            with pytest.raises(UsageError, match=why):
                stop_command(places, print, plan_id=asked, now=True)


def test_a_runner_whose_predecessor_left_its_words_has_just_begun(
    planned: tuple[Places, PlanRecord, ResultsStore],
) -> None:
    places, plan, _ = planned
    written(places, plan.plan_id, ended_at=NOW, exit_code=3, pid=2**22 + 1, started=1)
    with (
        locked(places.lock(plan.plan_id), wait=False, holder="a test"),
        pytest.raises(UsageError, match="has just begun"),
    ):
        stop_command(places, print, plan_id=plan.plan_id, now=True)
