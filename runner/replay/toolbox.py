"""Toolbox: turns an abstract step into a call of whatever tool the agent offers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from runner.replay import schemas
from runner.replay.commands import as_command, as_patch
from runner.replay.conversation import Conversation, OfferedTool, RequestFault
from runner.replay.turns import (
    ARTIFACTS_MARK,
    CANDIDATE_MARK,
    WORKSPACE_MARK,
    Action,
    Edit,
    RawCall,
    Sleep,
    Subagent,
    Wait,
)

TOOL_NAMES: Mapping[str, tuple[str, ...]] = {
    "list": ("listfiles", "listdirectory", "listdir", "list", "ls"),
    "read": ("readfile", "read", "view", "viewfile", "openfile"),
    "search": ("search", "grep", "grepsearch", "searchfilecontent", "searchfiles"),
    "edit": ("editfile", "edit", "strreplace", "replace", "searchreplace"),
    "write": ("createfile", "writefile", "write", "create"),
    "shell": ("runcommand", "bash", "shell", "execcommand", "runshellcommand", "execute", "terminal"),
    "subagent": ("agent", "task", "spawnagent", "invokeagent", "subagent"),
    "wait": ("waitagent", "wait", "readagent"),
    "patch": ("applypatch",),
    "finish": ("completetask",),
}
ARGUMENT_NAMES: Mapping[str, tuple[str, ...]] = {
    "path": (
        "path", "file_path", "filePath", "absolute_path", "filepath", "filename", "file", "target_file",
        "dir_path", "directory", "dir",
    ),
    "old": ("old", "old_string", "oldString", "old_str", "oldText", "old_text", "search"),
    "new": ("new", "new_string", "newString", "new_str", "newText", "new_text", "replace", "replacement"),
    "content": ("content", "contents", "file_text", "text"),
    "command": ("command", "cmd", "script"),
    "pattern": ("pattern", "query", "regex"),
    "first": ("first_line", "start_line", "first", "startLine"),
    "last": ("last_line", "end_line", "last", "endLine"),
    "prompt": ("prompt", "message", "task", "query"),
    "title": ("description", "title"),
    "result": ("result",),
    "background": ("run_in_background", "is_background", "background", "mode"),
    "agents": ("targets", "ids", "agent_ids", "agent_id"),
    "patient": ("wait",),
    "wait_milliseconds": ("yield_time_ms",),
}  # fmt: skip
LISTS: Mapping[str, tuple[str, ...]] = {"edits": ("old", "new"), "tasks": ("prompt", "title")}
"""Fields of tools that do several things in one call, with what each of these things is told."""
ABSOLUTE = {"file_path", "filePath", "absolute_path", "dir_path"}
SETTINGS: Mapping[str, object] = {"login": False}
"""Optional fields that are set where a shell offers them: the environment stays as it was given."""
KINDS_OF_AGENT = ("subagent_type", "agent_type")
IN_BACKGROUND = "background"
ALL_ROUND_AGENTS = ("general-purpose", "general")
LISTED_AGENT = re.compile(r"^\s*- ([\w-]+):", re.MULTILINE)
STARTED_AGENT = re.compile(r'"agent_id"\s*:\s*"([^"\\]{1,200})"|\bagent_id: ([\w-]{1,200})')
LONGEST_WAIT_MILLISECONDS = "30000"


class Call(NamedTuple):
    """A call as it will be sent; ``arguments`` is JSON, but for freeform tools."""

    name: str
    arguments: str
    namespace: str | None = None
    freeform: bool = False


def call_for(action: Action, conversation: Conversation) -> Call:
    """The call that performs ``action`` with the tools on offer.

    Raises:
        RequestFault: the action needs a folder the prompt does not name, or no tool on offer can do it.
    """
    if isinstance(action, RawCall):
        return Call(action.tool, action.arguments)
    values = {key: fill_marks(value, conversation) for key, value in _values(action, conversation).items()}
    tool = _tool_of_kind(action.do, conversation.tools)
    if tool is not None and not _can_say(tool, action, values):
        tool = None
    if tool is None:
        patching = _tool_of_kind("patch", conversation.tools)
        patch = as_patch(action, values)
        if patching is not None and patching.freeform and patch is not None:
            return Call(patching.name, patch, patching.namespace, freeform=True)
        tool = _tool_of_kind("shell", conversation.tools)
        values = {"command": as_command(action, values)}
        if isinstance(action, Sleep):
            values["wait_milliseconds"] = LONGEST_WAIT_MILLISECONDS
    if tool is None:
        offered = ", ".join(tool.name for tool in conversation.tools) or "none"
        raise RequestFault(
            f"the cassette's step {action.do!r} fits none of the tools on offer, and there is no shell; "
            f"offered: {offered}",
            status=422,
            code="no_fitting_tool",
        )
    arguments = _arguments(tool, values, conversation)
    return Call(tool.name, json.dumps(arguments, ensure_ascii=False), tool.namespace)


def finishing_call(said: str, conversation: Conversation) -> Call | None:
    """The call by which a subagent hands its last word back, where it is offered a tool for that."""
    tool = _tool_of_kind("finish", conversation.tools)
    if tool is None:
        return None
    plain = schemas.kind(schemas.properties(tool.schema).get("result", {})) == "string"
    arguments = _arguments(tool, {"result": said or "Done."} if plain else {}, conversation)
    return Call(tool.name, json.dumps(arguments, ensure_ascii=False), tool.namespace)


def fill_marks(value: str, conversation: Conversation) -> str:
    """``value`` with the marks for artifacts folder, workspace and a judge's candidate replaced.

    Raises:
        RequestFault: the prompt does not name what a mark stands for.
    """
    for mark, named, line in (
        (ARTIFACTS_MARK, conversation.artifacts, "artifacts_dir: <folder>"),
        (WORKSPACE_MARK, conversation.workspace, "workspace: <folder>"),
        (CANDIDATE_MARK, conversation.candidate, "candidate_id: <id>"),
    ):
        if mark in value:
            if named is None:
                raise RequestFault(
                    f"the cassette uses {mark}, but the first user message has no line '{line}'",
                    status=422,
                    code="folder_not_named",
                )
            value = value.replace(mark, named)
    return value


def _values(action: Action, conversation: Conversation) -> dict[str, str]:
    if isinstance(action, Subagent):
        return {
            "prompt": _subagent_prompt(action, conversation),
            "title": action.thread,
            "background": "true" if action.background else "false",
        }
    if isinstance(action, Wait):
        found = [match for text in conversation.results for match in STARTED_AGENT.finditer(text)]
        started = list(dict.fromkeys(match[1] or match[2] for match in found))
        chosen = slice(None) if action.agent is None else slice(action.agent - 1, action.agent)
        return {
            "agents": json.dumps(started[chosen]),
            "number": str(action.agent or "all"),
            "patient": "true",
        }
    fields = action.model_dump(exclude={"do", "mistake"}, exclude_none=True)
    return {key: str(value) for key, value in fields.items()}


def _subagent_prompt(action: Subagent, conversation: Conversation) -> str:
    """What another agent is told: its task, and the lines by which its own requests are recognised."""
    lines = [
        ("replay_thread", action.thread),
        ("skill", conversation.skill),
        ("workspace", conversation.workspace),
        ("artifacts_dir", conversation.artifacts),
    ]
    told = "\n".join(f"{name}: {value}" for name, value in lines if value is not None)
    return f"{action.prompt.strip()}\n\n{told}\n"


def _plain_name(name: str) -> str:
    tail = re.split(r"__|[./:]", name)[-1]
    return re.sub(r"[^a-z0-9]", "", tail.lower())


def _tool_of_kind(kind: str, tools: tuple[OfferedTool, ...]) -> OfferedTool | None:
    by_name = {_plain_name(tool.name): tool for tool in reversed(tools)}
    return next((by_name[name] for name in TOOL_NAMES.get(kind, ()) if name in by_name), None)


def _takes_replacements(tool: OfferedTool) -> bool:
    properties = schemas.properties(tool.schema)
    return "edits" in properties or any(name in properties for name in ARGUMENT_NAMES["old"])


def _arguments(tool: OfferedTool, values: Mapping[str, str], conversation: Conversation) -> dict[str, object]:
    properties = schemas.properties(tool.schema)
    arguments: dict[str, object] = {}
    for key, value in values.items():
        name = next((name for name in ARGUMENT_NAMES.get(key, ()) if name in properties), None)
        if name is None or name in arguments or (name == "mode" and not _offers_background(properties[name])):
            continue
        shown = _absolute(value, conversation) if key == "path" and name in ABSOLUTE else value
        arguments[name] = _typed(key, shown, properties[name])
    _line_window(values, properties, arguments)
    for name, keys in LISTS.items():
        told = {key: values[key] for key in keys if key in values}
        if name in properties and told and not any(n in arguments for n in ARGUMENT_NAMES[keys[0]]):
            items = properties[name].get("items")
            one = OfferedTool(tool.name, items if isinstance(items, Mapping) else {})
            arguments[name] = [_arguments(one, told, conversation)]
    for name in schemas.required(tool.schema):
        if name not in arguments:
            arguments[name] = _kind_of_agent(tool, name) or schemas.filler(properties.get(name, {}), name)
    if "command" in values:
        arguments |= {name: value for name, value in SETTINGS.items() if name in properties}
    return arguments


def _can_say(tool: OfferedTool, action: Action, values: Mapping[str, str]) -> bool:
    """Whether a call of the tool can say this step.

    Some edit in a language of their own, and some wait for one agent by its name, where none has one.
    """
    if isinstance(action, Wait):
        return values["agents"] != "[]" or "agent_id" not in schemas.properties(tool.schema)
    return not isinstance(action, Edit) or _takes_replacements(tool)


def _kind_of_agent(tool: OfferedTool, field: str) -> str | None:
    """The all-round subagent among those that the tool's schema or its description lists."""
    if field not in KINDS_OF_AGENT:
        return None
    schema = schemas.properties(tool.schema).get(field, {})
    listed = {*schemas.choices(schema), *LISTED_AGENT.findall(tool.description)}
    return next((name for name in ALL_ROUND_AGENTS if name in listed), None)


def _offers_background(schema: Mapping[str, object]) -> bool:
    """Whether a subagent's mode is one of a list that knows the background and something else."""
    modes = schemas.choices(schema)
    return IN_BACKGROUND in modes and len(modes) > 1


def _line_window(
    values: Mapping[str, str], properties: Mapping[str, Mapping[str, object]], arguments: dict[str, object]
) -> None:
    """Lines as ``offset`` and ``limit``, where a tool wants them so."""
    if "first" in values and "offset" in properties:
        arguments["offset"] = int(values["first"])
        if "last" in values and "limit" in properties:
            arguments["limit"] = int(values["last"]) - int(values["first"]) + 1


def _absolute(path: str, conversation: Conversation) -> str:
    if conversation.workspace is None or PurePosixPath(path).is_absolute():
        return path
    return str(PurePosixPath(conversation.workspace) / path)


def _typed(key: str, value: str, schema: Mapping[str, object]) -> object:
    kind = schemas.kind(schema)
    if key in {"agents", "background", "patient"} and kind in {"array", "boolean"}:
        parsed: object = json.loads(value)
        return parsed
    if key == "agents":
        # One at a time: the one that was started last.
        return json.loads(value)[-1]
    if key == "background":
        return next(mode for mode in schemas.choices(schema) if (mode == IN_BACKGROUND) is (value == "true"))
    if kind == "array":
        return ["bash", "-lc", value]
    if kind in {"integer", "number"} and value.isdigit():
        return int(value)
    return value
