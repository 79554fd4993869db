"""The contract that every registered harness keeps."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from runner.errors import ConfigurationError, UsageError
from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint
from runner.harnesses.installation import Source
from runner.harnesses.loop import Loop
from runner.harnesses.registry import HARNESSES, harness
from runner.records import CacheSemantics, Limits
from tests.harnesses.fakes import pretend_installed

KEY = "contract-key-0123456789"
NAMES = os.environ.get("HARNESSMARK_TEST_HARNESSES", "").split() or sorted(HARNESSES)
"""Every registered harness, or those that ``invoke test --harnesses`` names."""


@pytest.fixture(autouse=True)
def search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test pretends to be installed is found, below ``tmp_path`` or its folder ``installed``."""
    places = (tmp_path / "bin", tmp_path / "installed" / "bin", "/usr/bin", "/bin")
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, places)))


@pytest.fixture
def assignment(request: pytest.FixtureRequest, tmp_path: Path) -> Assignment:
    found = harness(request.getfixturevalue("name"))
    pretend_installed(found, tmp_path / "installed")
    for name in ("workspace", "artifacts", "home"):
        (tmp_path / name).mkdir()
    return Assignment(
        prompt="Do it. " * 50_000,
        workspace=tmp_path / "workspace",
        artifacts=tmp_path / "artifacts",
        home=tmp_path / "home",
        endpoint=Endpoint("http://127.0.0.1:9/v1", found.protocols[0], "vendor/model:1", KEY, 64_000),
        limits=Limits(max_turns=3, timeout_seconds=60),
        installed=tmp_path / "installed",
    )


@pytest.mark.parametrize("name", NAMES)
def test_it_says_who_it_is_and_how_it_counts(name: str, tmp_path: Path) -> None:
    found = harness(name)
    assert found.name == name or ":" in name
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", found.name)
    assert found.title
    assert found.turns_definition
    assert found.memory_mb > 0
    assert isinstance(found.delegates, bool)
    assert found.notes
    assert all(note.endswith(".") for note in found.notes)
    assert found.protocols
    assert found.cache_semantics in CacheSemantics
    pretend_installed(found, tmp_path)
    assert re.match(r"\d", found.version(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_is_not_there_is_named_with_the_command_that_installs_it(
    name: str, tmp_path: Path
) -> None:
    found = harness(name)
    if found.installation is None:
        return
    with pytest.raises(ConfigurationError, match=f"{found.name} .*is not installed") as caught:
        found.version(tmp_path)
    if found.installation.source is Source.BY_HAND:
        assert caught.value.remedy in found.installation.note
        assert "pip install" not in caught.value.remedy
    else:
        assert caught.value.remedy == f"invoke harness-install {name}"


@pytest.mark.parametrize("name", NAMES)
def test_everything_it_writes_and_reads_lies_in_the_folders_it_declares(
    name: str, assignment: Assignment
) -> None:
    launch = harness(name).launch(assignment)
    written = {path for path in assignment.home.rglob("*") if path.is_file()}
    assert written == set(launch.configuration)
    program = Path(launch.command[0])
    inside = [folder for folder in launch.readable if program.is_relative_to(folder)]
    assert inside or harness(name).installation is None
    assert all(place.is_absolute() and place.exists() for place in launch.readable)
    assert not any(assignment.workspace.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_the_same_assignment_gives_the_same_configuration(name: str, assignment: Assignment) -> None:
    def contents() -> list[bytes]:
        return [path.read_bytes() for path in harness(name).launch(assignment).configuration]

    assert contents() == contents()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "line", ["", "no json", "[]", "{}", '{"type": 7}', "{" * 5000, '{"event": []}', '"\\ud800"']
)
def test_a_line_that_tells_nothing_has_no_trace(name: str, line: str) -> None:
    assert harness(name).trace(line) is None


@pytest.mark.parametrize("name", NAMES)
def test_the_key_travels_in_the_environment_only(name: str, assignment: Assignment) -> None:
    launch = harness(name).launch(assignment)
    assert KEY in launch.environment.values()
    assert not any(KEY in part for part in launch.command)
    assert KEY.encode() not in launch.stdin
    assert KEY not in repr(launch)
    for path in assignment.home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_environment_is_built_from_nothing(
    name: str, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SECRET_OF_THE_USER", "s")
    environment = harness(name).launch(assignment).environment
    assert "SOME_SECRET_OF_THE_USER" not in environment
    assert environment["HOME"].startswith(str(assignment.home))


@pytest.mark.parametrize("name", NAMES)
def test_a_large_prompt_does_not_become_an_argument(name: str, assignment: Assignment) -> None:
    launch = harness(name).launch(assignment)
    assert all(len(part) < 100_000 for part in launch.command)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("output", [b"", b"\x00\xff garbage\n", b'{"event": ', b"[]\n{}\n7\n"])
def test_reading_never_fails_and_never_turns_unknown_into_zero(
    name: str, output: bytes, assignment: Assignment, tmp_path: Path
) -> None:
    (tmp_path / "stdout").write_bytes(output)
    reading = harness(name).read(tmp_path / "stdout", assignment)
    assert reading.usage is None
    assert reading.turns is None
    assert reading.stop_reason


@pytest.mark.parametrize("name", NAMES)
def test_reading_a_file_that_is_not_there_fails_no_more(name: str, assignment: Assignment) -> None:
    assert harness(name).read(assignment.home / "nothing", assignment).usage is None


def test_an_unknown_name_offers_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'loop'"):
        harness("lop")


def test_an_import_path_stands_for_a_harness_outside_the_registry() -> None:
    assert isinstance(harness("runner.harnesses.loop:Loop"), Loop)


@pytest.mark.parametrize("path", ["no.such.module:X", "runner.harnesses.loop:Nothing", ":Loop", "x:"])
def test_an_import_path_that_leads_nowhere_is_a_mistake_of_the_user(path: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        harness(path)


def test_something_else_at_the_import_path_is_refused_with_what_it_lacks() -> None:
    with pytest.raises(ConfigurationError, match="no harness: it has no title"):
        harness("pathlib:PurePath")
