"""The built-in agent solves a task inside every isolation, with a key that is worth nothing."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from tests.harnesses.rig import EDITING, assert_counts_agree, open_rig
from tests.isolation.levels import LEVELS, isolation


@pytest.mark.parametrize("level", LEVELS)
def test_the_loop_works_through_the_gateway(level: str, tmp_path: Path) -> None:
    inside = isolation(level)
    with open_rig(tmp_path) as rig:
        base = rig.server.url_for(run=rig.run_id, scenario="demo/t") + "/v1"
        assignment = rig.assignment(base)
        with inside.gateway(assignment.endpoint) as gateway:
            assignment = replace(assignment, endpoint=gateway.endpoint)
            launch = inside.wrap(
                rig.loop.launch(assignment),
                workspace=rig.workspace,
                artifacts=rig.artifacts,
                home=tmp_path / "home",
                gateway=gateway,
            )
            finished = supervise(
                launch, stdout=tmp_path / "stdout", timeout_seconds=30, cancelled=threading.Event()
            )
            traffic = gateway.count()
        assert finished.exit_code == 0, finished.stderr_tail
        reading = rig.loop.read(tmp_path / "stdout", assignment)
        count = rig.server.count(rig.run_id)
        assert_counts_agree(reading, count)
        assert traffic.model_requests == count.requests == len(EDITING)
        assert (rig.workspace / "a.py").read_text() == "x = 2\ny = 1\n"
        assert (rig.artifacts / "implementation.md").exists()
