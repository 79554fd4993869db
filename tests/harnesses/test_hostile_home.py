"""Files that an agent leaves in its home to fill the memory of whoever reads them."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from runner.harnesses.mini_trajectory import read_trajectory
from runner.harnesses.opencode_state import MAX_ANSWERS, read_state
from runner.harnesses.openhands_stream import status
from tests.harnesses.opencode_home import data_folder, put_database

MAY_GROW = 300_000_000
EMPTY = b"{}," * 8_000_000
VIEW_OF_A_LARGE_ENTRY = """
    DROP TABLE message; DROP TABLE part;
    CREATE VIEW message AS SELECT 1 AS id, zeroblob(900000000) AS data;
    CREATE VIEW part AS SELECT 'x' AS id, 1 AS message_id, 1 AS session_id, 1 AS time_created,
        hex(zeroblob(450000000)) AS data;
"""
VIEW_OF_MANY_ENTRIES = """
    DROP TABLE part;
    CREATE VIEW part AS WITH RECURSIVE numbers(n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 300000)
        SELECT 'x' || n AS id, 1 AS message_id, 1 AS session_id, n AS time_created,
        '{"type":"step-finish"}' AS data FROM numbers;
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is looked up in /proc")


def grown(read: Callable[[], object]) -> int:
    """Bytes by which memory grew at most while something was read."""
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    read()
    return peak() - before


def peak() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def test_a_trajectory_of_millions_of_empty_objects_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.json"
    path.write_bytes(b'{"messages": [' + EMPTY + b"{}]}")
    assert grown(lambda: read_trajectory(path)) < MAY_GROW
    assert read_trajectory(path).usage is None


def test_a_state_of_millions_of_empty_objects_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "conversation" / "base_state.json"
    path.parent.mkdir()
    path.write_bytes(b'{"execution_status": "finished", "x": [' + EMPTY + b"{}]}")
    assert grown(lambda: status(tmp_path)) < MAY_GROW
    assert status(tmp_path) == ""


@pytest.mark.parametrize("script", [VIEW_OF_A_LARGE_ENTRY, VIEW_OF_MANY_ENTRIES])
def test_a_database_that_makes_up_its_entries_does_not_fill_the_memory(script: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(put_database(tmp_path, []))) as database:
        database.executescript(script)
    assert grown(lambda: read_state(data_folder(tmp_path))) < MAY_GROW
    assert len(read_state(data_folder(tmp_path)).answers) <= MAX_ANSWERS
