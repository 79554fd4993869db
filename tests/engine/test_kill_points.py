"""A trial whose runner is killed before one change of a file or another ends as one that was left alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("script", "points"),
    # Of some six hundred and three hundred; the last ones are behind the record.
    [("top-ups", range(75, 560, 62)), ("retries", range(110, 290, 50))],
)
def test_a_trial_that_is_killed_and_gone_on_with_ends_as_one_that_was_left_alone(
    tmp_path: Path, script: str, points: range
) -> None:
    command = [sys.executable, "-m", "tests.engine.kill_points", str(tmp_path), script, *map(str, points)]
    ended = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    undisturbed, *killed = found
    assert sum(-signal.SIGKILL in line["codes"] for line in killed) >= len(points) - 2
    assert [line for line in found if line["codes"][-1] != 0] == []
    # Outcome, usage, artifacts and checks.
    assert len(undisturbed["facts"]) == 1
    assert [line for line in killed if line["facts"] != undisturbed["facts"]] == []
    assert [line for line in found if line["faults"] or line["left over"]] == []
