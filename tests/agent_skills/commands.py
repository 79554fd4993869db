"""Commands that a skill for agents names: those of its console blocks, and those in its sentences."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / ".claude" / "skills", ROOT / ".agents" / "skills")
SKILL = FOLDERS[0] / "benchmark" / "SKILL.md"
MODEL_SKILL = FOLDERS[0] / "model-benchmarks" / "SKILL.md"


def block_commands(text: str) -> list[list[str]]:
    """Every line of the console blocks, split as a shell does."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]


def named_tasks(text: str) -> set[str]:
    """Tasks of ``invoke`` that a sentence names."""
    return set(re.findall(r"`invoke ([a-z][a-z-]*)", text))


def named_flags(text: str) -> set[str]:
    """Flags that a sentence names by themselves."""
    return set(re.findall(r"`(--[a-z][a-z-]+)`", text))
