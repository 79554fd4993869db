"""Whatever a killed command had written beside a trial or had imported, the same command makes it whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent
STEPS = 8


@pytest.mark.parametrize("work", ["judged", "voided", "graded", "imported"])
def test_a_kill_at_any_step_of_writing_leaves_nothing_that_the_same_command_does_not_put_right(
    work: str,
) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.engine.dying", work, "tests/data/published"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert ended.returncode == 0, ended.stderr
    steps, faults = json.loads(ended.stdout)
    assert faults == []
    assert steps > STEPS
