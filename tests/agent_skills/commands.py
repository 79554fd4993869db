"""Commands that a skill for agents names: those of its console blocks, and those in its sentences."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / ".claude" / "skills", ROOT / ".agents" / "skills")
SKILL = FOLDERS[0] / "benchmark" / "SKILL.md"
MODEL_SKILL = FOLDERS[0] / "model-benchmarks" / "SKILL.md"


def block_commands(text: str) -> list[list[str]]:
    """Every line of the console blocks, split as a shell does."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]


def named_commands(text: str) -> list[list[str]]:
    """Commands of ``invoke`` that a sentence names."""
    return [span.split() for span in re.findall(r"`(invoke [a-z][^`]*)`", text)]


def named_tasks(text: str) -> set[str]:
    """Tasks of ``invoke`` that a sentence names."""
    return {command[1] for command in named_commands(text)}


def named_flags(text: str) -> set[str]:
    """Flags that a sentence names by themselves."""
    return set(re.findall(r"`(--[a-z][a-z-]+)`", text))


@cache
def flags_of(task: str) -> frozenset[str]:
    """The flags of a task: what stands at the beginning of the lines of its help."""
    done = subprocess.run(
        [sys.executable, "-m", "invoke", "--help", task],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, (task, done.stderr)
    found = re.findall(r"^ +(?:-\w(?:=\w+)?, )?--(\[no-\])?([a-z][a-z-]*)", done.stdout, re.MULTILINE)
    assert found or task not in {"run", "bench"}, done.stdout
    return frozenset(f"--{form}{name}" for no, name in found for form in (("", "no-") if no else ("",)))


def unknown_flags(command: list[str]) -> set[str]:
    """Flags of a command that its task does not have; ``--help`` is a flag of every task."""
    _, task, *words = command
    flags = {word.partition("=")[0] for word in words if word.startswith("--")}
    return flags - flags_of(task) - {"--help"}
