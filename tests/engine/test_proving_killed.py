"""kill -9 while a judge is tried out: what was answered is not asked for again, and the store stays whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath

import pytest

from runner.engine.judging.journal import Journal
from runner.engine.places import Places
from runner.store import verify
from tests.engine.judging import FLAGS, asked, script
from tests.engine.standin import ENVIRONMENT
from tests.engine.test_proving import proofs, prove

PROJECT = Path(__file__).parent.parent.parent
CHILD = """
import json, os, sys
from pathlib import Path
from rich.console import Console
from runner.engine.places import Places
from runner.engine.proving.command import proof_command
sys.exit(proof_command(Places(Path(sys.argv[1])), Console(), flags=json.loads(sys.argv[2]),
                       environment=os.environ, suites=["order"], count=1))
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


def test_a_finished_side_is_kept_and_an_answer_that_was_got_is_not_asked_for_again(places: Places) -> None:
    script(places, "valid", "wrong", "hang")
    killed_after(places, 3)
    assert [record.side for record in proofs(places)] == ["reference"]
    assert verify(places.results) == []
    script(places, "valid")
    code, output = prove(places, FLAGS, "order", count=1)
    assert code == 0
    assert "1 scorings to make by implementation-1; 1 are stored" in output
    [question] = asked(places)
    assert "task_score is 99, the mean of the totals is 60" in question["prompt"]
    changed, _ = proofs(places)
    assert [attempt.interrupted for attempt in changed.attempts] == [False, True, False]
    assert changed.usage is not None
    assert changed.usage.input_tokens == 1000 + 70 + 1000
    assert verify(places.results) == []


@pytest.mark.parametrize("state", ["not written", "written, not listed", "half written"])
def test_a_finished_scoring_reaches_the_store_whatever_the_kill_left(state: str, places: Places) -> None:
    script(places, "valid")
    prove(places, FLAGS, "order", count=1)
    record = proofs(places)[-1]
    [path] = (places.results / "judges").rglob("*-reference-1.json")
    whole = path.read_bytes()
    # Back to the moment before: the journal holds the record, the store has it in part.
    journal = Journal.of(places.artifacts / "proving", "any")
    journal.finish(record)
    ledger = places.results / "ledger" / "judge-scripted-judge-1.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    places_of = [PurePosixPath(json.loads(line)["path"]).name for line in lines]
    ledger.write_bytes(b"".join(lines[: places_of.index(path.name)]))
    rest = [path.with_name(name) for name in places_of[places_of.index(path.name) :]]
    for other in rest:
        if other != path:
            other.unlink()
    if state != "written, not listed":
        path.unlink()
    if state == "half written":
        (path.parent / ".writing-abc").write_bytes(whole[:100])
    findings = verify(places.results)
    assert bool(findings) is (state != "not written")
    if state == "written, not listed":
        assert "invoke judge-proof lists it" in findings[0].line()
    code, output = prove(places, FLAGS, "order", count=1)
    assert code == 0
    assert "brought into the store from an interrupted run: 1 finished scoring" in output
    assert path.read_bytes() == whole
    assert verify(places.results) == []
    assert not journal.folder.exists()
