"""Commands: shell commands and patches that do what an agent has no tool for."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from runner.replay.turns import (
    Action,
    Edit,
    ListFiles,
    ReadFile,
    Search,
    Shell,
    Sleep,
    Subagent,
    Wait,
    Write,
)

EDIT_PROGRAM = """\
import fcntl, sys
path, old, new = sys.argv[1:]
with open(path, "r+", newline="") as stream:
    fcntl.flock(stream, fcntl.LOCK_EX)
    text = stream.read()
    if text.count(old) != 1:
        sys.exit("no unique match")
    stream.seek(0)
    stream.truncate()
    stream.write(text.replace(old, new))
"""
"""Edits under a lock, as agents run the calls of one answer at the same time."""
SLEEP_MARK = "replay-sleep"
"""Last argument of a sleeping command, so that a child left behind can be found."""
NO_AGENTS = "echo 'this agent offers no tool that starts another; the step is left out'"


def as_command(action: Action, values: Mapping[str, str]) -> str:
    """The shell command that does ``action``; ``values`` are its fields with all marks filled."""
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
        Sleep: lambda: shlex.join(
            ["python3", "-c", f"import time; time.sleep({values['seconds']})", SLEEP_MARK]
        ),
        Subagent: lambda: NO_AGENTS,
        # Agents stop where one command is repeated, so waiting for another is another command.
        Wait: lambda: f"true {values.get('number', 'all')}",
    }
    return makers[type(action)]()


def as_patch(action: Action, values: Mapping[str, str]) -> str | None:
    """``action`` in the patch language of codex, or None where it cannot be said there.

    The language knows whole lines only, so an edit must begin and end with one; the script's author sees to
    the beginning, the end is looked at here.
    """
    if isinstance(action, Write):
        body = "".join(f"+{line}\n" for line in values["content"].splitlines())
        return f"*** Begin Patch\n*** Add File: {values['path']}\n{body}*** End Patch\n"
    if not isinstance(action, Edit) or not values["old"].endswith("\n") or values["new"][-1:] not in "\n":
        return None
    lines = [f"-{line}\n" for line in values["old"].splitlines()]
    lines += [f"+{line}\n" for line in values["new"].splitlines()]
    return f"*** Begin Patch\n*** Update File: {values['path']}\n@@\n{''.join(lines)}*** End Patch\n"
