"""Planted secrets never reach a committed file, and a finished trial that holds one is not lost."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.errors import SecretFound
from runner.records import CheckStatus, Outcome
from runner.secrets import MASK, Scanner
from runner.store import ResultsStore, verify
from tests import examples
from tests.engine.runs import run
from tests.engine.standin import ENVIRONMENT, run_script, script
from tests.secrets.planted import planted, values

KEY = ENVIRONMENT["STAND_IN_KEY"]
PLANTED = json.dumps(dict(planted()))


def committed(places: Places) -> bytes:
    """Every byte of every file below results/."""
    return b"\n".join(path.read_bytes() for path in sorted(places.results.rglob("*")) if path.is_file())


def streams(places: Places) -> bytes:
    return b"\n".join(gzip.decompress(path.read_bytes()) for path in places.streams.glob("*.gz"))


def lines_of(value: str) -> list[bytes]:
    """What must not be found of a secret, as JSON would write it as well."""
    return [
        part.encode()
        for part in value.replace("\\n", "\n").split("\n")
        if len(part) >= 8 and "-----" not in part
    ]


def test_secrets_that_an_agent_prints_reach_neither_records_nor_archived_streams(places: Places) -> None:
    text = f"""
for kind_of_secret, secret in json.loads({PLANTED!r}).items():
    say(type="text", text="I found " + secret)
print({KEY!r}, file=sys.stderr)
say(tokens=5, error="HTTP 500 with " + {KEY!r} + " and " + json.loads({PLANTED!r})["github-token"])
"""
    run_script(places, text, max_retries=0, api_key_env="STAND_IN_KEY")
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.MODEL_ERROR
    assert MASK in stored.record.outcome_reason
    for where in (committed(places), streams(places)):
        assert KEY.encode() not in where
        for kind, value in values().items():
            for line in lines_of(value):
                assert line not in where, kind
    assert b"I found" in streams(places)
    assert Scanner(ENVIRONMENT).find(committed(places)) == []
    assert Scanner(ENVIRONMENT).find(streams(places)) == []


def test_a_secret_in_the_reason_for_stopping_is_masked_and_stops_no_record(places: Places) -> None:
    key = ENVIRONMENT["STAND_IN_KEY"]
    text = f"say(tokens=1, stop='ended with {key}')\nchange(); note()\n"
    assert run_script(places, text, api_key_env="STAND_IN_KEY")[0] == 0
    [stored] = ResultsStore(places.results).trials()
    [invocation] = stored.record.invocations
    assert invocation.stop_reason.startswith("ended with ")
    assert key not in invocation.stop_reason


@pytest.mark.parametrize("kind", sorted(planted()))
@pytest.mark.parametrize("place", ["note", "change"])
def test_a_secret_in_an_artifact_stops_the_record(
    kind: str, place: str, whole: tuple[Places, str], tmp_path: Path
) -> None:
    store = ResultsStore(tmp_path / "results", scanner=Scanner())
    name = "implementation.md" if place == "note" else "patch.diff"
    text = f"# Notes\n\n{planted()[kind]}\n"
    data = text if place == "note" else "".join(f"+{line}\n" for line in text.splitlines())
    with pytest.raises(SecretFound) as caught:
        store.write_trial(examples.trial(), artifacts={name: data.encode()})
    assert name in caught.value.where
    assert not any(path.is_file() for path in (tmp_path / "results").rglob("*"))
    assert values()[kind] not in caught.value.message()


def test_a_trial_that_holds_a_secret_is_kept_outside_the_store_and_not_paid_for_again(places: Places) -> None:
    secret = planted()["github-token"]
    text = f"say(tokens=5)\nchange('TOKEN = ' + repr({secret!r}))\nnote()\n"
    code, output = run_script(places, text)
    assert code == 3
    assert "github-token" in output
    assert "quarantine" in output
    assert secret.encode() not in committed(places)
    assert not list(ResultsStore(places.results).trials())
    script(places, "raise SystemExit('ran again')")
    code, output = run(places, resume=True, environment=ENVIRONMENT)
    assert (code, "not run again" in output) == (3, True)
    digest = output.split("allowed by ")[1].split()[0]
    places.not_secret.write_text(f"{digest} made up by the agent\n")
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert stored.checks
    assert secret.encode() in (stored.artifact("patch.diff") or b"")
    assert not any(path.is_file() for path in places.quarantine.rglob("*"))


@pytest.mark.parametrize("left", ["whole", "a part"])
def test_a_secret_does_not_stay_in_quarantine_when_its_runner_is_killed_as_the_store_has_the_trial(
    left: str, places: Places
) -> None:
    secret = planted()["github-token"]
    run_script(places, f"change('TOKEN = ' + repr({secret!r}))\nnote()\n")
    held = shutil.copytree(places.quarantine, places.root / "held")
    [why] = places.quarantine.rglob("why.txt")
    digest = why.read_text().split("allowed by ")[1].split()[0]
    places.not_secret.write_text(f"{digest} made up by the agent\n")
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    # Back to the moment before the store had listed the trial, or before all of the folder was gone.
    shutil.copytree(held, places.quarantine, dirs_exist_ok=True)
    [plan] = ResultsStore(places.results).plans()
    if left == "whole":
        (places.results / "ledger" / f"{plan.plan_id}.jsonl").unlink()
    else:
        why.with_name("trial.json").unlink()
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    assert not any(path.is_file() for path in places.quarantine.rglob("*"))
    allowed = Scanner(ENVIRONMENT, allowed=frozenset({digest}))
    assert verify(places.results, allowed) == []


def test_a_held_trial_runs_again_once_its_folder_is_deleted(places: Places) -> None:
    run_script(places, f"change({planted()['npm-token']!r})\nnote()\n")
    shutil.rmtree(places.quarantine)
    script(places, "change(); note()\n")
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0


def test_what_a_check_prints_is_masked(places: Places) -> None:
    secret = planted()["aws-access-key-id"]
    test = f"import sys, unittest\nprint({secret!r}, file=sys.stderr)\nclass T(unittest.TestCase):\n"
    test += "    def test_it(self):\n        self.fail('no')\n"
    hidden = [
        path
        for path in places.datasets.rglob("test_*.py")
        if "check" in path.as_posix() or "hidden" in path.as_posix()
    ]
    assert hidden
    for path in hidden:
        path.write_text(test, encoding="utf-8")
    run_script(places, "change(); note()\n")
    [stored] = ResultsStore(places.results).trials()
    tails = [check.output_tail or "" for check in stored.checks]
    assert any(check.status is CheckStatus.FAILED for check in stored.checks)
    assert any(MASK in tail for tail in tails)
    assert secret.encode() not in committed(places)


def test_verify_names_a_secret_that_reached_a_store(places: Places) -> None:
    run_script(places, "change(); note()\n")
    assert verify(places.results) == []
    [path] = places.results.rglob("implementation.md")
    path.write_text(planted()["slack-token"], encoding="utf-8")
    findings = [finding for finding in verify(places.results) if finding.problem == "secret"]
    assert [finding.path.endswith("implementation.md") for finding in findings] == [True]
    assert "slack-token" in findings[0].line()
    known = verify(places.results, Scanner({"K": "hello-world"}))
    assert any("known secret K" in finding.detail for finding in known)
