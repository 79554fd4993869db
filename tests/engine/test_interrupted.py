"""What a killed or stopped runner had spent on a trial is in the record that the next runner writes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.engine.earlier import CANCELLED, DONE, KILLED
from runner.engine.places import Places
from runner.records import InvocationKind, Outcome
from runner.store import ResultsStore, verify
from tests.engine.runs import run, wait_until_asked_to_stop
from tests.engine.standin import ENVIRONMENT, HARNESS, PROVIDER, script

PROJECT = Path(__file__).parent.parent.parent
PATIENCE = 120.0
CHILD = """
import json, sys
from pathlib import Path
from rich.console import Console
from runner.engine.command import run_command
from runner.engine.places import Places
flags = json.loads(sys.argv[2])
sys.exit(run_command(Places(Path(sys.argv[1])), Console(), config=None, flags=flags, environment={},
                     resume=None if flags else True))
"""
FLAGS = {"harness": HARNESS, "provider": PROVIDER, "model": "m", "count": 1, "concurrency": 1}
WAITS = "say(tokens=700, cost=0.25)\nchange()\n(artifacts / 'begun').touch()\ntime.sleep(60)\n"
ENDS = "say(tokens=100, cost=1.0)\nchange(); note()\n"


def start(places: Places, flags: dict[str, object]) -> subprocess.Popen[bytes]:
    """A runner in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(places.root), json.dumps(flags)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )


def begin(places: Places, flags: dict[str, object]) -> subprocess.Popen[bytes]:
    """A runner in a process of its own, once its agent has spent something and waits."""
    for stale in (places.artifacts / "work").glob("*/*/artifacts/begun"):
        stale.unlink()
    runner = start(places, flags)
    deadline = time.monotonic() + PATIENCE
    while not list((places.artifacts / "work").glob("*/*/artifacts/begun")):
        assert runner.poll() is None, runner.communicate()[0].decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return runner


def killed(places: Places, flags: dict[str, object]) -> None:
    with begin(places, flags) as runner:
        # What the agent printed before it began to wait has come to the runner.
        deadline = time.monotonic() + PATIENCE
        while not heard(places):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        runner.send_signal(signal.SIGKILL)


def given_up(places: Places) -> None:
    """A run whose agent waits is stopped, and then its agent too."""
    with begin(places, FLAGS) as runner:
        runner.send_signal(signal.SIGINT)
        wait_until_asked_to_stop(places)
        runner.send_signal(signal.SIGINT)
        output, _ = runner.communicate(timeout=PATIENCE)
        assert runner.returncode == 3, output


def invocation_ended(places: Places) -> bool:
    """Whether the first one has; asked for by its name, since the folder goes when the trial is written."""
    plans = list(ResultsStore(places.results).plans())
    return any((places.scratch(plan.plan_id, 0) / "invocation-1" / DONE).exists() for plan in plans)


def heard(places: Places) -> bool:
    """Whether the runner has kept what the last agent printed before it began to wait."""
    homes = (places.artifacts / "work").glob("*/*/invocation-*/home")
    last = max(homes, key=lambda home: int(home.parent.name.removeprefix("invocation-")))
    kept = last.with_name("stdout")
    return kept.is_file() and b"700" in kept.read_bytes()


def test_the_tokens_of_a_killed_invocation_are_counted_in_the_record(places: Places) -> None:
    script(places, WAITS)
    killed(places, FLAGS)
    script(places, ENDS)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    record = stored.record
    assert record.outcome is Outcome.COMPLETED
    assert [each.stop_reason for each in record.invocations] == [KILLED, "end"]
    assert [each.number for each in record.invocations] == [1, 2]
    assert [each.kind for each in record.invocations] == [InvocationKind.FIRST, InvocationKind.RETRY]
    assert record.usage is not None
    assert record.usage.input_tokens == 800
    assert [cost.amount_usd for cost in record.costs] == [1.25]
    assert (places.streams / f"{record.invocations[0].stream_sha256}.jsonl.gz").is_file()
    assert verify(places.results) == []
    assert not any((places.artifacts / "work").rglob("*"))


def test_several_kills_add_up_and_none_is_counted_twice(places: Places) -> None:
    script(places, WAITS)
    killed(places, FLAGS)
    killed(places, {})
    killed(places, {})
    script(places, ENDS)
    run(places, resume=True, environment=ENVIRONMENT)
    [stored] = ResultsStore(places.results).trials()
    reasons = [each.stop_reason for each in stored.record.invocations]
    assert reasons == [KILLED, KILLED, KILLED, "end"]
    assert stored.record.usage is not None
    assert stored.record.usage.input_tokens == 2200


def test_an_invocation_that_had_ended_before_the_kill_keeps_its_own_end(places: Places) -> None:
    script(
        places,
        "say(tokens=40, cost=0.5)\nchange()\n" + "if kind == 'top-up':\n    " + WAITS.replace("\n", "\n    "),
    )
    killed(places, FLAGS)
    script(places, ENDS)
    run(places, resume=True, environment=ENVIRONMENT)
    [stored] = ResultsStore(places.results).trials()
    invocations = stored.record.invocations
    assert [each.stop_reason for each in invocations] == ["end", KILLED, "end"]
    # The design of the first one is not made again.
    kinds = [InvocationKind.FIRST, InvocationKind.TOP_UP, InvocationKind.TOP_UP]
    assert [each.kind for each in invocations] == kinds
    assert stored.record.usage is not None
    assert stored.record.usage.input_tokens == 40 + 700 + 100


TOPS_UP = "say(tokens=40)\nchange()\nif kind == 'top-up':\n    note()\n    " + WAITS.replace("\n", "\n    ")


def test_a_top_up_that_was_killed_after_it_wrote_what_was_missing_is_made_again(places: Places) -> None:
    script(places, TOPS_UP)
    killed(places, FLAGS)
    # Twice: what the second one found is what the first one had left.
    killed(places, {})
    script(places, ENDS)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED, stored.record.outcome_reason
    assert [each.stop_reason for each in stored.record.invocations] == ["end", KILLED, KILLED, "end"]
    assert [each.kind for each in stored.record.invocations][1:] == 3 * [InvocationKind.TOP_UP]


def test_what_a_killed_top_up_had_begun_is_taken_back_before_the_next_one(places: Places) -> None:
    """Else the next agent finds half a rewrite, and nobody knows whose it is."""
    spoils = "change('half\\n'); pathlib.Path('stray.py').touch(); pathlib.Path('.git/index.lock').touch()"
    script(places, TOPS_UP.replace("    note()", f"    {spoils}\n    note('lld.md', 'half')\n    note()"))
    killed(places, {**FLAGS, "skill": "swe3"})
    [lock] = (places.artifacts / "work").glob("*/*/workspace/.git/index.lock")
    names = ("github-issue.md", "lld.md", "review.md", "testing.md", "implementation.md")
    notes = "".join(f"note({name!r}); " for name in names if name != "lld.md")
    script(places, f"say(tokens=1)\nassert not pathlib.Path('.git/index.lock').exists()\n{notes}")
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert not lock.exists()
    assert stored.record.outcome is Outcome.INCOMPLETE
    assert stored.record.outcome_reason == "missing: lld.md"
    patch = (stored.folder / "artifacts" / "patch.diff").read_text()
    assert "+x = 1" in patch
    assert "half" not in patch
    assert "stray" not in patch


def test_a_top_up_that_was_given_up_is_made_again(places: Places) -> None:
    script(places, TOPS_UP)
    given_up(places)
    script(places, ENDS)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED, stored.record.outcome_reason
    assert [each.stop_reason for each in stored.record.invocations] == ["end", CANCELLED, "end"]


def test_a_kill_before_the_artifacts_were_looked_at_does_not_make_a_trial_complete(places: Places) -> None:
    script(places, TOPS_UP)
    killed(places, FLAGS)
    [folder] = [path.parent for path in (places.artifacts / "work").glob("*/*/checkout.json")]
    ended = json.loads((folder / "invocation-1" / DONE).read_bytes())
    assert ended["outcome"] == "incomplete"
    ended |= {"outcome": "completed", "reason": "all artifacts are there"}
    (folder / "invocation-1" / DONE).write_text(json.dumps(ended))
    for path in (folder / "artifacts").iterdir():
        path.unlink()
    shutil.rmtree(folder / "invocation-2")
    script(places, ENDS)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert [each.kind for each in stored.record.invocations] == [InvocationKind.FIRST, InvocationKind.TOP_UP]


@pytest.mark.parametrize("left", ["home", "begun.json"])
def test_a_kill_just_before_an_agent_starts_is_nothing_to_the_next_runner(places: Places, left: str) -> None:
    script(places, "say(tokens=40)\nchange()\nif kind == 'top-up':\n    " + WAITS.replace("\n", "\n    "))
    killed(places, FLAGS)
    [folder] = [path.parent for path in (places.artifacts / "work").glob("*/*/checkout.json")]
    begun = (folder / "invocation-2" / "begun.json").read_bytes()
    (folder / "invocation-3" / "home").mkdir(parents=True)
    if left == "begun.json":
        (folder / "invocation-3" / "begun.json").write_bytes(begun.replace(b'"number":2', b'"number":3'))
    script(places, ENDS)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert [each.stop_reason for each in stored.record.invocations] == ["end", KILLED, "end"]


def test_a_kill_does_not_use_up_the_retries_of_the_trial(places: Places) -> None:
    script(places, WAITS)
    killed(places, {**FLAGS, "max_retries": 1})
    script(places, "say(tokens=1)\nif number == 2: say(error='HTTP 500')\nelse: change(); note()\n")
    run(places, resume=True, environment=ENVIRONMENT)
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert len(stored.record.invocations) == 3


def test_a_killed_retry_does_not_bring_one_more(places: Places) -> None:
    script(
        places, "if number == 1: say(tokens=1, error='HTTP 500')\nelse:\n    " + WAITS.replace("\n", "\n    ")
    )
    killed(places, {**FLAGS, "max_retries": 1})
    script(places, "say(tokens=1, error='HTTP 500')")
    run(places, resume=True, environment=ENVIRONMENT)
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.MODEL_ERROR
    kinds = [InvocationKind.FIRST, InvocationKind.RETRY, InvocationKind.RETRY]
    assert [each.kind for each in stored.record.invocations] == kinds


@pytest.mark.parametrize("after", [0.0, 0.05, 0.2])
def test_an_invocation_that_had_ended_is_not_run_again_when_its_trial_was_not_written(
    places: Places, after: float
) -> None:
    script(places, "say(tokens=40)\nchange(); note()\n")
    with start(places, {**FLAGS, "isolation": "none"}) as runner:
        while not invocation_ended(places) and runner.poll() is None:
            time.sleep(0.005)
        time.sleep(after)
        runner.send_signal(signal.SIGKILL)
    script(places, "raise SystemExit('ran again')")
    if not list(ResultsStore(places.results).trials()):
        assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert [each.stop_reason for each in stored.record.invocations] == ["end"]
    assert {check.name for check in stored.checks} >= {"patch-applies"}
    assert verify(places.results) == []


def test_what_a_cancelled_trial_spent_is_counted_when_it_runs_again(places: Places) -> None:
    script(places, WAITS)
    given_up(places)
    assert not list(ResultsStore(places.results).trials())
    script(places, ENDS)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert [each.stop_reason for each in stored.record.invocations] == [CANCELLED, "end"]
    assert [cost.amount_usd for cost in stored.record.costs] == [1.25]
