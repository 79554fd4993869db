"""Toolbox: turns an abstract step into a call of whatever tool the agent offers."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from runner.replay.conversation import Conversation, OfferedTool, RequestFault
from runner.replay.turns import (
    ARTIFACTS_MARK,
    WORKSPACE_MARK,
    Action,
    Edit,
    ListFiles,
    RawCall,
    ReadFile,
    Search,
    Shell,
    Write,
)

TOOL_NAMES: Mapping[str, tuple[str, ...]] = {
    "list": ("listfiles", "listdirectory", "listdir", "list", "ls"),
    "read": ("readfile", "read", "view", "viewfile", "openfile"),
    "search": ("search", "grep", "grepsearch", "searchfilecontent", "searchfiles"),
    "edit": ("editfile", "edit", "strreplace", "replace", "searchreplace"),
    "write": ("createfile", "writefile", "write", "create"),
    "shell": ("runcommand", "bash", "shell", "execcommand", "runshellcommand", "execute", "terminal"),
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
}  # fmt: skip
DEFAULTS: Mapping[object, object] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
ABSOLUTE = {"file_path", "filePath", "absolute_path", "dir_path"}


def call_for(action: Action, conversation: Conversation) -> tuple[str, str]:
    """Name and JSON arguments of the call that performs ``action`` with the tools on offer.

    Raises:
        RequestFault: the action needs a folder the prompt does not name, or no tool on offer can do it.
    """
    if isinstance(action, RawCall):
        return action.tool, action.arguments
    values = {key: fill_marks(value, conversation) for key, value in _values(action).items()}
    tool = _tool_of_kind(action.do, conversation.tools)
    if tool is None and action.do != "shell":
        tool = _tool_of_kind("shell", conversation.tools)
        values = {"command": _as_command(action, values)}
    if tool is None:
        offered = ", ".join(tool.name for tool in conversation.tools) or "none"
        raise RequestFault(
            f"the cassette's step {action.do!r} fits none of the tools on offer, and there is no shell; "
            f"offered: {offered}",
            status=422,
            code="no_fitting_tool",
        )
    return tool.name, json.dumps(_arguments(tool, values, conversation), ensure_ascii=False)


def fill_marks(value: str, conversation: Conversation) -> str:
    """``value`` with the marks for artifacts folder and workspace replaced.

    Raises:
        RequestFault: the prompt does not name the folder.
    """
    for mark, folder, line in (
        (ARTIFACTS_MARK, conversation.artifacts, "artifacts_dir:"),
        (WORKSPACE_MARK, conversation.workspace, "workspace:"),
    ):
        if mark in value:
            if folder is None:
                raise RequestFault(
                    f"the cassette uses {mark}, but the first user message has no line '{line} <folder>'",
                    status=422,
                    code="folder_not_named",
                )
            value = value.replace(mark, folder)
    return value


def _values(action: Action) -> dict[str, str]:
    fields = action.model_dump(exclude={"do", "mistake"}, exclude_none=True)
    return {key: str(value) for key, value in fields.items()}


def _plain_name(name: str) -> str:
    tail = re.split(r"__|[./:]", name)[-1]
    return re.sub(r"[^a-z0-9]", "", tail.lower())


def _tool_of_kind(kind: str, tools: tuple[OfferedTool, ...]) -> OfferedTool | None:
    by_name = {_plain_name(tool.name): tool for tool in reversed(tools)}
    return next((by_name[name] for name in TOOL_NAMES[kind] if name in by_name), None)


def _properties(schema: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    found = schema.get("properties")
    if not isinstance(found, Mapping):
        return {}
    return {str(key): value if isinstance(value, Mapping) else {} for key, value in found.items()}


def _arguments(tool: OfferedTool, values: Mapping[str, str], conversation: Conversation) -> dict[str, object]:
    properties = _properties(tool.schema)
    arguments: dict[str, object] = {}
    for key, value in values.items():
        name = next((name for name in ARGUMENT_NAMES[key] if name in properties), None)
        if name is None:
            continue
        shown = _absolute(value, conversation) if key == "path" and name in ABSOLUTE else value
        arguments[name] = _typed(shown, properties[name])
    _line_window(values, properties, arguments)
    if "edits" in properties and "old" in values and not any(n in arguments for n in ARGUMENT_NAMES["old"]):
        items = properties["edits"].get("items")
        edit = OfferedTool(tool.name, items if isinstance(items, Mapping) else {})
        arguments["edits"] = [_arguments(edit, {"old": values["old"], "new": values["new"]}, conversation)]
    required = tool.schema.get("required")
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in arguments:
            arguments[name] = _default(properties.get(name, {}))
    return arguments


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


def _typed(value: str, schema: Mapping[str, object]) -> object:
    kind = schema.get("type")
    if kind == "array":
        return ["bash", "-lc", value]
    if kind in {"integer", "number"} and value.isdigit():
        return int(value)
    return value


def _default(schema: Mapping[str, object]) -> object:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    defaults: Mapping[object, object] = {
        "boolean": False,
        "integer": 1,
        "number": 1,
        "array": [],
        "object": {},
    }
    return defaults.get(schema.get("type"), "scripted")


EDIT_PROGRAM = (
    "import sys; path, old, new = sys.argv[1:]; text = open(path).read(); "
    "sys.exit('no unique match') if text.count(old) != 1 else open(path, 'w').write(text.replace(old, new))"
)


def _as_command(action: Action, values: Mapping[str, str]) -> str:
    """The shell command that does what a missing tool would do."""
    path = shlex.quote(values.get("path", "."))
    makers: Mapping[type[object], Callable[[], str]] = {
        ListFiles: lambda: f"ls -la -- {path}",
        ReadFile: lambda: f"sed -n '{values.get('first', '1')},{values.get('last', '$')}p' -- {path}",
        Search: lambda: f"grep -rnE -e {shlex.quote(values['pattern'])} -- {path}",
        Edit: lambda: shlex.join(
            ["python3", "-c", EDIT_PROGRAM, values["path"], values["old"], values["new"]]
        ),
        Write: lambda: (
            f'mkdir -p -- "$(dirname -- {path})" && printf %s {shlex.quote(values["content"])} > {path}'
        ),
        Shell: lambda: values["command"],
    }
    return makers[type(action)]()
