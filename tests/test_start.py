"""The one command of the README: what it shows is run and judged, and running it again adds nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from runner.records import JudgementStatus
from runner.store import ResultsStore, verify
from start import DEMONSTRATION

PROJECT = Path(__file__).parent.parent


def invoke(project: Path, *arguments: str) -> str:
    """Output of ``invoke`` with these arguments, which must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "invoke", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demonstration_is_run_judged_twice_and_its_judges_are_tried_out(tmp_path: Path) -> None:
    shutil.copy(PROJECT / "tasks.py", tmp_path)
    shutil.copytree(PROJECT / "datasets", tmp_path / "datasets")
    *shown, last = DEMONSTRATION
    assert last == "publish"
    invoke(tmp_path, *shown)
    store = ResultsStore(tmp_path / "results" / "demonstration")
    trials = list(store.trials())
    assert len(trials) == 10
    for trial in trials:
        statuses = [judgement.status for judgement in trial.judgements]
        assert statuses == [JudgementStatus.SCORED] * 2, trial.record.identity.key
        assert all(judgement.demonstration for judgement in trial.judgements)
    assert Counter(proof.judge.name for proof in store.proofs()) == {
        "replay-gullible": 446,
        "replay-sober": 446,
    }
    assert verify(store.root) == []
    output = invoke(tmp_path, *shown[1:])
    assert "0 judgements of 0 trials to make; 10 have theirs" in output
    assert output.count("0 scorings to make by implementation-1; 446 are stored") == 2
