"""The repository in memory and its tools."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.endpoint.suites.coding.candidate import Workbench
from runner.endpoint.suites.coding.repository import MAX_FILE, MAX_FILES, Repository, RepositoryFault
from runner.endpoint.suites.coding.tools import TOOLS, ToolOutcome, Toolset

FILES = {"README.md": "# hello\n", "src/app.py": "def run():\n    return 1\n"}


def toolset() -> Toolset:
    return Toolset(Repository(FILES), Workbench())


def use(tools: Toolset, name: str, **arguments: object) -> ToolOutcome:
    return asyncio.run(tools.call(name, json.dumps(arguments)))


def test_files_are_listed_read_and_searched() -> None:
    tools = toolset()
    assert use(tools, "list_files").text == "README.md\nsrc/app.py"
    assert use(tools, "read_file", path="src/app.py").text == FILES["src/app.py"]
    assert use(tools, "search", query="return").text == "src/app.py:2: return 1"
    assert use(tools, "search", query="nowhere").text == "nothing found"


def test_new_files_can_be_written_and_old_ones_replaced() -> None:
    tools = toolset()
    assert use(tools, "write_file", path="src/new/mod.py", content="x = 1\n").ok
    assert use(tools, "write_file", path="./README.md", content="# bye\n").ok
    assert dict(tools.repository.files)["README.md"] == "# bye\n"
    assert tools.repository.version == 2


def test_a_patch_changes_or_says_why_not() -> None:
    tools = toolset()
    diff = "--- a/src/app.py\n+++ b/src/app.py\n@@ -2 +2 @@\n-    return 1\n+    return 2\n"
    assert use(tools, "apply_patch", patch=diff).text == "changed src/app.py"
    assert "return 2" in tools.repository.read("src/app.py")
    again = use(tools, "apply_patch", patch=diff)
    assert not again.ok
    assert "does not fit" in again.text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("read_file", '{"path": "src/gone.py"}', "there are:\nREADME.md"),
        ("read_file", '{"path": 7}', "a string"),
        ("read_file", "{}", "needs 'path'"),
        ("read_file", "[1]", "no JSON object"),
        ("read_file", '{"path": "src', "no JSON object"),
        ("read_file", '{"path": "__class__"}', "no file"),
        ("search", '{"query": ""}', "empty"),
        ("delete_everything", "{}", "no tool"),
        ("write_file", '{"path": "../evil", "content": ""}', "no path"),
        ("write_file", '{"path": "/etc/passwd", "content": ""}', "no path"),
        ("write_file", '{"path": ".git/config", "content": ""}', "no path"),
        ("write_file", '{"path": "a b", "content": ""}', "no path"),
        ("write_file", '{"path": "", "content": ""}', "no path"),
        ("write_file", '{"path": "README.md/x", "content": ""}', "folder"),
        ("write_file", '{"path": "a.py", "content": "\\u0000"}', "characters"),
        ("write_file", '{"path": "a.py", "content": "\\ud800"}', "characters"),
        ("apply_patch", '{"patch": "--- /dev/null\\n+++ b/../x\\n@@ -0,0 +1 @@\\n+1\\n"}', "no path"),
    ],
)
def test_calls_that_make_no_sense_are_invalid_and_change_nothing(
    name: str, arguments: str, said: str
) -> None:
    tools = toolset()
    outcome = asyncio.run(tools.call(name, arguments))
    assert not outcome.ok
    assert said in outcome.text
    assert tools.repository.version == 0


def test_no_arguments_at_all_are_an_empty_object() -> None:
    assert asyncio.run(toolset().call("list_files", "")).ok


def test_a_repository_cannot_grow_without_end() -> None:
    repository = Repository({})
    with pytest.raises(RepositoryFault, match="too large"):
        repository.write("big.txt", "x" * (MAX_FILE + 1))
    full = Repository({f"f{number}.txt": "x" for number in range(MAX_FILES)})
    with pytest.raises(RepositoryFault, match="too large"):
        full.write("one-more.txt", "x")


def test_writing_what_is_there_already_is_no_change() -> None:
    repository = Repository(FILES)
    repository.write("README.md", FILES["README.md"])
    assert repository.version == 0


def test_the_same_call_is_no_progress_until_something_changes() -> None:
    tools = toolset()
    assert not tools.no_progress("run_tests", "{}")
    assert tools.no_progress("run_tests", "{ }")
    use(tools, "write_file", path="a.py", content="1\n")
    assert not tools.no_progress("run_tests", "{}")
    assert not tools.no_progress("read_file", '{"path": "a.py"}')
    assert tools.no_progress("read_file", '{ "path":"a.py" }')


def test_long_results_are_cut() -> None:
    tools = Toolset(Repository({"a.txt": "x" * 100_000}), Workbench())
    text = use(tools, "read_file", path="a.txt").text
    assert text.endswith("cut here")
    assert len(text) < 30_000


@settings(max_examples=30)
@given(
    st.sampled_from([tool.name for tool in TOOLS if tool.name not in {"list_files", "run_tests"}]), st.text()
)
def test_no_call_breaks_the_tools(name: str, arguments: str) -> None:
    assert not asyncio.run(toolset().call(name, arguments)).ok


def test_every_tool_has_a_closed_schema() -> None:
    for tool in TOOLS:
        assert tool.parameters["additionalProperties"] is False
        assert tool.description
