"""The tools of the loop: what they do, and that whatever goes wrong becomes a text for the model."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.harnesses.loop_agent import files
from runner.harnesses.loop_agent.places import Places, ToolFault, open_places
from runner.harnesses.loop_agent.shell import MAX_OUTPUT_BYTES, command_environment, run_command
from runner.harnesses.loop_agent.toolset import TOOLS, Outcome, Toolset
from tests.harnesses.rig import open_rig, turn
from tests.survivors import survivors

SECRET = "outside\n"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("workspace", "artifacts", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside" / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "workspace" / "a.py").write_text("one\ntwo\nthree\n", encoding="utf-8")
    return open_places(tmp_path / "workspace", tmp_path / "artifacts")


@pytest.fixture
def tools(places: Places) -> Toolset:
    return Toolset(places, command_environment(os.environ))


def long_sleep() -> str:
    """About a minute, as no other sleeps."""
    return f"61.{os.getpid()}{time.monotonic_ns()}"


def call(tools: Toolset, name: str, **arguments: object) -> Outcome:
    return tools.call(name, json.dumps(arguments), seconds_left=None)


def test_files_are_listed_in_order_without_the_repository_itself(tools: Toolset, places: Places) -> None:
    for name in (".git/config", "b/c.txt", "b/__pycache__/c.pyc"):
        (places.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (places.workspace / name).write_text("", encoding="utf-8")
    assert call(tools, "list_files").text == "a.py\nb/c.txt"
    assert call(tools, "list_files", path="b").text == "b/c.txt"
    assert call(tools, "list_files", path=str(places.artifacts)).text == "(no files)"


def test_a_folder_with_very_many_files_is_cut(tools: Toolset, places: Places) -> None:
    for number in range(files.MAX_ENTRIES + 5):
        (places.workspace / f"n{number}").touch()
    lines = call(tools, "list_files").text.splitlines()
    assert len(lines) == files.MAX_ENTRIES + 1
    assert "more than" in lines[-1]


def test_a_file_is_read_whole_or_in_part_with_line_numbers(tools: Toolset) -> None:
    assert call(tools, "read_file", path="a.py").text == "1\tone\n2\ttwo\n3\tthree"
    assert call(tools, "read_file", path="a.py", first_line=2, last_line=2).text == "2\ttwo"
    assert call(tools, "read_file", path="a.py", first_line=3, last_line=99).text == "3\tthree"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "nope.py"}, "does not exist"),
        ({"path": "."}, "is a folder"),
        ({"path": "a.py", "first_line": 9}, "has 3 lines"),
        ({"path": "a.py", "first_line": 3, "last_line": 1}, "has 3 lines"),
        ({"path": "binary"}, "no UTF-8 text"),
        ({"path": "pipe"}, "no plain file"),
        ({"path": "large"}, "larger than"),
        ({"path": ""}, "empty"),
        ({"path": "a\0b"}, "null character"),
        ({"path": "x" * 5000}, "error"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(
    tools: Toolset, places: Places, arguments: dict[str, object], words: str
) -> None:
    (places.workspace / "binary").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(places.workspace / "pipe")
    with (places.workspace / "large").open("wb") as stream:
        stream.truncate(files.MAX_FILE_BYTES + 1)
    outcome = call(tools, "read_file", **arguments)
    assert not outcome.ok
    assert words in outcome.text


def test_an_edit_needs_exactly_one_match(tools: Toolset, places: Places) -> None:
    assert call(tools, "edit_file", path="a.py", old="two", new="2").text == "edited a.py at line 2"
    assert (places.workspace / "a.py").read_text(encoding="utf-8") == "one\n2\nthree\n"
    for old, words in (("nowhere", "does not occur"), ("e", "occurs 3 times"), ("", "is empty")):
        outcome = call(tools, "edit_file", path="a.py", old=old, new="x")
        assert not outcome.ok
        assert words in outcome.text
    assert (places.workspace / "a.py").read_text(encoding="utf-8") == "one\n2\nthree\n"


def test_an_edit_keeps_line_ends_as_they_are(tools: Toolset, places: Places) -> None:
    (places.workspace / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    assert call(tools, "edit_file", path="dos.txt", old="one", new="1").ok
    assert (places.workspace / "dos.txt").read_bytes() == b"1\r\ntwo\r\n"


def test_a_new_file_gets_its_folders_and_replaces_nothing_unasked(tools: Toolset, places: Places) -> None:
    assert call(tools, "create_file", path="d/e/f.txt", content="hi").ok
    assert (places.workspace / "d/e/f.txt").read_text(encoding="utf-8") == "hi"
    refused = call(tools, "create_file", path="a.py", content="gone")
    assert "exists" in refused.text
    assert (places.workspace / "a.py").read_text(encoding="utf-8").startswith("one")
    assert call(tools, "create_file", path="a.py", content="new", overwrite=True).ok
    assert call(tools, "create_file", path=f"{places.artifacts}/note.md", content="n").ok
    assert not call(tools, "create_file", path="a.py/x", content="n").ok
    assert not call(tools, "create_file", path="half", content="\ud800").ok


def test_a_search_names_file_and_line(tools: Toolset, places: Places) -> None:
    (places.workspace / "b.txt").write_text("t\nthe end\n", encoding="utf-8")
    assert call(tools, "search", pattern="^th").text == "a.py:3: three\nb.txt:2: the end"
    assert call(tools, "search", pattern="t", path="b.txt").text.count("\n") == 1
    assert call(tools, "search", pattern="zebra").text == "(no match)"
    assert "no regular expression" in call(tools, "search", pattern="(").text
    assert "does not exist" in call(tools, "search", pattern="x", path="nope").text


def test_a_search_with_very_many_matches_is_cut(tools: Toolset, places: Places) -> None:
    (places.workspace / "many").write_text("x\n" * 1000, encoding="utf-8")
    lines = call(tools, "search", pattern="x").text.splitlines()
    assert len(lines) == files.MAX_MATCHES + 1


def test_a_pattern_that_backtracks_without_end_is_stopped(
    tools: Toolset, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SEARCH_SECONDS", 0.2)
    (places.workspace / "evil").write_text("a" * 40 + "b\n", encoding="utf-8")
    outcome = call(tools, "search", pattern="(a+)+$")
    assert "simpler pattern" in outcome.text
    assert outcome.seconds < 5


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("run_tests", "{}", "there is no tool 'run_tests'; tools are list_files"),
        ("read_file", '{"path": "a.py"', "not valid JSON"),
        ("read_file", "[1]", "must be a JSON object"),
        ("read_file", "{}", "argument 'path' is missing"),
        ("read_file", '{"path": 7}', "argument 'path' must be a string"),
        ("read_file", '{"path": "a.py", "first_line": true}', "must be a integer"),
        ("read_file", '{"file": "a.py"}', "unknown argument 'file'; argument 'path' is missing"),
        ("run_command", '{"command": "  "}', "the command is empty"),
        ("run_command", '{"command": "true", "timeout_seconds": 0}', "must be above 0"),
        ("read_file", "[" * 100_000, "not valid JSON"),
    ],
)
def test_a_call_that_makes_no_sense_is_answered_with_what_is_wrong(
    tools: Toolset, name: str, arguments: str, words: str
) -> None:
    outcome = tools.call(name, arguments, seconds_left=None)
    assert not outcome.ok
    assert words in outcome.text


def test_a_command_runs_in_the_workspace_without_input_and_its_failure_is_a_result(tools: Toolset) -> None:
    assert call(tools, "run_command", command="cat; ls; echo oops >&2; exit 3").text == (
        "exit code 3\na.py\noops\n"
    )


def test_a_command_that_takes_too_long_is_killed_with_all_it_started(tools: Toolset, places: Places) -> None:
    long = long_sleep()
    outcome = call(
        tools, "run_command", command=f"echo begun; (sleep {long}) & sleep {long}", timeout_seconds=2
    )
    assert not outcome.ok
    assert "killed after 2 seconds; output so far:\nbegun" in outcome.text
    assert survivors(long) == []


def test_a_command_never_gets_more_time_than_the_run_has_left(tools: Toolset) -> None:
    outcome = tools.call("run_command", '{"command": "sleep 60"}', seconds_left=0.3)
    assert "killed after 0.3 seconds" in outcome.text


def test_a_process_left_in_the_background_neither_holds_up_nor_outlives_its_command(
    tools: Toolset, places: Places
) -> None:
    long = long_sleep()
    outcome = call(tools, "run_command", command=f"sleep {long} & echo done")
    assert outcome.text == "exit code 0\ndone\n"
    assert outcome.seconds < 50
    assert survivors(long) == []


def test_an_endless_output_is_cut_in_the_middle_and_memory_stays_small(tmp_path: Path) -> None:
    run = run_command(
        "echo first; yes | head -c 50000000; echo last", folder=tmp_path, environment={"PATH": os.defpath}
    )
    assert run.exit_code == 0
    assert run.output.startswith("first\n")
    assert run.output.endswith("last\n")
    assert len(run.output) < MAX_OUTPUT_BYTES + 100
    found = re.search(r"\n\.\.\. (\d+) bytes left out \.\.\.\n", run.output)
    assert found
    assert int(found[1]) > 49_000_000


def test_output_that_is_no_text_is_shown_as_far_as_it_goes(tools: Toolset) -> None:
    assert "\ufffd" in call(tools, "run_command", command="printf '\\377\\376'").text


def test_commands_see_a_short_list_of_variables_only() -> None:
    seen = command_environment({"PATH": "/bin", "HOME": "/h", "SECRET_KEY": "x", "LD_PRELOAD": "y"})
    assert set(seen) == {"PATH", "HOME", "LANG", "PYTHONDONTWRITEBYTECODE"}


def test_every_tool_is_described_with_a_closed_schema() -> None:
    for tool in TOOLS:
        function = tool.description()["function"]
        assert isinstance(function, dict)
        assert function["parameters"]["additionalProperties"] is False
        assert set(function["parameters"]["required"]) <= set(function["parameters"]["properties"])


def test_a_killed_agent_leaves_no_command_behind(tmp_path: Path) -> None:
    long = long_sleep()
    slow = {"do": "shell", "command": f"touch begun; sleep {long}"}
    with open_rig(tmp_path, (turn(0, slow), turn(1))) as rig:
        result = rig.run(until=(rig.workspace / "begun").exists)
        assert result.reading.stop_reason == "no-end"
        assert survivors(long) == []


@pytest.mark.parametrize("tool", ["read_file", "edit_file", "create_file", "list_files", "search"])
@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "link/secret.txt",
        "file-link",
        "/etc/passwd",
        "~/../../etc",
        "d/../../outside",
    ],
)
def test_no_tool_leaves_the_two_folders(tool: str, path: str, tools: Toolset, places: Places) -> None:
    outside = places.workspace.parent / "outside"
    (places.workspace / "link").symlink_to(outside)
    (places.workspace / "file-link").symlink_to(outside / "secret.txt")
    extra: dict[str, dict[str, object]] = {
        "edit_file": {"old": "outside", "new": "changed"},
        "create_file": {"content": "changed", "overwrite": True},
        "search": {"pattern": "."},
    }
    outcome = call(tools, tool, path=path, **extra.get(tool, {}))
    if not path.startswith("~"):
        assert not outcome.ok
        assert "lies outside" in outcome.text
    assert SECRET not in outcome.text
    assert (outside / "secret.txt").read_text(encoding="utf-8") == SECRET


def test_links_to_the_outside_are_listed_but_not_searched(tools: Toolset, places: Places) -> None:
    (places.workspace / "link").symlink_to(places.workspace.parent / "outside")
    (places.workspace / "file-link").symlink_to(places.workspace.parent / "outside" / "secret.txt")
    assert "file-link" in call(tools, "list_files").text
    assert call(tools, "search", pattern="outside").text == "(no match)"


def test_a_link_chain_that_never_ends_is_refused(tools: Toolset, places: Places) -> None:
    (places.workspace / "loop").symlink_to(places.workspace / "loop")
    assert not call(tools, "read_file", path="loop").ok
    assert not call(tools, "create_file", path="loop", content="x").ok


PARTS = st.sampled_from(["..", ".", "", "a", "link", "file-link", "deep", "~", "\\", "..\\..", "%2e%2e", " "])


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(PARTS | st.text(max_size=4), max_size=8), rooted=st.booleans())
def test_whatever_is_asked_for_the_place_found_is_inside(
    parts: list[str], rooted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.getbasetemp() / "confined"
    workspace, outside = base / "workspace", base / "outside"
    if not base.exists():
        (workspace / "deep").mkdir(parents=True)
        outside.mkdir()
        (workspace / "link").symlink_to(outside)
        (workspace / "deep" / "link").symlink_to("../..")
        (workspace / "file-link").symlink_to("/etc/passwd")
    places = open_places(workspace, base / "artifacts")
    text = ("/" if rooted else "") + "/".join(parts)
    try:
        found = places.locate(text)
    except ToolFault:
        return
    real = Path(os.path.realpath(found))
    assert real == places.workspace or places.workspace in real.parents
