"""Somebody asleep is told: a command of theirs runs, with a summary and without a key, and harms no run."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.notifying import Notifier, notify_command, without_secrets
from runner.engine.places import Places
from runner.engine.settings import RunSettings, settings_from_strings, settings_to_strings
from runner.engine.tally import RunSummary
from runner.errors import ConfigurationError, StoreError
from runner.store import ResultsStore
from tests.engine.runs import run
from tests.engine.standin import ENVIRONMENT, HARNESS, run_script, script
from tests.engine.turns import PROVIDER as TURNS
from tests.engine.turns import plan_faults

WORKS = "say(tokens=10, cost=1.0)\nchange(); note()\n"
NOTES = """
import json, os, pathlib, sys
told = json.load(sys.stdin)
told["variables"] = {name: value for name, value in os.environ.items()}
with pathlib.Path(__file__).with_name("told.jsonl").open("a") as file:
    file.write(json.dumps(told) + "\\n")
"""
SUMMARY = RunSummary("run-1", 3, 2, {"completed": 2}, 1, 2, 0.5, 1)


def notes(folder: Path) -> str:
    """A command that writes down what it is told."""
    program = folder / "tell me.py"
    program.write_text(NOTES, encoding="utf-8")
    return shlex.join([sys.executable, str(program)])


def told(folder: Path) -> list[dict[str, object]]:
    path = folder / "told.jsonl"
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    )


def test_the_end_of_a_run_is_told_with_its_summary_and_without_its_keys(
    places: Places, tmp_path: Path
) -> None:
    script(places, WORKS)
    secrets = {"TEAM_API_KEY": "0f6b-very-secret-1", "STAND_IN_KEY": "sk-stand-in-0815", "PLAIN": "yes"}
    flags: dict[str, object] = {
        "harness": HARNESS,
        "provider": "tests.engine.standin:Elsewhere",
        "model": "m",
        "count": 1,
        "trials": 2,
        "api_key_env": "STAND_IN_KEY",
        "notify": notes(tmp_path),
    }
    code, _ = run(places, flags, environment={**os.environ, **secrets})
    [message] = told(tmp_path)
    variables = message.pop("variables")
    assert isinstance(variables, dict)
    assert code == 0
    assert (message["event"], message["exit_code"], message["finished"], message["left"]) == (
        "ended",
        0,
        2,
        0,
    )
    assert message["spent_usd"] == 2.0
    assert variables["HARNESSMARK_EVENT"] == "ended"
    assert variables["HARNESSMARK_PLAN"] == message["plan"]
    assert (variables["HARNESSMARK_FINISHED"], variables["HARNESSMARK_EXIT_CODE"]) == ("2", "0")
    assert variables["PLAIN"] == "yes"
    assert not {"TEAM_API_KEY", "STAND_IN_KEY"} & variables.keys()
    assert not any(secret in str(variables) for secret in ("0f6b-very-secret-1", "sk-stand-in-0815"))
    [plan] = ResultsStore(places.results).plans()
    assert "tell me.py" not in plan.model_dump_json()


def test_a_budget_that_stops_the_run_is_told_when_it_does(places: Places, tmp_path: Path) -> None:
    run_script(places, WORKS, trials=3, concurrency=1, budget_usd=1.0, notify=notes(tmp_path))
    assert [message["event"] for message in told(tmp_path)] == ["budget", "ended"]
    first, last = told(tmp_path)
    assert "the budget of the run is used up: $1.00 of $1" in str(first["reason"])
    assert (last["exit_code"], last["left"]) == (3, 2)


def test_a_model_that_cannot_be_served_is_told(places: Places, tmp_path: Path) -> None:
    plan_faults(places, refuses_b="out of memory")
    script(places, WORKS)
    flags = {"harness": HARNESS, "provider": TURNS, "model": "a,b", "count": 1, "notify": notes(tmp_path)}
    run(places, flags, environment=ENVIRONMENT)
    events = {str(message["event"]): message for message in told(tmp_path)}
    assert set(events) == {"model-failed", "ended"}
    assert "b_turns: out of memory" in str(events["model-failed"]["reason"])
    [failed] = json.loads(json.dumps(events["ended"]["models_failed"]))
    assert (failed["models"], failed["reason"].split(" what")[0]) == (["b_turns"], "out of memory")


def test_a_run_that_fails_is_told_before_it_ends(places: Places, tmp_path: Path) -> None:
    blocks_the_store = "import shutil\nstore = pathlib.Path(__file__).parent.parent / 'results'\n"
    blocks_the_store += "(store / 'swe').write_text('in the way')\n"
    with pytest.raises(StoreError):
        run_script(places, WORKS + blocks_the_store, isolation="none", notify=notes(tmp_path))
    [message] = told(tmp_path)
    assert message["event"] == "failed"
    assert message["left"] == 1
    assert message["reason"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("false", "ended with code 1"),
        (f"{shlex.quote(sys.executable)} -c 'import os; os.kill(os.getpid(), 9)'", "ended with code -9"),
    ],
)
def test_a_command_that_fails_is_noted_and_harms_nothing(places: Places, command: str, says: str) -> None:
    code, output = run_script(places, WORKS, notify=command)
    assert code == 0
    assert f"the command that notifies of 'ended' {says}" in output


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    said: list[str] = []
    # A shell is there at once, so that the child has begun by the limit on a busy machine too.
    command = ("/bin/sh", "-c", "sleep 60 & echo $! > pid; sleep 60")
    notifier = Notifier(command, {"PATH": os.defpath}, tmp_path, said.append, timeout_seconds=2.0)
    begun = time.monotonic()
    notifier.tell("ended", SUMMARY)
    notifier.close()
    assert time.monotonic() - begun < 50
    assert said == ["the notification of 'ended' was stopped after 2 seconds"]
    child = Path("/proc") / (tmp_path / "pid").read_text().strip() / "stat"
    # A killed process is there until the system has come round to it.
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() - begun < 50
        time.sleep(0.01)


def test_a_command_that_is_gone_by_then_is_noted(tmp_path: Path) -> None:
    said: list[str] = []
    notifier = Notifier((str(tmp_path / "gone"),), {}, tmp_path, said.append)
    notifier.tell("failed", SUMMARY, reason="a\0b")
    notifier.close()
    assert said
    assert "could not be sent" in said[0]


def test_trials_that_only_a_judge_can_grade_are_told_apart_from_those_without_a_grade(tmp_path: Path) -> None:
    notifier = Notifier(tuple(shlex.split(notes(tmp_path))), {}, tmp_path)
    notifier.tell("ended", replace(SUMMARY, graded=0, resolved=0, untested=2))
    notifier.close()
    [message] = told(tmp_path)
    assert (message["graded"], message["untested"]) == (0, 2)


@pytest.mark.parametrize("command", ["no-such-program-anywhere --now", "'unfinished", "   "])
def test_a_command_that_cannot_be_run_is_refused_before_anything_is_planned(
    places: Places, command: str
) -> None:
    with pytest.raises(ConfigurationError):
        run_script(places, WORKS, notify=command)
    assert not list(places.root.rglob("plans/*.json"))


def test_no_shell_reads_the_command() -> None:
    assert notify_command("echo 'a b' $HOME ; true", os.environ) == ("echo", "a b", "$HOME", ";", "true")


def test_a_plan_does_not_keep_the_command() -> None:
    [kept] = settings_from_strings(settings_to_strings([RunSettings(notify="curl https://x/y", seed=3)]))
    assert kept == RunSettings(seed=3)


NAMES = st.sampled_from(["PATH", "HOME", "A_TOKEN", "MY_API_KEY", "LANG", "ADDRESS", "NAMED"])


@given(st.dictionaries(NAMES, st.sampled_from(["s3cr3t-value-9", "plain", "http://u:pa55word99@host/", "x"])))
def test_no_variable_with_a_secret_is_passed_on(environment: dict[str, str]) -> None:
    left = without_secrets(environment, ("NAMED",))
    assert left.items() <= environment.items()
    assert not left.keys() & {"NAMED"}
    assert "http://u:pa55word99@host/" not in left.values()
    if environment.get("A_TOKEN") == "s3cr3t-value-9":
        assert "s3cr3t-value-9" not in left.values()
    for name in ("PATH", "HOME", "LANG"):
        if environment.get(name) == "plain":
            assert left[name] == "plain"
