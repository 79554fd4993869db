"""kill -9 while judging: nothing is lost, nothing that was answered is paid for twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath

import pytest

from runner.engine.judging.journal import Journal
from runner.engine.places import Places
from runner.records import JudgementStatus
from runner.store import ResultsStore, verify
from tests.engine.judging import FLAGS, asked, finished, judge, judgements, script
from tests.engine.standin import ENVIRONMENT

PROJECT = Path(__file__).parent.parent.parent
CHILD = """
import json, os, sys
from pathlib import Path
from rich.console import Console
from runner.engine.judging.command import judge_command
from runner.engine.places import Places
sys.exit(judge_command(Places(Path(sys.argv[1])), Console(), flags=json.loads(sys.argv[2]),
                       environment=os.environ))
"""


def killed_after(places: Places, questions: int) -> None:
    """A runner of its own that is killed once the judge has got so many questions."""
    runner = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(places.root), json.dumps(FLAGS)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(PROJECT)},
    )
    with runner:
        deadline = time.monotonic() + 240
        while len(asked(places)) < questions:
            assert runner.poll() is None, runner.communicate()[0].decode()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        runner.send_signal(signal.SIGKILL)


def test_an_answer_that_was_got_before_the_kill_is_not_asked_for_again(places: Places) -> None:
    store = finished(places)
    script(places, "wrong", "hang")
    killed_after(places, 2)
    assert judgements(store) == []
    assert verify(store.root) == []
    script(places, "valid")
    code, _ = judge(places)
    assert code == 0
    [question] = asked(places)
    assert "task_score is 99, the mean of the totals is 60" in question["prompt"]
    [record] = judgements(store)
    assert (record.status, record.task_score) == (JudgementStatus.SCORED, 60.0)
    assert [attempt.interrupted for attempt in record.attempts] == [False, True, False]
    assert record.usage is not None
    assert record.usage.input_tokens == 1000 + 70 + 1000
    assert record.duration_seconds is None
    assert verify(store.root) == []


def test_a_judge_that_was_cut_off_before_the_kill_is_still_told_to_be_briefer(places: Places) -> None:
    finished(places)
    script(places, "cut", "hang")
    killed_after(places, 2)
    told = asked(places)[1:]
    script(places, "valid")
    assert judge(places)[0] == 0
    told += asked(places)
    assert ["was cut before its end (length)" in each["prompt"] for each in told] == [True, True]


def test_a_kill_before_the_faults_of_an_answer_were_noted_does_not_lose_them(places: Places) -> None:
    store = finished(places)
    script(places, "wrong", "hang")
    killed_after(places, 2)
    [journal] = Journal.all_in(places.artifacts / "judging")
    [(_, done), _] = journal.attempts()
    assert done is not None
    shutil.rmtree(journal.scratch(2))
    # Back to the moment between the answer and what was wrong with it.
    journal.end(done.model_copy(update={"attempt": done.attempt.model_copy(update={"faults": ()})}))
    script(places, "valid")
    judge(places)
    [record] = judgements(store)
    assert [attempt.faults for attempt in record.attempts] == [done.attempt.faults, ()]
    assert done.attempt.faults == ("task_score is 99, the mean of the totals is 60.0",)


def test_several_kills_add_up_and_the_marks_stay_the_same(places: Places) -> None:
    store = finished(places)
    script(places, "hang")
    killed_after(places, 1)
    [first] = asked(places)
    script(places, "hang")
    killed_after(places, 1)
    script(places, "valid")
    judge(places)
    [last] = asked(places)
    assert last["prompt"] == first["prompt"]
    [record] = judgements(store)
    assert [attempt.interrupted for attempt in record.attempts] == [True, True, False]


def test_a_change_of_the_rubric_or_the_model_begins_anew(places: Places) -> None:
    store = finished(places)
    script(places, "wrong", "hang")
    killed_after(places, 2)
    script(places, "valid")
    judge(places, {**FLAGS, "model": "judge-2"})
    [record] = judgements(store)
    assert len(record.attempts) == 1


@pytest.mark.parametrize("state", ["not written", "written, not listed", "half written"])
def test_a_finished_judgement_reaches_the_store_whatever_the_kill_left(state: str, places: Places) -> None:
    store = finished(places)
    script(places, "valid")
    judge(places)
    [record] = judgements(store)
    [stored] = ResultsStore(store.root).trials()
    path = stored.folder / "judgements" / "scripted-judge-1-1.json"
    whole = path.read_bytes()
    # Back to the moment before: the journal holds the record, the store has it in part.
    journal = Journal.of(places.artifacts / "judging", "any")
    journal.finish(record)
    unlist(store, stored.record.plan_id, "judgements/")
    if state != "written, not listed":
        path.unlink()
    if state == "half written":
        (path.parent / ".writing-abc").write_bytes(whole[:100])
    if state != "not written":
        assert verify(store.root) != []
    code, output = judge(places)
    assert code == 0
    assert "brought into the store from an interrupted run: 1 finished judgement" in output
    assert path.read_bytes() == whole
    assert len(asked(places)) == 1
    assert verify(store.root) == []
    assert not journal.folder.exists()


def unlist(store: ResultsStore, plan_id: str, part: str) -> None:
    """Take the last lines, those of ``part``, out of the ledger, as if they were never written."""
    ledger = store.root / "ledger" / f"{plan_id}.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if part not in str(PurePosixPath(json.loads(line)["path"]))]
    assert lines[: len(kept)] == kept
    ledger.write_bytes(b"".join(kept))
