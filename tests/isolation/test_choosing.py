"""The strongest isolation that works is taken, and never a weaker one than asked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runner.engine.isolation import IsolationLevel, choose
from runner.engine.isolation.bubblewrap import Probe, find_bubblewrap, probe_bubblewrap
from runner.engine.isolation.container import Runtime
from runner.errors import ConfigurationError, UsageError

WORKS = Probe(Path("/usr/bin/bwrap"), True, "")
ABSENT = Probe(None, False, "bubblewrap (bwrap) is not installed")
FORBIDDEN = Probe(Path("/usr/bin/bwrap"), False, "bwrap: setting up uid map: Permission denied")
DOCKER = Runtime(Path("/usr/bin/docker"), True, "")
NO_DOCKER = Runtime(None, False, "neither docker nor podman is installed")


def level(asked: str | None, probe: Probe, runtime: Runtime = DOCKER) -> IsolationLevel:
    return choose(asked, private=(), probe=lambda: probe, container=lambda: runtime).level


def test_without_a_wish_the_sandbox_is_taken_where_it_works() -> None:
    assert level(None, WORKS) == "sandbox"


@pytest.mark.parametrize("probe", [ABSENT, FORBIDDEN])
def test_without_a_wish_and_without_a_sandbox_the_level_is_none_and_says_why(probe: Probe) -> None:
    chosen = choose(None, private=(), probe=lambda: probe)
    assert chosen.level == "none"
    assert probe.reason in chosen.remark


def test_what_is_asked_for_is_what_is_taken() -> None:
    assert [level(asked, WORKS) for asked in IsolationLevel] == list(IsolationLevel)


@pytest.mark.parametrize(
    ("asked", "probe", "runtime", "remedy"),
    [
        ("sandbox", ABSENT, DOCKER, "apt-get install bubblewrap"),
        ("sandbox", FORBIDDEN, DOCKER, "apparmor_restrict_unprivileged_userns"),
        ("container", WORKS, NO_DOCKER, "install docker or podman"),
    ],
)
def test_a_level_that_is_not_to_be_had_is_an_error_and_never_a_weaker_one(
    asked: str, probe: Probe, runtime: Runtime, remedy: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        level(asked, probe, runtime)
    assert remedy in caught.value.remedy


def test_a_level_that_does_not_exist_is_named() -> None:
    with pytest.raises(UsageError, match="'sandbx'"):
        level("sandbx", WORKS)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo 'bwrap: No permissions to create a new namespace' >&2; exit 1", "No permissions"),
        ("exit 0", "exit code 0"),
        ("kill -9 $$", "exit code -9"),
    ],
)
def test_a_bubblewrap_that_only_pretends_to_work_is_found_out(tmp_path: Path, text: str, reason: str) -> None:
    found = probe_bubblewrap(script(tmp_path / "bwrap", text))
    assert not found.works
    assert reason in found.reason


def test_bubblewrap_is_looked_for_on_the_search_path(tmp_path: Path) -> None:
    program = script(tmp_path / "bwrap", "exit 0")
    assert find_bubblewrap({"PATH": str(tmp_path)}) == program


@pytest.mark.skipif(sys.platform == "linux", reason="on Linux the sandbox must work, see test_reach")
def test_elsewhere_there_is_no_sandbox() -> None:
    assert choose(None, private=()).level == "none"


def test_the_probe_runs_a_process_only_once(tmp_path: Path) -> None:
    program = script(tmp_path / "bwrap", f"echo x >> {tmp_path}/runs; exit 7")
    assert probe_bubblewrap(program) is probe_bubblewrap(program)
    assert (tmp_path / "runs").read_text().count("x") == 2, "one for --help, one for the trial"
