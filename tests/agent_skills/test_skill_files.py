"""The benchmark skill names only commands that work, and says the same to every agent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from runner.providers.registry import PROVIDERS
from tests.agent_skills.commands import (
    FOLDERS,
    ROOT,
    SKILL,
    block_commands,
    flags_of,
    named_commands,
    named_flags,
    named_tasks,
    unknown_flags,
)

TEXT = SKILL.read_text(encoding="utf-8")
SHOWN = [" ".join(words) for words in block_commands(TEXT)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with nothing but its commands and datasets."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "tasks.py", folder)
    shutil.copytree(ROOT / "datasets", folder / "datasets")
    return folder


def invoke(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "invoke", *words], cwd=folder, capture_output=True, text=True, timeout=600
    )


def test_every_agent_finds_the_same_skill() -> None:
    for name in ("benchmark", "model-benchmarks"):
        texts = {(folder / name / "SKILL.md").read_bytes() for folder in FOLDERS}
        assert len(texts) == 1, "copy .claude/skills to .agents/skills"


def test_the_head_of_the_skill_says_when_to_use_it() -> None:
    _, head, _ = TEXT.split("---\n", 2)
    described = yaml.safe_load(head)
    assert described["name"] == SKILL.parent.name
    assert 40 < len(described["description"]) <= 1024
    assert TEXT.count("$ARGUMENTS") == 1
    assert len(TEXT.splitlines()) < 500


@pytest.mark.parametrize("command", SHOWN)
def test_every_command_of_the_skill_is_taken(command: str, project: Path) -> None:
    program, task, *flags = command.split()
    assert program == "invoke"
    assert unknown_flags(command.split()) == set()
    if task == "run" and "--resume" not in flags:
        done = invoke(project, task, *flags, *([] if "--dry-run" in flags else ["--dry-run"]))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "trials" in done.stdout


def test_the_cheap_commands_work_as_they_stand(project: Path) -> None:
    for task in ("datasets", "harness-list", "verify"):
        done = invoke(project, task)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_task_and_flag_in_a_sentence_exists() -> None:
    assert {"stop", "serve"} <= named_tasks(TEXT)
    for command in named_commands(TEXT):
        assert unknown_flags(command) == set()
    assert named_flags(TEXT) - flags_of("run") - flags_of("judge") - flags_of("status") == set()


def test_every_provider_is_offered() -> None:
    for name in PROVIDERS:
        assert f"`{name}`" in TEXT, name


def test_the_skill_asks_for_no_key_and_holds_no_logic() -> None:
    assert "never print or ask for a key" in TEXT
    assert "```python" not in TEXT
    assert "```bash" not in TEXT
