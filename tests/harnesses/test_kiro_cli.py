"""The harness kiro-cli, as a real process: its arguments, its key, its prompt, and what it leaves."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from runner.engine.supervision import Finished, supervise
from runner.errors import ConfigurationError
from runner.harnesses.base import Assignment, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.kiro_cli import KiroCli
from runner.kiro import PROGRAM, find_program, is_stand_in
from runner.records import Limits
from tests.harnesses.kiro_standin import REFUSED_KEY, VERSION, put_stand_in

KEY = "kiro-key-of-a-test-0123456789"


def assignment(folder: Path, model: str, *, key: str = KEY, prompt: str = "Do it.") -> Assignment:
    for name in ("workspace", "artifacts", "home"):
        (folder / name).mkdir()
    return Assignment(
        prompt=prompt,
        workspace=folder / "workspace",
        artifacts=folder / "artifacts",
        home=folder / "home",
        endpoint=Endpoint("", WireProtocol.MANAGED, model, key, dollars_per_credit=0.04),
        limits=Limits(max_turns=3, timeout_seconds=60),
    )


def run(given: Assignment, search_path: str) -> tuple[Finished, Reading]:
    harness = KiroCli(search_path=search_path)
    out = given.home.parent / "stdout"
    finished = supervise(harness.launch(given), stdout=out, timeout_seconds=60, cancelled=threading.Event())
    return finished, harness.read(out, given)


@pytest.fixture
def search_path(tmp_path: Path) -> str:
    return f"{put_stand_in(tmp_path / 'bin').parent}:/usr/bin:/bin"


def test_a_run_ends_well_with_its_credits(tmp_path: Path, search_path: str) -> None:
    finished, reading = run(assignment(tmp_path, "short"), search_path)
    assert finished.exit_code == 0
    assert not reading.is_error
    assert (reading.costs[0].credits_used, reading.costs[0].amount_usd) == (0.07, 0.0028)


def test_a_prompt_larger_than_any_argument_arrives_whole(tmp_path: Path, search_path: str) -> None:
    prompt = "artifacts_dir: nowhere\n" + "Do it. " * 50_000
    given = assignment(tmp_path, "short", prompt=prompt)
    _, reading = run(given, search_path)
    assert not reading.is_error
    assert f"Prompt of {len(prompt)} characters read." in (tmp_path / "stdout").read_text()


def test_a_key_that_is_refused_is_a_failure_although_the_exit_code_is_0(
    tmp_path: Path, search_path: str
) -> None:
    finished, reading = run(assignment(tmp_path, "short", key=REFUSED_KEY), search_path)
    assert finished.exit_code == 0
    assert reading.is_error
    assert "Authentication failed" in (reading.error or "")


def test_limits_that_it_cannot_keep_are_told(tmp_path: Path, search_path: str) -> None:
    _, reading = run(assignment(tmp_path, "short"), search_path)
    assert [warning.code for warning in reading.warnings] == ["limit-not-enforced"]


def test_a_killed_run_has_no_credits_and_says_so(tmp_path: Path) -> None:
    slow = {"slow": {"stdout": "> I begin\n", "acts": [{"sleep": 60}], "stderr": "▸ Credits: 9 • Time: 1s"}}
    path = f"{put_stand_in(tmp_path / 'bin', slow).parent}:/usr/bin:/bin"
    given, harness = assignment(tmp_path, "slow"), KiroCli(search_path=path)
    out = tmp_path / "stdout"
    finished = supervise(harness.launch(given), stdout=out, timeout_seconds=1.0, cancelled=threading.Event())
    reading = harness.read(out, given)
    assert finished.timed_out
    assert reading.is_error
    assert (reading.costs[0].credits_used, reading.costs[0].amount_usd) == (None, None)


def test_it_needs_the_network_and_keeps_its_standard_error(tmp_path: Path, search_path: str) -> None:
    launch = KiroCli(search_path=search_path).launch(assignment(tmp_path, "short"))
    assert launch.network
    assert launch.keep_stderr
    assert launch.environment["KIRO_API_KEY"] == KEY


def test_a_sandbox_is_shown_its_own_files_and_not_the_folder_they_lie_in(
    tmp_path: Path, search_path: str
) -> None:
    (tmp_path / "bin" / "something-else").write_text("private", encoding="utf-8")
    launch = KiroCli(search_path=search_path).launch(assignment(tmp_path, "short"))
    assert {path.name for path in launch.readable} == {PROGRAM, f"{PROGRAM}-transcripts.json"}


def test_a_link_to_the_program_shows_what_it_leads_to(tmp_path: Path) -> None:
    program = put_stand_in(tmp_path / "versions" / "2")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / PROGRAM).symlink_to(program)
    parts = set(find_program(str(tmp_path / "bin")).parts())
    assert {program, program.with_name(f"{PROGRAM}-transcripts.json")} <= parts


def test_the_version_of_a_stand_in_cannot_be_taken_for_a_real_one(tmp_path: Path, search_path: str) -> None:
    assert KiroCli(search_path=search_path).version(tmp_path) == VERSION
    assert is_stand_in(search_path)


def test_a_program_without_the_mark_is_real(tmp_path: Path) -> None:
    program = tmp_path / PROGRAM
    program.write_text("#!/bin/sh\necho kiro-cli 2.18.1\n", encoding="utf-8")
    program.chmod(0o755)
    assert not is_stand_in(str(tmp_path))
    assert KiroCli(search_path=str(tmp_path)).version(tmp_path) == "2.18.1"


def test_without_the_program_no_package_is_offered(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        KiroCli(search_path=str(tmp_path)).version(tmp_path)
    assert "kiro.dev" in caught.value.remedy
    assert "unrelated" in caught.value.remedy
    assert not is_stand_in(str(tmp_path))
