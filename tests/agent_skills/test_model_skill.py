"""The skill for model endpoints: its commands exist, and paid runs need a request in so many words."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest
import yaml

from tests.agent_skills.commands import FOLDERS, MODEL_SKILL, ROOT, block_commands, named_flags, named_tasks

TEXT = MODEL_SKILL.read_text(encoding="utf-8")
SHOWN = [" ".join(words) for words in block_commands(TEXT)]
FIGURES = (
    "quality",
    "reliability",
    "TTFT",
    "total latency",
    "throughput",
    "buffering",
    "truncation",
    "cost",
    "solve rate",
    "turns",
    "tool calls",
    "invalid",
    "no-progress",
    "stop reasons",
)


@cache
def help_of(task: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "invoke", "--help", task],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_head_names_the_skill_and_when_to_use_it() -> None:
    _, head, _ = TEXT.split("---\n", 2)
    described = yaml.safe_load(head)
    assert described["name"] == MODEL_SKILL.parent.name
    assert 40 < len(described["description"]) <= 1024
    assert "in so many words" in described["description"]
    assert TEXT.count("$ARGUMENTS") == 1


def test_both_kinds_of_agents_get_the_same_text() -> None:
    assert len({(folder / "model-benchmarks" / "SKILL.md").read_bytes() for folder in FOLDERS}) == 1


@pytest.mark.parametrize("command", SHOWN)
def test_every_command_is_a_task_with_these_flags(command: str) -> None:
    program, task, *flags = command.split()
    assert program == "invoke"
    known = help_of(task)
    for flag in flags:
        if flag.startswith("--"):
            assert flag in known, flag


def test_every_task_and_flag_in_a_sentence_exists() -> None:
    for task in named_tasks(TEXT):
        assert help_of(task)
    known = help_of("bench") + help_of("bench-report")
    for flag in named_flags(TEXT):
        assert flag in known, flag


def test_the_plan_is_shown_before_anything_is_asked() -> None:
    [dry, run] = [command for command in SHOWN if command.startswith("invoke bench --profile")]
    assert dry == run.replace(" --out build/bench", " --dry-run")
    assert SHOWN.index(dry) < SHOWN.index(run)
    assert "--budget-usd" in run
    assert "Wait for a yes" in TEXT[TEXT.index(dry) : TEXT.index(run)]


def test_reports_of_a_run_that_exists_come_before_a_new_one() -> None:
    assert SHOWN[0].startswith("invoke bench-report")
    assert "Start one only if the person asked for a new measurement" in TEXT
    assert "results that were paid for are gone" in TEXT
    assert "Never pay a second time without a yes" in TEXT


def test_every_figure_is_asked_for_with_links_to_the_files() -> None:
    report = TEXT[TEXT.index("## 5. Report") : TEXT.index("## 6. Publish")]
    for figure in FIGURES:
        assert figure in report, figure
    assert "links to the files" in report
    assert "provider errors" in report


def test_it_asks_for_no_key_and_holds_no_logic() -> None:
    assert "never print or ask for a key" in TEXT
    assert "```python" not in TEXT
    assert "```bash" not in TEXT
