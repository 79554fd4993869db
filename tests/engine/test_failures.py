"""What goes wrong around the trials of a run: none that finished is lost, and what is said is true."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.engine.attempt import Attempt
from runner.engine.masking import Mask
from runner.engine.places import Places
from runner.engine.progress import dollars, summary_lines, trial_line
from runner.engine.running import RunSummary
from runner.errors import ConfigurationError, StoreError, UsageError
from runner.harnesses.base import Assignment, Launch
from runner.harnesses.loop import Loop
from runner.records import CheckStatus, Outcome, PlannedTrial
from runner.store import verify
from tests import examples
from tests.engine.runs import demonstration, run, undo_last_trial


def summary(**changes: object) -> RunSummary:
    """A finished run of 20 trials, with ``changes``."""
    facts: dict[str, object] = {
        "plan_id": "run-1",
        "planned": 20,
        "finished": 20,
        "outcomes": {"completed": 20},
        "resolved": 11,
        "graded": 20,
        "spent_usd": 1.5,
        "unpriced": 0,
    }
    return RunSummary(**{**facts, **changes})  # type: ignore[arg-type]


def test_a_trial_that_cannot_be_written_does_not_lose_those_in_flight(places: Places) -> None:
    store = demonstration(places)
    blocked = store.root / "swe/replay-careful_replay/loop/fix/hello-world/fair-rounding"
    blocked.parent.mkdir(parents=True)
    blocked.write_bytes(b"a file where a folder must be")
    with pytest.raises(StoreError, match="could not write"):
        run(places, {"model": "replay-careful", "concurrency": 5})
    assert {stored.record.identity.task for stored in store.trials()} == {
        "entry-across-midnight",
        "quarter-hour-default",
        "totals-by-tag",
        "whole-minutes",
    }
    blocked.unlink()
    assert run(places, resume=True)[0] == 0
    assert verify(store.root) == []


@pytest.mark.parametrize(
    ("resolved", "asked", "code"), [(11, 55.0, 0), (11, 55.1, 2), (10, 55.0, 2), (0, 0.0, 0)]
)
def test_a_share_that_is_reached_exactly_is_not_below_the_threshold(
    resolved: int, asked: float, code: int
) -> None:
    assert summary(resolved=resolved).exit_code(asked) == code


def test_a_run_whose_tasks_have_no_hidden_tests_is_whole_and_says_so() -> None:
    untested = summary(resolved=0, graded=0, untested=20)
    assert untested.exit_code(None) == 0
    assert summary(graded=19).exit_code(None) == 3
    assert "20 trials of tasks without hidden tests" in "\n".join(summary_lines(untested))


@pytest.mark.parametrize(
    ("spent", "unpriced", "said"),
    [
        (1.5, 0, "spent: $1.50"),
        (1.5, 2, "spent: at least $1.50, 2 trials without a price"),
        (0.0, 1, "spent: unknown (1 trial without a price)"),
    ],
)
def test_a_trial_without_a_price_does_not_hide_what_the_others_cost(
    spent: float, unpriced: int, said: str
) -> None:
    assert said in summary_lines(summary(spent_usd=spent, unpriced=unpriced))


def test_a_trial_is_one_line_whatever_its_reason_holds() -> None:
    reason = "the server said\n  where: \x1b[2J\x1b]0;title\x07 nowhere\r\n"
    trial = examples.trial().model_copy(update={"outcome": Outcome.MODEL_ERROR, "outcome_reason": reason})
    planned = PlannedTrial(identity=trial.identity, fingerprint=trial.fingerprint)
    line = trial_line(planned, Attempt(trial, (), {}))
    assert line.isprintable()
    assert "(the server said where: " in line


def test_an_empty_plan_id_does_not_start_a_new_run(places: Places) -> None:
    with pytest.raises(UsageError, match="empty plan id"):
        run(places, resume="")
    assert not places.results.exists()


def test_a_model_named_twice_is_one_cell(places: Places) -> None:
    code, output = run(places, {"model": "replay-careful, replay-careful", "tasks": "whole-minutes"})
    assert code == 0
    assert "1 trial in a seeded order" in output


def test_two_models_under_one_short_name_are_refused_before_anything_is_planned(places: Places) -> None:
    with pytest.raises(UsageError, match="fill the same cell"):
        run(places, {"model": "replay-careful,replay-careful[1m]"}, dry_run=True)


def test_a_trial_number_is_taken_even_where_its_plan_is_gone(places: Places) -> None:
    flags = {"model": "replay-careful", "tasks": "whole-minutes"}
    run(places, flags)
    store = demonstration(places)
    shutil.rmtree(store.root / "plans")
    run(places, flags)
    assert sorted(stored.record.identity.trial for stored in store.trials()) == [1, 2]


FAR = """
schema_version: "1.1"
name: far
title: Far away
description: A repository that is not there.
version: "1"
visibility: public
default_ref: v1
metrics: [score]
complexity_levels: [low]
tasks:
  - {id: one, repo: ./nothing-here, complexity: low, problem_statement: Change it.}
  - {id: two, repo: ./nothing-there, complexity: low, problem_statement: Change it.}
"""


def test_repositories_that_cannot_be_had_are_all_named_before_anything_is_planned(places: Places) -> None:
    path = places.root.parent / "far.yaml"
    path.write_text(FAR, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        run(places, {"dataset": str(path), "model": "replay-careful"})
    assert caught.value.exit_code == 1
    assert all(name in caught.value.message() for name in ("nothing-here", "nothing-there"))
    assert not list(places.root.rglob("plans/*.json"))


def test_a_dataset_named_by_its_path_is_found_again_and_leaves_no_folder_of_this_machine(
    places: Places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = places.datasets / "hello-world.yaml"
    run(places, {"dataset": str(path), "model": "replay-careful", "count": 2})
    store = demonstration(places)
    [plan] = store.plans()
    undo_last_trial(store, plan.plan_id)
    monkeypatch.chdir(tmp_path)
    assert run(places, resume=True)[0] == 0
    home = str(places.root.parent).encode()
    assert not [each for each in store.root.rglob("*") if each.is_file() and home in each.read_bytes()]


@dataclass(frozen=True)
class Spoiler(Loop):
    """Changes the hidden files while the agent works."""

    name: str = "spoiler"

    def launch(self, assignment: Assignment) -> Launch:
        project = assignment.workspace.parents[4]
        hidden = [path for path in project.glob("datasets/**/whole-minutes/**/*") if path.suffix == ".py"]
        assert hidden
        for path in hidden:
            path.write_bytes(path.read_bytes() + b"\n")
        return super().launch(assignment)


def test_a_check_that_our_side_fails_at_does_not_lose_the_work_of_the_agent(places: Places) -> None:
    flags = {"harness": "tests.engine.test_failures:Spoiler", "model": "replay-careful"}
    code, output = run(places, {**flags, "tasks": "whole-minutes"})
    [stored] = demonstration(places).trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert stored.artifact("patch.diff") is not None
    assert CheckStatus.ERROR in {check.status for check in stored.checks}
    assert "not graded" in output
    assert code == 3


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"{sys.executable} -m x", "python -m x"),
        ("/w/project/.artifacts/work/r/0/workspace/a.py", "<trial>/workspace/a.py"),
        ("/w/project/datasets/x.yaml", "<project>/datasets/x.yaml"),
        (f"{Path.home()}/.ssh/id", "~/.ssh/id"),
        ("key k-123456 refused", "key <secret> refused"),
    ],
)
def test_no_folder_of_this_machine_and_no_key_is_in_a_masked_text(said: str, kept: str) -> None:
    mask = Mask(secret="k-123456", folder="/w/project/.artifacts/work/r/0", project="/w/project")
    assert mask.text(said) == kept


@pytest.mark.parametrize(
    ("amount", "shown"), [(0, "$0.00"), (0.001, "$0.001"), (0.006, "$0.01"), (1.5, "$1.50"), (1e-9, "$1e-09")]
)
def test_a_ceiling_below_a_cent_is_not_shown_as_nothing(amount: float, shown: str) -> None:
    assert dollars(amount) == shown
