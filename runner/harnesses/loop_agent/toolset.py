"""Toolset: what the model may call, and how a call becomes a text for it to read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.loop_agent import files
from runner.harnesses.loop_agent.keeper import Keeper
from runner.harnesses.loop_agent.places import Places, ToolFault
from runner.harnesses.loop_agent.shell import DEFAULT_SECONDS, MAX_SECONDS, run_command

MAX_RESULT_CHARS = 64_000
TEXT, NUMBER, FLAG = "string", "integer", "boolean"
ACCEPTED: Mapping[str, type] = {TEXT: str, NUMBER: int, FLAG: bool}


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool."""

    kind: str
    text: str
    required: bool = True


@dataclass(frozen=True)
class Tool:
    """One thing the model can do."""

    name: str
    text: str
    parameters: Mapping[str, Parameter]

    def description(self) -> dict[str, object]:
        """The tool as Chat Completions wants it described."""
        properties = {
            name: {"type": parameter.kind, "description": parameter.text}
            for name, parameter in self.parameters.items()
        }
        required = [name for name, parameter in self.parameters.items() if parameter.required]
        schema = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
        function = {"name": self.name, "description": self.text, "parameters": schema}
        return {"type": "function", "function": function}


PATH = Parameter(TEXT, "Relative to the workspace, or absolute inside the workspace or artifacts folder.")
FOLDER = Parameter(TEXT, "Folder or file to start from; the workspace if left out.", required=False)
TOOLS = (
    Tool("list_files", "List the files below a folder.", {"path": FOLDER}),
    Tool(
        "read_file",
        "Read a text file. Lines come numbered, counted from 1.",
        {
            "path": PATH,
            "first_line": Parameter(NUMBER, "First line wanted.", required=False),
            "last_line": Parameter(NUMBER, "Last line wanted.", required=False),
        },
    ),
    Tool(
        "search",
        "Find the lines that match a regular expression (Python syntax).",
        {"pattern": Parameter(TEXT, "The regular expression."), "path": FOLDER},
    ),
    Tool(
        "edit_file",
        "Replace a piece of text in a file. The old text must occur exactly once.",
        {
            "path": PATH,
            "old": Parameter(TEXT, "The text as it stands in the file, without line numbers."),
            "new": Parameter(TEXT, "The text to put in its place."),
        },
    ),
    Tool(
        "create_file",
        "Write a new file; missing folders are made.",
        {
            "path": PATH,
            "content": Parameter(TEXT, "The whole text of the file."),
            "overwrite": Parameter(FLAG, "Replace the file if it exists.", required=False),
        },
    ),
    Tool(
        "run_command",
        "Run a shell command in the workspace. Its standard input is closed and its output is cut when long.",
        {
            "command": Parameter(TEXT, "The command line, run by sh."),
            "timeout_seconds": Parameter(
                NUMBER, f"Seconds until it is killed; {DEFAULT_SECONDS:g} if left out.", required=False
            ),
        },
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What a tool call came to. ``text`` is for the model."""

    ok: bool
    text: str
    seconds: float


@dataclass(frozen=True)
class Toolset:
    """The tools, bound to the places they may touch and the environment commands run in."""

    places: Places
    environment: Mapping[str, str]
    keeper: Keeper | None = None

    def descriptions(self) -> list[dict[str, object]]:
        """Every tool as Chat Completions wants it described."""
        return [tool.description() for tool in TOOLS]

    def call(self, name: str, arguments: str, *, seconds_left: float | None) -> Outcome:
        """Perform a call. Whatever goes wrong becomes a text for the model."""
        started = time.monotonic()
        try:
            values = _checked(name, arguments)
            text = self._perform(name, values, seconds_left)
            ok = True
        except ToolFault as fault:
            text, ok = f"error: {fault}", False
        except (OSError, MemoryError, RecursionError) as error:
            text, ok = f"error: {error}", False
        if len(text) > MAX_RESULT_CHARS:
            text = text[:MAX_RESULT_CHARS] + "\n(cut here)"
        return Outcome(ok, text, time.monotonic() - started)

    def _perform(self, name: str, values: Mapping[str, object], seconds_left: float | None) -> str:
        if name == "run_command":
            return self._run(values, seconds_left)
        actions: Mapping[str, Callable[..., str]] = {
            "list_files": files.list_files,
            "read_file": files.read_file,
            "search": files.search,
            "edit_file": files.edit_file,
            "create_file": files.create_file,
        }
        return actions[name](self.places, **values)

    def _run(self, values: Mapping[str, object], seconds_left: float | None) -> str:
        wanted = values.get("timeout_seconds")
        seconds = float(wanted) if isinstance(wanted, int) else DEFAULT_SECONDS
        if seconds <= 0:
            raise ToolFault("'timeout_seconds' must be above 0")
        seconds = min(seconds, MAX_SECONDS)
        if seconds_left is not None:
            seconds = min(seconds, max(seconds_left, 0.1))
        command = str(values["command"])
        if not command.strip() or "\0" in command:
            raise ToolFault("the command is empty or holds a null character")
        folder: Path = self.places.workspace
        run = run_command(
            command, folder=folder, environment=self.environment, seconds=seconds, keeper=self.keeper
        )
        if run.exit_code is None:
            raise ToolFault(f"killed after {seconds:g} seconds; output so far:\n{run.output}")
        return f"exit code {run.exit_code}\n{run.output}"


def _checked(name: str, arguments: str) -> dict[str, object]:
    """The arguments of a call, checked against the tool's parameters.

    Raises:
        ToolFault: no such tool, no JSON object, or a missing, unknown or wrongly typed argument.
    """
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise ToolFault(
            f"there is no tool {name[:100]!r}; tools are {', '.join(tool.name for tool in TOOLS)}"
        )
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolFault(f"the arguments are not valid JSON: {error}") from None
    if not isinstance(values, dict):
        raise ToolFault("the arguments must be a JSON object")
    faults = [f"unknown argument {key[:100]!r}" for key in values if key not in tool.parameters]
    checked: dict[str, object] = {}
    for key, parameter in tool.parameters.items():
        value = values.get(key)
        if value is None:
            if parameter.required:
                faults.append(f"argument {key!r} is missing")
        elif not _fits(value, parameter.kind):
            faults.append(f"argument {key!r} must be a {parameter.kind}")
        else:
            checked[key] = value
    if faults:
        raise ToolFault(f"{name}: " + "; ".join(faults))
    return checked


def _fits(value: object, kind: str) -> bool:
    return isinstance(value, ACCEPTED[kind]) and (kind != NUMBER or not isinstance(value, bool))
