"""A trial whose runner is killed before one change of a file or another ends as one that was left alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parent.parent.parent
POINTS = {"top-ups": range(75, 560, 44), "retries": range(110, 290, 36)}
"""Of some six hundred and three hundred; the last ones are behind the record."""


@pytest.fixture(scope="module", params=sorted(POINTS))
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What came of a trial that was left alone, and of one for each point at which its runner was killed."""
    folder, name = tmp_path_factory.mktemp("points"), request.param
    command = [sys.executable, "-m", "tests.engine.kill_points", str(folder), name, *map(str, POINTS[name])]
    ended = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert sum(-signal.SIGKILL in line["codes"] for line in lines) >= len(POINTS[name]) - 2
    return lines


def test_whatever_is_killed_is_finished_by_the_next_call(found: list[dict[str, Any]]) -> None:
    assert [line for line in found if line["codes"][-1] != 0] == []


def test_a_kill_changes_neither_outcome_nor_usage_nor_artifacts(found: list[dict[str, Any]]) -> None:
    undisturbed, *killed = found
    assert len(undisturbed["facts"]) == 1
    assert [line for line in killed if line["facts"] != undisturbed["facts"]] == []


def test_a_kill_leaves_nothing_half_written_twice_written_or_left_over(found: list[dict[str, Any]]) -> None:
    assert [line for line in found if line["faults"] or line["left over"]] == []
