"""One recorded step becomes a call of whatever tool an agent offers."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from runner.replay.commands import NO_AGENTS, SLEEP_MARK
from runner.replay.conversation import Conversation, OfferedTool, RequestFault
from runner.replay.toolbox import call_for, finishing_call
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


def test_an_edit_tool_with_a_language_of_its_own_is_left_aside_for_the_shell() -> None:
    name, arguments = called(EDIT, offer("edit", input=STRING), offer("bash", command=STRING))
    assert name == "bash"
    assert "src/a.py" in str(arguments["command"])
    with pytest.raises(RequestFault, match="there is no shell"):
        called(EDIT, offer("edit", input=STRING))


def test_a_subagent_can_be_one_of_a_list_of_tasks() -> None:
    item = {"type": "object", "properties": {"task": STRING, "name": STRING}, "required": ["task"]}
    tool = offer("task", context=STRING, tasks={"type": "array", "items": item})
    name, arguments = called(action(do="subagent", thread="helper", prompt="List."), tool)
    assert name == "task"
    assert str(arguments["tasks"]).count("replay_thread: helper") == 1
    assert "'name'" not in str(arguments["tasks"])


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


CLAUDE_AGENT = offer(
    "Agent", ("description", "prompt"), description=STRING, prompt=STRING, run_in_background=FLAG
)
CODEX_SPAWN = replace(offer("spawn_agent", (), message=STRING, fork_context=FLAG), namespace="agents_v1")
CODEX_WAIT = replace(
    offer("wait_agent", ("targets",), targets={"type": "array", "items": STRING}, timeout_ms=NUMBER),
    namespace="agents_v1",
)
HELPER = action(do="subagent", thread="helper", prompt="List the files.", background=True)
TOLD = "List the files.\n\nreplay_thread: helper\nskill: swe2\nworkspace: /w\nartifacts_dir: /a b\n"
PROMPT = "skill: swe2\nworkspace: /w\nartifacts_dir: /a b\n"


def test_another_agent_is_started_with_its_thread_and_all_folders() -> None:
    call = call_for(HELPER, talk(CLAUDE_AGENT, prompt=PROMPT))
    assert json.loads(call.arguments) == {
        "prompt": TOLD,
        "description": "helper",
        "run_in_background": True,
    }
    foreground = action(do="subagent", thread="helper", prompt="List the files.")
    assert json.loads(call_for(foreground, talk(CLAUDE_AGENT)).arguments)["run_in_background"] is False
    spawn = call_for(HELPER, talk(CODEX_SPAWN, CODEX_WAIT, prompt=PROMPT))
    assert (spawn.name, spawn.namespace) == ("spawn_agent", "agents_v1")
    assert json.loads(spawn.arguments) == {"message": TOLD}


def test_a_subagent_hands_its_last_word_back_by_the_tool_it_is_offered_for_that() -> None:
    answer = {"type": "object", "properties": {"response": STRING}, "required": ["response"]}
    free, bound = offer("complete_task", result=STRING), offer("complete_task", result=answer)
    call = finishing_call("Three files.", talk(free))
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == ("complete_task", {"result": "Three files."})
    silent = finishing_call("", talk(free))
    assert silent is not None
    assert json.loads(silent.arguments)["result"]
    form = finishing_call("Three files.", talk(bound))
    assert form is not None
    assert list(json.loads(form.arguments)["result"]) == ["response"]
    assert finishing_call("Three files.", talk(offer("bash", command=STRING))) is None


def test_what_a_subagent_is_told_is_what_it_is_recognised_by() -> None:
    told = json.loads(call_for(HELPER, talk(CLAUDE_AGENT, prompt=PROMPT)).arguments)["prompt"]
    child = talk(prompt=told)
    assert (child.thread, child.skill, child.workspace, child.artifacts) == ("helper", "swe2", "/w", "/a b")


def test_waiting_names_the_agents_that_were_started() -> None:
    results = ('{"agent_id": "one"}', "ls", '{"agent_id":"two"} {"agent_id": "one"}')
    waiting = replace(talk(CODEX_SPAWN, CODEX_WAIT), results=results)
    assert json.loads(call_for(action(do="wait"), waiting).arguments) == {"targets": ["one", "two"]}
    assert json.loads(call_for(action(do="wait", agent=2), waiting).arguments) == {"targets": ["two"]}
    assert json.loads(call_for(action(do="wait", agent=9), waiting).arguments) == {"targets": []}


MODE = {"type": "string", "enum": ["sync", "background"]}
KIND = {"type": "string", "enum": ["explore", "general-purpose"]}
COPILOT_TASK = offer("task", prompt=STRING, agent_type=KIND, description=STRING, mode=MODE)
COPILOT_READ = offer("read_agent", ("agent_id",), agent_id=STRING, wait=FLAG, timeout=NUMBER)


def test_a_mode_of_a_list_says_whether_a_subagent_is_waited_for() -> None:
    name, arguments = called(HELPER, COPILOT_TASK)
    assert (name, arguments["mode"], arguments["agent_type"]) == ("task", "background", "general-purpose")
    foreground = action(do="subagent", thread="helper", prompt="List the files.")
    assert called(foreground, COPILOT_TASK)[1]["mode"] == "sync"


@pytest.mark.parametrize(
    "mode", [STRING, {"type": "string", "enum": ["fast", "slow"]}, {"enum": ["background"]}]
)
def test_a_mode_that_means_something_else_is_left_alone(mode: Mapping[str, object]) -> None:
    assert "mode" not in called(HELPER, offer("task", ("prompt",), prompt=STRING, mode=mode))[1]


def test_a_tool_that_waits_for_one_agent_gets_the_one_that_was_started_last() -> None:
    results = ("Agent started in background with agent_id: 40ab-1. You'll be", "agent_id: 2f5d-2, idle")
    waiting = replace(talk(COPILOT_TASK, COPILOT_READ), results=results)
    last, first = action(do="wait"), action(do="wait", agent=1)
    assert json.loads(call_for(last, waiting).arguments) == {"agent_id": "2f5d-2", "wait": True}
    assert json.loads(call_for(first, waiting).arguments) == {"agent_id": "40ab-1", "wait": True}
    shell = offer("bash", command=STRING)
    nobody = call_for(last, talk(COPILOT_TASK, COPILOT_READ, shell))
    assert (nobody.name, json.loads(nobody.arguments)) == ("bash", {"command": "true all"})


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ("Agent types:\n- explore: looks around\n- general: does anything", "general"),
        ("- general-purpose: does anything\n- general: older name", "general-purpose"),
        ("Ask the general-purpose agent: it can", "general-purpose"),
        ("", "general-purpose"),
    ],
)
def test_the_all_round_subagent_is_taken_from_what_the_tool_says_of_itself(said: str, chosen: str) -> None:
    tool = replace(offer("task", prompt=STRING, subagent_type=STRING), description=said)
    assert called(HELPER, tool)[1]["subagent_type"] == chosen


def test_without_a_tool_for_it_nobody_is_started_and_nobody_waited_for() -> None:
    shell = offer("bash", command=STRING)
    assert called(HELPER, shell)[1]["command"] == NO_AGENTS
    commands = {str(called(action(do="wait", agent=n), shell)[1]["command"]) for n in (1, 2)}
    assert commands == {"true 1", "true 2"}


def test_a_sleeping_command_can_be_found_and_is_given_time(tmp_path: Path) -> None:
    tool = offer("exec_command", ("cmd",), cmd=STRING, yield_time_ms=NUMBER, login=FLAG)
    arguments = called(action(do="sleep", seconds=1), tool)[1]
    assert (arguments["yield_time_ms"], arguments["login"]) == (30_000, False)
    words = shlex.split(str(arguments["cmd"]))
    assert words[-1] == SLEEP_MARK
    began = time.monotonic()
    subprocess.run(words, check=True)
    assert time.monotonic() - began >= 1


PATCH = replace(offer("apply_patch"), freeform=True)


def test_a_tool_for_patches_gets_whole_lines_and_the_shell_the_rest() -> None:
    shell = offer("exec_command", cmd=STRING)
    write = call_for(action(do="write", path="n.md", content="one\ntwo"), talk(PATCH, shell))
    assert (write.name, write.freeform) == ("apply_patch", True)
    assert write.arguments == "*** Begin Patch\n*** Add File: n.md\n+one\n+two\n*** End Patch\n"
    edit = call_for(action(do="edit", path="n.md", old="one\n", new="1\n"), talk(PATCH, shell))
    assert edit.arguments == "*** Begin Patch\n*** Update File: n.md\n@@\n-one\n+1\n*** End Patch\n"
    gone = call_for(action(do="edit", path="n.md", old="one\n", new=""), talk(PATCH, shell))
    assert "+" not in gone.arguments
    assert call_for(EDIT, talk(PATCH, shell)).name == "exec_command"
    assert call_for(action(do="shell", command="ls"), talk(PATCH, shell)).name == "exec_command"


def test_edits_of_one_file_at_the_same_time_all_arrive(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {number};\n" for number in range(4)), encoding="utf-8")
    shell = offer("bash", command=STRING)
    commands = [
        str(called(action(do="edit", path="a.txt", old=f"{n};", new=f"{n}!"), shell)[1]["command"])
        for n in range(4)
    ]
    children = [subprocess.Popen(["/bin/sh", "-c", command], cwd=tmp_path) for command in commands]
    assert [child.wait() for child in children] == [0] * 4
    assert path.read_text(encoding="utf-8") == "".join(f"line {number}!\n" for number in range(4))
