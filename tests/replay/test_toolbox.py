"""One recorded step becomes a call of whatever tool an agent offers."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from runner.replay.conversation import Conversation, OfferedTool, RequestFault
from runner.replay.toolbox import call_for
from runner.replay.turns import Action
from tests.replay.tapes import STRING

NUMBER, ARRAY, FLAG = {"type": "integer"}, {"type": "array", "items": STRING}, {"type": "boolean"}


def action(**fields: object) -> Action:
    adapter: TypeAdapter[Action] = TypeAdapter(Action)
    return adapter.validate_json(json.dumps(fields))


def offer(name: str, required: tuple[str, ...] | None = None, **properties: object) -> OfferedTool:
    wanted = list(properties if required is None else required)
    return OfferedTool(name, {"type": "object", "properties": properties, "required": wanted})


def talk(*tools: OfferedTool, prompt: str = "workspace: /w\nartifacts_dir: /a b\n") -> Conversation:
    return Conversation("m", False, True, tools, 0, prompt)


def called(step: Action, *tools: OfferedTool) -> tuple[str, Mapping[str, object]]:
    call = call_for(step, talk(*tools))
    return call.name, json.loads(call.arguments)


EDIT = action(do="edit", path="src/a.py", old="x", new="y")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            offer("edit_file", path=STRING, old=STRING, new=STRING),
            {"path": "src/a.py", "old": "x", "new": "y"},
        ),
        (
            offer("Edit", file_path=STRING, old_string=STRING, new_string=STRING, replace_all=FLAG),
            {"file_path": "/w/src/a.py", "old_string": "x", "new_string": "y", "replace_all": False},
        ),
        (
            offer("edit", filePath=STRING, oldString=STRING, newString=STRING),
            {"filePath": "/w/src/a.py", "oldString": "x", "newString": "y"},
        ),
        (
            offer("default_api:replace", path=STRING, old_str=STRING, new_str=STRING),
            {"path": "src/a.py", "old_str": "x", "new_str": "y"},
        ),
        (
            offer(
                "mcp__files__edit",
                path=STRING,
                edits={
                    "type": "array",
                    "items": {"type": "object", "properties": {"oldText": STRING, "newText": STRING}},
                },
            ),
            {"path": "src/a.py", "edits": [{"oldText": "x", "newText": "y"}]},
        ),
    ],
)
def test_an_edit_speaks_every_dialect(tool: OfferedTool, arguments: object) -> None:
    assert called(EDIT, tool) == (tool.name, arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (offer("bash", command=STRING), {"command": "ls -l"}),
        (offer("shell", command=ARRAY), {"command": ["bash", "-lc", "ls -l"]}),
        (offer("exec_command", cmd=STRING, why=STRING), {"cmd": "ls -l", "why": "scripted"}),
        (offer("Bash", ("command", "level"), command=STRING, level=NUMBER), {"command": "ls -l", "level": 1}),
        (
            offer("run_shell_command", command=STRING, mode={"type": "string", "enum": ["fast", "slow"]}),
            {"command": "ls -l", "mode": "fast"},
        ),
    ],
)
def test_a_shell_command_speaks_every_dialect(tool: OfferedTool, arguments: object) -> None:
    assert called(action(do="shell", command="ls -l"), tool) == (tool.name, arguments)


def test_lines_are_given_as_first_and_last_or_as_offset_and_limit() -> None:
    step = action(do="read", path="a", first=3, last=7)
    ours = offer("read_file", ("path",), path=STRING, first_line=NUMBER, last_line=NUMBER)
    other = offer("Read", ("file_path",), file_path=STRING, offset=NUMBER, limit=NUMBER)
    assert called(step, ours)[1] == {"path": "a", "first_line": 3, "last_line": 7}
    assert called(step, other)[1] == {"file_path": "/w/a", "offset": 3, "limit": 5}


def test_marks_become_the_folders_of_the_prompt() -> None:
    step = action(do="write", path="{artifacts}/n.md", content="in {workspace}")
    tool = offer("create_file", path=STRING, content=STRING)
    assert called(step, tool)[1] == {"path": "/a b/n.md", "content": "in /w"}
    with pytest.raises(RequestFault, match="no line 'artifacts_dir: <folder>'"):
        call_for(step, talk(tool, prompt="nothing here"))


def test_a_call_that_is_meant_to_be_wrong_is_sent_as_written() -> None:
    step = action(do="call", tool="no_such_tool", arguments='{"half": ')
    assert call_for(step, talk())[:2] == ("no_such_tool", '{"half": ')


def test_without_any_fitting_tool_the_offer_is_named() -> None:
    with pytest.raises(RequestFault, match=r"fits none of the tools.*offered: dance"):
        call_for(EDIT, talk(offer("dance")))


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (action(do="list", path="d e"), "f.txt"),
        (action(do="read", path="d e/f.txt", first=2, last=2), "it's two\n"),
        (action(do="read", path="d e/f.txt"), "one\nit's two\n"),
        (action(do="search", pattern="t.o", path="d e"), "d e/f.txt:2:it's two"),
        (action(do="edit", path="d e/f.txt", old="it's two", new="2"), None),
        (action(do="write", path="new/g.txt", content="it's\n$HOME `x`"), None),
    ],
)
def test_where_there_is_only_a_shell_it_does_every_step(
    step: Action, shown: str | None, tmp_path: Path
) -> None:
    (tmp_path / "d e").mkdir()
    (tmp_path / "d e" / "f.txt").write_text("one\nit's two\n", encoding="utf-8")
    name, arguments = called(step, offer("bash", command=STRING))
    done = subprocess.run(
        ["/bin/sh", "-c", str(arguments["command"])], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert name == "bash"
    if shown is not None:
        assert shown in done.stdout
    elif step.do == "edit":
        assert (tmp_path / "d e" / "f.txt").read_text(encoding="utf-8") == "one\n2\n"
    else:
        assert (tmp_path / "new" / "g.txt").read_text(encoding="utf-8") == "it's\n$HOME `x`"


def test_an_edit_by_shell_fails_where_the_text_does_not_match(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x x", encoding="utf-8")
    command = str(called(EDIT, offer("bash", command=STRING))[1]["command"])
    assert (
        subprocess.run(shlex.split(command), cwd=tmp_path, capture_output=True, check=False).returncode == 1
    )
