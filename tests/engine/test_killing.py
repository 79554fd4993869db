"""kill -9 of the runner of a matrix at random moments: nothing is lost, changed or run twice."""

from __future__ import annotations

from pathlib import Path

from runner.engine.killing import KillMeasurement, changed_trials, differing, facts, measure_kills
from runner.engine.places import Places
from runner.store.layout import STAGING
from tests.engine.runs import demonstration, run, undo_last_trial

PROJECT = Path(__file__).parent.parent.parent
MATRIX = """
models: [{model: replay-careful, provider: replay}, {model: replay-hasty, provider: replay}]
harnesses: [loop]
skills: [fix]
datasets: [{dataset: hello-world, count: 2}]
concurrency: 2
"""


def test_killed_at_random_moments_and_resumed_a_matrix_ends_with_the_same_trials(tmp_path: Path) -> None:
    found = measure_kills(PROJECT / "datasets", kills=8, longest=0.8, matrix=MATRIX, folder=tmp_path)
    assert (found.kills, found.trials) == (8, 4)
    assert found.faults == ()
    assert "8 kills of a runner, at random moments of" in found.lines()[0]
    assert found.lines()[-1].startswith("0 faults")
    assert not any(tmp_path.iterdir())


def test_a_finished_trial_that_was_written_again_or_is_gone_is_a_fault(places: Places) -> None:
    run(places, {"count": 1, "model": "replay-careful"})
    store, seen = demonstration(places), dict[str, str]()
    staged = store.root / STAGING / "run-1" / "abc" / "trial.json"
    staged.parent.mkdir(parents=True)
    staged.write_text("{}")
    assert list(changed_trials(places, seen)) == []
    [name] = seen
    (store.root / name).write_bytes((store.root / name).read_bytes() + b"\n")
    [line] = changed_trials(places, seen)
    assert line == f"{name}: was written again after it had been finished"
    [plan] = store.plans()
    undo_last_trial(store, plan.plan_id)
    [line] = changed_trials(places, seen)
    assert line == f"{name}: is gone after it had been finished"


def test_a_trial_that_is_missing_or_differs_is_a_fault(whole: tuple[Places, str]) -> None:
    store = demonstration(whole[0])
    trials = {stored.record.identity.key: facts(stored) for stored in store.trials()}
    first, *others = trials
    assert list(differing(trials, dict(trials))) == []
    [line] = differing(trials, {key: trials[key] for key in others})
    assert "/".join(first) in line
    [line] = differing(trials, {**trials, first: trials[others[0]]})
    assert "differs from that of the undisturbed run" in line
    assert KillMeasurement(1, 1, 1, 0, (line,)).lines()[1] == line
