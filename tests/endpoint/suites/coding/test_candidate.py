"""Candidate code in its own process: limits, lies and leftovers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from runner.endpoint.suites.coding import candidate
from runner.endpoint.suites.coding.candidate import CandidateLimits, CheckRun, TestRun, Workbench
from runner.endpoint.suites.coding.task import Check
from runner.engine.isolation import choose

PATIENT = Workbench(limits=CandidateLimits(seconds=60, wall_seconds=300))
QUICK = Workbench(limits=CandidateLimits(seconds=1.5, wall_seconds=300))
"""For what never ends: on a busy machine anything can take longer than it should."""


def checked(module: str, *codes: str, workbench: Workbench = PATIENT) -> tuple[CheckRun, ...]:
    return asyncio.run(workbench.checks({"mod.py": module}, codes))


def own_tests(files: dict[str, str], workbench: Workbench = PATIENT) -> TestRun:
    return asyncio.run(workbench.tests(files))


def test_values_come_back_and_exceptions_have_names() -> None:
    good, bad = checked(
        "def f(x):\n    return {'x': (x, 1)}\n", "import mod\nresult = mod.f(2)", "import gone"
    )
    assert (good.value, good.raised) == ({"x": [2, 1]}, None)
    assert bad.raised == "ModuleNotFoundError"
    assert "gone" in bad.text


def test_an_endless_loop_costs_one_check_and_not_the_others() -> None:
    module = "def spin():\n    while True:\n        pass\n"
    first, second = checked(module, "import mod\nmod.spin()", "import mod\nresult = 5", workbench=QUICK)
    assert (first.raised, first.text) == ("OutOfTime", "took too long")
    assert second.value == 5


def test_a_loop_that_holds_every_exception_is_killed_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spins = tmp_path / "spins"
    module = (
        "def spin():\n    while True:\n        try:\n            while True:\n                pass\n"
        f"        except BaseException:\n            open({os.fspath(spins)!r}, 'w').close()\n"
    )

    def ended_once_it_spins(process: subprocess.Popen[bytes], seconds: float) -> bool:
        deadline = time.monotonic() + 120
        while not spins.exists() and not candidate._is_over(process) and time.monotonic() < deadline:
            time.sleep(0.005)
        return ended(process, seconds)

    # Its time begins when its alarm was rung in vain: a busy machine may need longer to get there.
    ended = candidate._ended
    monkeypatch.setattr(candidate, "_ended", ended_once_it_spins)
    workbench = Workbench(limits=CandidateLimits(seconds=1.0, wall_seconds=0.1))
    runs = checked(module, "result = 1", "import mod\nmod.spin()", "result = 3", workbench=workbench)
    assert runs[0].value == 1
    assert [run.raised for run in runs[1:]] == ["NoAnswer", "NoAnswer"]
    assert "stopped after 0.1 s" in runs[1].text


def test_memory_is_bounded() -> None:
    (run,) = checked("", "result = len(bytearray(4 * 1024 ** 3))")
    assert run.raised == "MemoryError"


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.fork()",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])",
        "import os\nos.system('true')",
        "import socket\nsocket.create_connection(('127.0.0.1', 9))",
    ],
)
def test_processes_and_the_network_are_not_to_be_had(code: str) -> None:
    (run,) = checked("", code)
    assert run.raised == "PermissionError"


def test_the_environment_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-not-for-candidates")
    (run,) = checked("", "import os\nresult = sorted(os.environ)")
    assert isinstance(run.value, list)
    assert "SOME_API_KEY" not in run.value


def test_what_a_check_leaves_behind_is_not_seen_by_the_next() -> None:
    module = "seen = []\n"
    runs = checked(module, *["import mod\nmod.seen.append(1)\nresult = len(mod.seen)"] * 2)
    assert [run.value for run in runs] == [1, 1]


def test_noise_on_both_outputs_does_not_reach_the_result() -> None:
    module = 'import sys\nprint(\'{"result": "5", "whole": true}\')\nprint(\'noise\', file=sys.stderr)\n'
    (run,) = checked(module, "import mod\nresult = 7")
    assert run.value == 7


def test_leaving_early_fails_what_is_left() -> None:
    runs = checked(
        "import os\ndef quit():\n    os._exit(0)\n", "result = 1", "import mod\nmod.quit()", "result = 1"
    )
    assert [run.raised for run in runs] == [None, "NoAnswer", "NoAnswer"]
    assert checked("", "raise SystemExit(0)")[0].raised == "SystemExit"


def test_a_forged_result_needs_the_expected_value_which_is_not_there() -> None:
    module = (
        "import os, json\n"
        "for fd in range(3, 64):\n"
        "    try:\n"
        "        os.write(fd, (json.dumps({'result': '0', 'whole': True}) + '\\n').encode() * 3)\n"
        "    except OSError:\n"
        "        pass\n"
    )
    check = Check("forged", "import mod\nresult = mod.answer()", expected=42)
    (run, *_) = checked(module, check.code)
    assert check.failure(run) != ""


def test_values_that_are_too_large_or_no_json_do_not_count() -> None:
    runs = checked("", "result = 'x' * 100_000", "result = object()", "result = {1: 2}")
    assert runs[0].raised == "TooLong"
    assert isinstance(runs[1].value, str)
    assert runs[2].value == {"1": 2}


def test_the_own_tests_of_a_repository_are_told_line_by_line() -> None:
    tests = (
        "import unittest\nfrom mod import f\n\n\nclass T(unittest.TestCase):\n"
        "    def test_good(self):\n        self.assertEqual(f(), 1)\n"
        "    def test_bad(self):\n        self.assertEqual(f(), 2)\n"
        "    def test_endless(self):\n        while True:\n            pass\n"
    )
    run = own_tests({"mod.py": "def f():\n    return 1\n", "tests/test_mod.py": tests}, QUICK)
    assert not run.green
    assert "PASS test_mod.T.test_good" in run.report
    assert "FAIL test_mod.T.test_bad: AssertionError: 1 != 2" in run.report
    assert "FAIL test_mod.T.test_endless: took too long" in run.report
    assert run.report.endswith("1/3 passing")


def test_tests_that_cannot_be_loaded_are_no_success() -> None:
    broken = own_tests({"tests/test_x.py": "import nowhere\n"})
    assert not broken.green
    assert "nowhere" in broken.report
    assert not own_tests({"a.py": ""}).green
    assert not own_tests({"tests/readme.txt": ""}).green
    gone = own_tests({"tests/test_x.py": "import os\nos._exit(0)\n"})
    assert not gone.green
    assert "0/0 passing" in gone.report


def test_nothing_is_left_on_disk_or_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    checked("", "open('left.txt', 'w').write('x')\nresult = 1")
    assert list(tmp_path.iterdir()) == []


def test_the_command_can_be_put_into_a_sandbox() -> None:
    seen: list[Sequence[str]] = []

    def confine(command: Sequence[str], workspace: Path, home: Path) -> Sequence[str]:
        assert workspace.is_dir()
        assert home.is_dir()
        seen.append(command)
        return command

    (run,) = checked("", "result = 1", workbench=replace(PATIENT, confine=confine))
    assert run.value == 1
    assert seen[0][0] == sys.executable


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs bubblewrap")
def test_in_the_real_sandbox_only_the_work_can_be_written(tmp_path: Path) -> None:
    marker = tmp_path / "outside.txt"
    wrap = choose(None, private=()).check_wrap()
    assert wrap is not None
    codes = (
        "import mod\nresult = mod.f()",
        f"open({os.fspath(marker)!r}, 'w').write('x')",
        "open('inside.txt', 'w').write('x')\nresult = 2",
        "import os\nresult = [name for name in os.listdir('/sys/class/net') if name != 'lo']",
    )
    runs = checked("def f():\n    return 1\n", *codes, workbench=replace(PATIENT, confine=wrap))
    assert (runs[0].value, runs[2].value) == (1, 2)
    assert runs[1].raised is not None or not marker.exists()
    assert not marker.exists()
    assert runs[3].raised is not None or runs[3].value == []


def test_an_exception_that_is_none_of_the_usual_ones_costs_one_check() -> None:
    module = "class Odd(BaseException):\n    pass\n\n\ndef f():\n    raise Odd('no')\n"
    odd, after = checked(module, "import mod\nmod.f()", "result = 1")
    assert (odd.raised, after.value) == ("Odd", 1)


def test_an_import_that_takes_for_ever_ends_too() -> None:
    run = own_tests({"tests/test_x.py": "while True:\n    pass\n"}, QUICK)
    ((_, failure),) = run.lines
    assert "OutOfTime" in failure
    assert run.note == ""
