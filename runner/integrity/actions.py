"""Actions: the commands, paths and texts of an agent's tool calls, read from any harness's event stream.

Streams differ by harness, tool calls hardly: an object with the arguments stands below one of a few names,
and a command below one of a few others. What tools answer is not the agent's doing and is passed over.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

INPUTS = frozenset(
    {"input", "arguments", "args", "parameters", "params", "tool_input", "toolInput", "tool_args", "rawInput"}
)
"""Names below which the arguments of a tool call stand."""
COMMANDS = frozenset({"command", "cmd", "commands", "script", "code", "bash_command"})
ANSWERS = frozenset(
    {"output", "result", "results", "aggregated_output", "stdout", "stderr", "tool_result", "toolResult"}
)
"""Names below which the answer of a tool stands."""
PATH = re.compile(
    r"(?i)(?:.*_)?(?:path|paths|file|files|filename|dir|directory|folder|cwd|workdir|uri)$|.*Path$"
)
ADDRESS = re.compile(r"(?i)urls?|uri|address|query|queries|q")
FENCE = re.compile(r"\s*(?:```|~~~)")
EDIT = "<<<<<<<"
ANSWER_ENDS = re.compile(r"(?:Tool|Observation|Output|User):\s*$|<(?:returncode|output)>")
"""Lines of printed text after which a tool speaks, or the runner."""
TOOL_INDENT = "  "
"""How a harness's trace of a tool call begins."""
WRAPPED = 80
"""Columns at which programs cut lines that they print."""
MAX_LINE = 4_000_000
MAX_TEXT = 200_000
MAX_DEPTH = 40
MAX_ACTIONS = 20_000


@dataclass(frozen=True)
class Action:
    """One thing that an agent did, and the line of the stream that tells of it."""

    line: int
    tool: str = ""
    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    """Addresses and search words that were given to a tool."""
    texts: tuple[str, ...] = ()
    """Everything else that was given, such as the content of a file."""

    def everything(self) -> Iterator[str]:
        """All its words."""
        yield from (*self.commands, *self.paths, *self.addresses, *self.texts)


def actions_of(lines: Iterable[str], trace: Callable[[str], str | None]) -> Iterator[Action]:
    """The actions in a stream, in its order; the same one told of twice is one.

    Args:
        lines: of the stream.
        trace: one line as the harness shows it to a reader; used for streams that are no JSON.
    """
    seen: set[Action] = set()
    for action in _actions(lines, trace):
        known = Action(0, action.tool, action.commands, action.paths, action.addresses, action.texts)
        if known not in seen and len(seen) < MAX_ACTIONS:
            seen.add(known)
            yield action


def _actions(lines: Iterable[str], trace: Callable[[str], str | None]) -> Iterator[Action]:
    fenced: list[str] | None = None
    answering = False
    for number, line in enumerate(lines, 1):
        line = line[:MAX_LINE]
        event = _event(line)
        if event is not None:
            yield from _in_event(event, number)
        elif (shown := trace(line)) is not None:
            # An answer begins: what was printed before it was the prompt, or what a tool said.
            fenced, answering = None, True
            if shown.startswith(TOOL_INDENT):
                tool, _, rest = shown.strip().partition(" ")
                yield Action(number, tool=tool, commands=(rest[:MAX_TEXT],))
        elif ANSWER_ENDS.match(line):
            fenced, answering = None, False
        elif answering and FENCE.match(line):
            if fenced is not None and not any(EDIT in each for each in fenced):
                yield Action(number, commands=(unwrapped(fenced)[:MAX_TEXT],))
            fenced = [] if fenced is None else None
        elif fenced is not None:
            fenced.append(line.rstrip("\n"))


def unwrapped(lines: Iterable[str]) -> str:
    """Lines as they were before a program cut them at its width."""
    return "".join(line if len(line) == WRAPPED else f"{line}\n" for line in lines)


def _event(line: str) -> dict[str, object] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _in_event(value: object, number: int, depth: int = 0) -> Iterator[Action]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _in_event(item, number, depth + 1)
    if not isinstance(value, dict):
        return
    name = next((str(value[key]) for key in ("name", "tool", "tool_name", "toolName") if value.get(key)), "")
    for key, inner in value.items():
        if key in ANSWERS:
            continue
        given = _arguments(inner) if key in INPUTS else None
        if given is not None:
            yield _call(given, number, name)
        elif key in COMMANDS and (words := _command(inner)):
            yield Action(number, tool=name, commands=(words,))
        elif key == "changes" and isinstance(inner, list):
            yield _call({"changes": inner}, number, name or "changes")
        else:
            yield from _in_event(inner, number, depth + 1)


def _arguments(value: object) -> dict[str, object] | None:
    """Arguments of a call: an object, or one written as text."""
    if isinstance(value, str):
        return _event(value)
    if not isinstance(value, dict) or ("properties" in value and "type" in value):
        # The description of a tool, not a call of it.
        return None
    return value


def _command(value: object) -> str:
    """A command that is given as text or as words."""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return shlex.join(value)[:MAX_TEXT]
    return ""


def _call(given: dict[str, object], number: int, name: str) -> Action:
    parts: dict[str, list[str]] = {"commands": [], "paths": [], "addresses": [], "texts": []}
    _sort(given, "", parts, 0)
    return Action(number, name, **{key: tuple(words) for key, words in parts.items()})


def _sort(value: object, key: str, parts: dict[str, list[str]], depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    if key in COMMANDS and (words := _command(value)):
        parts["commands"].append(words)
    elif isinstance(value, dict):
        for name, inner in value.items():
            _sort(inner, str(name), parts, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _sort(item, key, parts, depth + 1)
    elif isinstance(value, str) and value:
        kind = "paths" if PATH.fullmatch(key) else "addresses" if ADDRESS.fullmatch(key) else "texts"
        parts[kind].append(value[:MAX_TEXT])
