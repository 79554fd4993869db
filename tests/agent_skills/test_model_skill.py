"""The skill for model endpoints: its commands exist, and paid runs need a request in so many words."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from runner.endpoint.suites.catalogue import PROFILES
from tests.agent_skills.commands import (
    FOLDERS,
    MODEL_SKILL,
    ROOT,
    block_commands,
    flags_of,
    named_commands,
    named_flags,
    named_tasks,
    unknown_flags,
)

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
    assert command.startswith("invoke ")
    assert unknown_flags(command.split()) == set()


def test_every_task_and_flag_in_a_sentence_exists() -> None:
    assert {"verify", "status", "stop"} <= named_tasks(TEXT) | {command.split()[1] for command in SHOWN}
    for command in named_commands(TEXT):
        assert unknown_flags(command) == set()
    assert named_flags(TEXT) - flags_of("bench") - flags_of("bench-report") == set()


def test_a_flag_whose_name_only_begins_like_one_is_not_known() -> None:
    assert unknown_flags(["invoke", "bench", "--run", "--budget", "--out=x", "--no-responses"]) == {
        "--run",
        "--budget",
    }


def test_the_plan_of_the_skill_can_be_made_without_a_key(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tasks.py", tmp_path)
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    [shown] = [command for command in SHOWN if command.endswith("--dry-run")]
    done = subprocess.run(
        [sys.executable, "-m", *shown.split()], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\$\d.* per million tokens", done.stdout), done.stdout
    assert not (tmp_path / "results").exists()
    # A limit in dollars is refused for the built-in server; test_real_agents_* runs the plan without it.
    assert "leave out `--model` and `--budget-usd`" in TEXT.replace("\n", " ")


def test_it_knows_every_profile() -> None:
    choices = TEXT[TEXT.index("- **profile**") : TEXT.index("- **budget**")]
    assert set(re.findall(r"`([a-z]+)`", choices)) == set(PROFILES)


def test_the_plan_is_shown_before_anything_is_asked() -> None:
    [dry, run] = [command for command in SHOWN if command.startswith("invoke bench --model")]
    assert dry == run.replace(" --out build/bench", " --dry-run")
    assert SHOWN.index(dry) < SHOWN.index(run)
    assert "--budget-usd" in run
    assert "Wait for a yes" in TEXT[TEXT.index(dry) : TEXT.index(run)]


def test_reports_of_a_run_that_exists_come_before_a_new_one() -> None:
    assert SHOWN[0].startswith("invoke bench-report")
    assert "Start one only if the person asked for a new measurement" in TEXT
    assert "results that were paid for are gone" in TEXT
    assert "Never pay a second time without a yes" in TEXT
    resume = SHOWN.index("invoke bench --resume")
    assert SHOWN.index("invoke verify") < resume
    before = TEXT[: TEXT.index("```console\ninvoke bench --resume")]
    assert before.rstrip().endswith("wait for a yes:")


def test_every_figure_is_asked_for_with_links_to_the_files() -> None:
    report = TEXT[TEXT.index("## 5. Report") : TEXT.index("## 6. Publish")]
    for figure in FIGURES:
        assert figure in report, figure
    assert "links to the files" in report
    assert "`-report.md`" in report
    assert "provider errors" in report


def test_it_asks_for_no_key_and_holds_no_logic() -> None:
    assert "never print or ask for a key" in TEXT
    assert "```python" not in TEXT
    assert "```bash" not in TEXT
