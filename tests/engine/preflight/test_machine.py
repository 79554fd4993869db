"""The machine: git, isolation, memory and clock, each missing thing with the command that brings it."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runner.engine.isolation import Isolation, choose
from runner.engine.isolation.bubblewrap import Probe
from runner.engine.isolation.container import Runtime
from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.machine import (
    clock_checks,
    git_checks,
    isolation_checks,
    isolation_fix,
    memory_checks,
)
from runner.engine.preflight.system import INSTALLERS, allow_namespaces, install_command
from runner.engine.resolution import complete, resolve
from runner.engine.settings import RunSettings
from runner.providers.checks import Check, CheckState
from runner.store import ResultsStore
from tests import examples

NO_PROGRAM = Probe(None, False, "bubblewrap (bwrap) is not installed")
NO_RUNTIME = Runtime(None, False, "neither docker nor podman is installed")


def group(places: Places, **settings: object) -> Group:
    whole = complete(RunSettings(**settings), places)  # type: ignore[arg-type]
    return Group(whole, resolve(whole, places))


def one(checks: list[Check]) -> Check:
    [check] = checks
    return check


def test_git_of_this_machine_passes() -> None:
    assert one(list(git_checks())).state is CheckState.PASS


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("echo git version 2.17.1", "2.17.1 is older than 2.34"),
        ("echo nonsense", "older than 2.34"),
        (None, "git could not be started"),
    ],
)
def test_an_old_or_missing_git_names_the_command_that_installs_it(
    script: str | None, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        (tmp_path / "git").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / "git").chmod(0o755)
    (tmp_path / "apt-get").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    check = one(list(git_checks()))
    assert check.state is CheckState.FAIL
    assert found in check.found
    assert check.fix.endswith("apt-get install --yes git")


@pytest.mark.parametrize("program", sorted(INSTALLERS))
def test_each_system_has_its_own_command(program: str) -> None:
    command = install_command("bubblewrap", lambda name: name if name == program else None, is_root=True)
    assert command.split()[0] == program
    assert command.endswith("bubblewrap")


def test_without_rights_sudo_stands_before_the_command() -> None:
    assert install_command("git", lambda name: name, is_root=False).startswith("sudo ")
    assert not install_command("git", lambda name: name, is_root=True).startswith("sudo ")
    assert "package manager" in install_command("git", lambda _: None)


def without_sandbox(asked: str | None) -> Isolation:
    return choose(asked, private=(), probe=lambda: NO_PROGRAM, container=lambda: NO_RUNTIME)


def test_without_bubblewrap_a_run_is_warned_and_one_that_asks_for_it_fails(
    places: Places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "apt-get").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "apt-get").chmod(0o755)
    groups = [group(places)]
    warned = one(list(isolation_checks(groups, None, choice=without_sandbox)))
    assert (warned.state, "not installed" in warned.found) == (CheckState.WARN, True)
    failed = one(list(isolation_checks(groups, "sandbox", choice=without_sandbox)))
    assert failed.state is CheckState.FAIL
    for check in (warned, failed):
        assert check.fix.endswith("apt-get install --yes bubblewrap")
    container = one(list(isolation_checks(groups, "container", choice=without_sandbox)))
    assert (container.state, container.fix.split()[-1]) == (CheckState.FAIL, "podman")


def test_what_was_given_up_knowingly_is_still_said(places: Places) -> None:
    check = one(list(isolation_checks([group(places)], "none", choice=without_sandbox)))
    assert (check.state, check.fix) == (CheckState.WARN, "--isolation sandbox")


def test_a_policy_against_namespaces_has_the_command_that_lifts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restricted, count = tmp_path / "restricted", tmp_path / "count"
    monkeypatch.setattr("runner.engine.preflight.system.RESTRICTED", restricted)
    monkeypatch.setattr("runner.engine.preflight.system.NAMESPACES", count)
    assert allow_namespaces(is_root=True) is None
    count.write_text("0\n", encoding="ascii")
    assert allow_namespaces(is_root=True) == "sysctl -w user.max_user_namespaces=15000"
    restricted.write_text("1\n", encoding="ascii")
    command = allow_namespaces(lambda name: name, is_root=False)
    assert command == "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    restricted.write_text("words", encoding="ascii")
    count.write_text("99", encoding="ascii")
    assert isolation_fix("container") is not None


def test_memory_is_weighed_against_the_agents_at_work_at_the_same_time(
    places: Places, tmp_path: Path
) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:  1000000 kB\n", encoding="ascii")
    [harness] = group(places).parts.harnesses.values()
    fits = max(1, 1_024_000_000 // (harness.memory_mb * 1_000_000))
    enough = one(list(memory_checks([group(places, concurrency=fits)], meminfo=meminfo)))
    short = one(list(memory_checks([group(places, concurrency=fits + 1)], meminfo=meminfo)))
    assert enough.state is CheckState.PASS
    assert (short.state, short.fix) == (CheckState.WARN, f"--concurrency {fits}")


def test_a_machine_that_does_not_tell_its_memory_has_no_such_line(places: Places, tmp_path: Path) -> None:
    assert list(memory_checks([group(places)], meminfo=tmp_path / "nothing")) == []


def test_a_clock_behind_the_newest_plan_is_noticed(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path / "results")
    assert one(list(clock_checks([store]))).state is CheckState.PASS
    plan = examples.plan()
    store.write_plan(plan)
    assert plan.created_at is not None
    for late, state in ((-1, CheckState.PASS), (60, CheckState.PASS), (3600, CheckState.WARN)):
        now = plan.created_at - timedelta(seconds=late)
        assert one(list(clock_checks([store], now))).state is state
    assert one(list(clock_checks([store], datetime.now(UTC)))).state is CheckState.PASS


def test_root_or_not_the_command_fits_this_process() -> None:
    assert install_command("git", lambda name: name).startswith("sudo ") == (os.geteuid() != 0)
