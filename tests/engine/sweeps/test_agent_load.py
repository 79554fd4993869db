"""A load of agents tells what went wrong with itself."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import cast

import pytest

from runner.engine.desk import Desk
from runner.engine.desks import Desks
from runner.engine.sweeps.agent_load import AgentLoad
from runner.records import Workload
from tests import examples


class Faulty:
    """Desks that have a fault of ours at the first trial."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def desk(self, position: int, _: threading.Event) -> Desk:
        self.asked.set()
        raise RuntimeError(f"a fault of ours at {position}")


def test_a_slot_that_broke_down_is_told_and_its_level_is_not_measured_without_it(tmp_path: Path) -> None:
    desks = Faulty()
    workload = Workload(kind="agent-sessions", description="agents")
    load = AgentLoad(examples.plan(), cast(Desks, desks), workload, tmp_path, 7)
    load.begin(1, 60)
    assert desks.asked.wait(60)
    with pytest.raises(RuntimeError, match="a fault of ours at 0"):
        load.end()
