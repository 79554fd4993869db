"""A benchmark that is killed before one change of a file or another, and resumed: what that comes to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest

from tests.engine.bench.picky import picky
from tests.engine.bench.project import REPOSITORY

POINTS = range(43, 100, 4)
"""Of some hundred; the first of them are before the run is begun, the last ones behind its last trial."""
AT_ONCE = 2
"""Requests in flight, outside of load and under it."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What came of a run that was killed at each point, with the number of requests that were heard."""
    folder, lines = tmp_path_factory.mktemp("points"), []
    with picky(lambda _body: None) as server:
        command = [sys.executable, "-m", "tests.engine.bench.kill_points", str(folder), server.url]
        with subprocess.Popen(
            [*command, *map(str, POINTS)], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                lines.append({**json.loads(line), "heard": len(server.heard)})
                server.heard.clear()
        assert child.returncode == 0
    assert len(lines) == len(POINTS)
    return lines


def killed(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs that were there when they were killed."""
    chosen = [each for each in found if each["begun"] and each["first"] == -signal.SIGKILL]
    assert len(chosen) >= 5
    return chosen


def test_whatever_is_killed_is_finished_by_the_next_call(found: list[dict[str, Any]]) -> None:
    assert [each for each in found if each["last"] or each["trials"] != each["planned"]] == []


def test_a_kill_leaves_nothing_in_the_store_that_is_half_written(found: list[dict[str, Any]]) -> None:
    assert [(each["at"], each["faults"]) for each in found if each["faults"]] == []
    assert [(each["at"], each["left over"]) for each in found if each["left over"]] == []


def test_only_what_was_in_flight_is_asked_again_and_its_cost_is_unknown(found: list[dict[str, Any]]) -> None:
    for each in killed(found):
        # Pre-flight asks once. What was about to be sent may not have been.
        again = each["heard"] - 1 - len(each["planned"])
        assert again <= each["cut"] <= again + AT_ONCE, each
        assert (each["dollars"] is None) == bool(each["cut"])
