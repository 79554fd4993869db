"""Ceilings of time hold over every runner of a plan; a check can be stopped; a change may be no patch."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.engine.wallclock import WallClock
from runner.records import Outcome
from runner.store import ResultsStore, verify
from tests.engine.runs import run, wait_until_asked_to_stop
from tests.engine.standin import ENVIRONMENT, run_script, script

WORKS = "say(tokens=10)\nchange(); note()\n"


def finished(places: Places) -> list[Outcome]:
    return [stored.record.outcome for stored in ResultsStore(places.results).trials()]


def test_the_clock_counts_what_earlier_runners_worked() -> None:
    now = [100.0]
    wall = WallClock(max_hours=2.0, end_hours=3.0, earlier_seconds=3600.0, clock=lambda: now[0])
    assert wall.over() is None
    assert wall.until_end() == 7200.0
    now[0] += 3600.0
    assert wall.over() == "the time of the run is used up: no trial starts after 2 hours at work"
    assert wall.past_end() is None
    now[0] += 3600.0
    assert wall.past_end() == "the time of the run is used up: everything ends after 3 hours at work"
    assert wall.until_end() == 0.0
    assert wall.seconds() == 10800.0


def test_without_ceilings_time_does_not_matter() -> None:
    now = [0.0]
    wall = WallClock(clock=lambda: now[0])
    now[0] = 1e9
    assert (wall.over(), wall.past_end(), wall.until_end()) == (None, None, None)


def test_after_its_hours_no_trial_starts_also_on_resume(places: Places) -> None:
    code, output = run_script(places, WORKS, trials=3, concurrency=1, max_hours=1e-6)
    assert code == 3
    assert finished(places) == []
    assert "the time of the run is used up: no trial starts after 1e-06 hours at work" in output
    again, output = run(places, resume=True, environment=ENVIRONMENT)
    assert (again, finished(places)) == (3, [])
    assert run(places, {"max_hours": 1.0}, resume=True, environment=ENVIRONMENT)[0] == 0
    assert finished(places) == [Outcome.COMPLETED] * 3


def stopped_at_the_end(places: Places, tokens: int, **flags: object) -> str:
    """A run whose hard end comes while its agent sleeps; what it printed.

    On a busy machine the agent may have said nothing by then, so that it goes on with more time.
    """
    begun = time.monotonic()
    waits = f"say(tokens={tokens})\nchange()\ntime.sleep(200)\n"
    code, output = run_script(places, waits, flags={"concurrency": 1, **flags}, end_hours=2 / 3600)
    for seconds in (6, 20, 60):
        kept = [path.read_text() for path in (places.artifacts / "work").rglob("*.json")]
        if any(f'"input_tokens":{tokens},' in text for text in kept):
            break
        code, output = run(places, {"end_hours": seconds / 3600}, resume=True, environment=ENVIRONMENT)
    assert time.monotonic() - begun < 180
    assert (code, finished(places)) == (3, [])
    return output


def test_at_the_hard_end_trials_in_flight_stop_and_are_left(places: Places) -> None:
    output = stopped_at_the_end(places, 10)
    assert "everything ends after" in output
    script(places, WORKS)
    assert run(places, {"end_hours": 1.0}, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    *cancelled, last = [each.stop_reason for each in stored.record.invocations]
    assert (set(cancelled), last) == ({"cancelled"}, "end")


def test_a_budget_counts_what_stopped_trials_had_spent_before_it_lets_another_one_start(
    places: Places,
) -> None:
    stopped_at_the_end(places, 100, trials=3, budget_tokens=90)
    script(places, WORKS)
    code, output = run(places, {"end_hours": 1.0}, resume=True, environment=ENVIRONMENT)
    assert (code, finished(places)) == (3, [])
    assert "the budget of the run is used up: 100 of 90 tokens" in output
    raised: dict[str, object] = {"end_hours": 1.0, "budget_tokens": 115}
    run(places, raised, resume=True, environment=ENVIRONMENT)
    assert finished(places) == [Outcome.COMPLETED] * 2, "100 + 10, then 100 + 10 + 10 are more than 115"


CHECK = """
        command: [python, -P, hidden_checks/run.py, hidden_checks/test_task.py]
"""
HANGS = """
        command:
          - python
          - -c
          - "import os, time; os.path.exists('{0}') and (open('{0}.seen', 'w'), time.sleep(90))"
"""


def test_pressing_twice_stops_a_check_and_the_trial_is_graded_later_without_its_agent(places: Places) -> None:
    marker = places.root / "hang"
    marker.touch()
    dataset = places.datasets / "hello-world.yaml"
    text = dataset.read_text(encoding="utf-8")
    assert CHECK in text
    dataset.write_text(text.replace(CHECK, HANGS.format(marker), 1), encoding="utf-8")

    def press_twice() -> None:
        while not marker.with_name("hang.seen").exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)
        wait_until_asked_to_stop(places)
        os.kill(os.getpid(), signal.SIGINT)

    begun = time.monotonic()
    presser = threading.Thread(target=press_twice, daemon=True)
    presser.start()
    code, output = run_script(places, WORKS, isolation="none")
    presser.join(10)
    assert time.monotonic() - begun < 60
    assert code == 3
    assert "Stopping the trials in flight" in output
    assert finished(places) == []
    marker.unlink()
    script(places, "raise SystemExit('the agent ran again')")
    run(places, resume=True, environment=ENVIRONMENT)
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert len(stored.record.invocations) == 1
    assert {check.name for check in stored.checks} >= {"patch-applies", "hidden-tests"}
    assert verify(places.results) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("pathlib.Path('big.bin').open('wb').truncate(100_000_001)", "the change is too large to be a patch"),
        (
            "import shutil; here = os.getcwd(); shutil.rmtree(here); pathlib.Path(here).symlink_to('/')",
            "the workspace is gone or was replaced by something else",
        ),
    ],
)
def test_a_change_that_is_no_patch_is_the_agents_doing_and_not_a_failure_of_ours(
    places: Places, change: str, says: str
) -> None:
    run_script(places, f"say(tokens=10)\nnote()\n{change}\n", isolation="none", max_retries=0, max_topups=0)
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.INCOMPLETE
    assert stored.record.outcome_reason.startswith("missing: patch.diff (")
    assert says in stored.record.outcome_reason
    assert stored.record.usage is not None
    assert not Path(places.artifacts / "work").exists() or not any(
        (places.artifacts / "work").rglob("stdout")
    )
