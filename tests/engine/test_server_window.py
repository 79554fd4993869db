"""Counters of a whole server are marked as shared, and never become the counts of a trial."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.engine.server_window import Crowd, Window, shared_because
from runner.providers.counters import ServerCounters
from runner.records import TrialRecord, WindowGauge
from runner.store import ResultsStore
from tests.engine.runs import demonstration, run


def readings(*counters: ServerCounters | None) -> Window:
    """A window whose server says these counters, one after the other."""
    left: Iterator[ServerCounters | None] = iter(counters)
    ticks = iter([10.0, 12.5])
    return Window(lambda: next(left), clock=lambda: next(ticks))


def counted(requests: int, prompt: int) -> ServerCounters:
    return ServerCounters(requests_finished=requests, prompt_tokens=prompt)


def test_an_agent_alone_whose_requests_are_all_there_were_has_the_window_for_itself() -> None:
    window = readings(counted(100, 5_000), counted(104, 9_000))
    with window.open(Crowd()):
        pass
    record = window.record(requests_seen=4)
    assert record is not None
    assert (record.shared, record.agents_at_once, record.seconds) == (False, 1, 2.5)
    assert (record.prompt_tokens, record.requests_finished) == (4_000, 4)
    assert record.generation_tokens is None


def test_requests_from_elsewhere_make_the_window_shared() -> None:
    window = readings(counted(100, 5_000), counted(109, 9_000))
    with window.open(Crowd()):
        pass
    record = window.record(requests_seen=4)
    assert record is not None
    assert record.shared
    assert record.shared_because == "the server finished 9 requests, this invocation sent 4"


def test_an_agent_that_came_and_went_meanwhile_makes_the_window_shared() -> None:
    crowd = Crowd()
    window = readings(counted(0, 0), counted(4, 100))
    with window.open(crowd), crowd.joined():
        pass
    record = window.record(requests_seen=4)
    assert record is not None
    assert (record.shared, record.agents_at_once) == (True, 2)


def test_the_crowd_counts_the_most_at_once_and_forgets_those_who_left() -> None:
    crowd = Crowd()
    with crowd.joined() as first:
        with crowd.joined() as second, crowd.joined():
            assert (first(), second()) == (3, 3)
        with crowd.joined() as later:
            assert later() == 2
        assert first() == 3
    with crowd.joined() as alone:
        assert alone() == 1


def test_the_crowd_is_counted_right_by_many_threads() -> None:
    crowd, gate = Crowd(), threading.Barrier(8)
    seen: list[int] = []

    def work() -> None:
        with crowd.joined() as most:
            gate.wait()
            seen.append(most())
            gate.wait()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert seen == [8] * 8


@pytest.mark.parametrize("finished", [None, 3])
def test_what_cannot_be_told_is_taken_for_shared(finished: int | None) -> None:
    seen = 3 if finished is None else None
    assert "cannot be told" in (shared_because(1, finished, seen) or "")


def test_a_server_without_a_page_leaves_no_window_and_is_asked_once() -> None:
    asked = []
    window = Window(lambda: asked.append(1))
    with window.open(Crowd()):
        pass
    assert window.record(requests_seen=1) is None
    assert asked == [1]


def test_a_server_that_died_meanwhile_leaves_no_window() -> None:
    window = readings(counted(0, 0), None)
    with window.open(Crowd()):
        pass
    assert window.record(requests_seen=1) is None


def windows_of(store: ResultsStore) -> list[TrialRecord]:
    return [stored.record for stored in store.trials()]


def test_trials_run_one_at_a_time_have_the_replay_server_for_themselves(places: Places) -> None:
    run(places, {"model": "replay-careful", "count": "2", "concurrency": "1"})
    records = windows_of(demonstration(places))
    assert len(records) == 2
    for record in records:
        for invocation in record.invocations:
            window = invocation.server_window
            assert window is not None
            assert (window.shared, window.agents_at_once) == (False, 1)
            assert window.requests_finished == invocation.requests_seen


def test_counters_are_marked_as_shared_when_trials_run_side_by_side(places: Places) -> None:
    flags = {"model": "replay-careful", "count": "2", "trials": "2", "concurrency": "4", "faults": "slow200"}
    run(places, flags)
    records = windows_of(demonstration(places))
    windows = [each.server_window for record in records for each in record.invocations]
    assert len(records) == 4
    shared = [window for window in windows if window is not None and window.shared]
    assert any(window.agents_at_once > 1 for window in shared)
    for record in records:
        assert record.usage is not None
        own = record.usage.input_tokens
        for invocation in record.invocations:
            window = invocation.server_window
            if window is not None and window.agents_at_once > 1 and window.prompt_tokens:
                # What the server counted holds the other trials too; the trial's count does not follow it.
                assert own is not None
                assert invocation.usage is not None
                assert all("window" not in source for source in invocation.usage.sources.values())


def test_no_count_of_a_trial_changes_with_how_many_run_beside_it(places: Places, tmp_path: Path) -> None:
    flags = {"model": "replay-careful", "count": "2", "trials": "2"}
    run(places, {**flags, "concurrency": "1"})
    run(places, {**flags, "concurrency": "4", "faults": "slow200"})
    by_task: dict[str, set[str]] = {}
    for stored in demonstration(places).trials():
        usage = stored.record.usage
        assert usage is not None
        by_task.setdefault(stored.record.identity.task, set()).add(usage.model_dump_json())
    assert len(by_task) == 2
    assert all(len(usages) == 1 for usages in by_task.values())


def test_gauges_are_asked_for_between_the_two_readings_and_become_part_of_the_window() -> None:
    asked: list[tuple[datetime, datetime]] = []

    def gauges(begun: datetime, ended: datetime) -> dict[str, WindowGauge]:
        asked.append((begun, ended))
        return {"num_requests_running": WindowGauge(peak=2.0, mean=1.0, samples=3)}

    window = Window(lambda: counted(5, 5), gauges=gauges)
    with window.open(Crowd()):
        assert asked == []
    record = window.record(requests_seen=5)
    assert record is not None
    assert record.gauges["num_requests_running"].peak == 2.0
    ((begun, ended),) = asked
    assert begun <= ended
