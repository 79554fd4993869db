"""What the system tells of a process, whatever the process calls itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from runner.process_stat import ENDED, GROUP, PROC, STARTED, STATE, stat_fields

pytestmark = pytest.mark.skipif(not PROC.is_dir(), reason="this system has no /proc")


def test_a_name_with_brackets_and_spaces_hides_nothing(tmp_path: Path) -> None:
    program = tmp_path / "a) Z (b 1"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    with subprocess.Popen([program, "60"], start_new_session=True) as child:
        try:
            fields, own = stat_fields(child.pid), stat_fields(os.getpid())
            assert fields is not None
            assert own is not None
            assert fields[STATE] not in ENDED
            assert int(fields[GROUP]) == child.pid
            assert int(fields[STARTED]) >= int(own[STARTED])
        finally:
            child.kill()
    assert stat_fields(child.pid) is None


def test_what_is_no_process_has_no_fields() -> None:
    assert stat_fields("nothing") is None
