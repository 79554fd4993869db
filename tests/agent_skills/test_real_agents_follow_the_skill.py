"""Real agents load the benchmark skill and run its commands, which do in their hands what they say."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits, Outcome
from runner.replay import ReplayServer
from runner.store import ResultsStore
from tests.agent_skills.commands import FOLDERS, ROOT, SKILL
from tests.harnesses.real.stage import INSTALLED, installed_harness

MODEL = "guide-1"
DATASET, TASK = "skill", "benchmark"
KEY = "replay-needs-no-key-this-is-a-dummy"
FLAGS = "--harness loop --provider replay --dataset hello-world --model replay-careful --count 1"
COMMANDS = (
    "invoke datasets",
    f"invoke preflight {FLAGS}",
    f"invoke run {FLAGS} --dry-run",
    f"invoke run {FLAGS}",
    "invoke status --json",
    "invoke verify",
)
SENTENCE = "You guide somebody through one measurement."
PATIENCE = 5
"""How often, at most 9 seconds each, an agent waits for the end of the last command."""
STARTS = {
    "claude-code": (WireProtocol.MESSAGES, "", "/benchmark replay, replay-careful, hello-world, loop"),
    "codex": (WireProtocol.RESPONSES, "/v1", "$benchmark replay, replay-careful, hello-world, loop"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project as a user has it, in a repository of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(ROOT / "tasks.py", folder)
    for name in ("datasets", ".claude", ".agents"):
        shutil.copytree(ROOT / name, folder / name)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def _until_done(number: int) -> str:
    return f"for i in $(seq 45); do grep -qs '^code' step-{number}.txt && break; sleep 0.2; done"


def _step(number: int, command: str) -> str:
    """``command`` after the one before it: some agents go on while a slow command still runs."""
    before = f"{_until_done(number - 1)}; " if number else ""
    return f"{before}{command} > step-{number}.txt 2>&1; echo code $? >> step-{number}.txt"


def cassette(folder: Path) -> Path:
    """A model that runs the skill's commands, one after the other."""
    head = {
        "kind": "cassette",
        "schema_version": 1,
        "dataset": DATASET,
        "model": MODEL,
        "context_window": 400_000,
        "note": "Scripted turns.",
    }
    steps = [[{"do": "shell", "command": _step(number, command)}] for number, command in enumerate(COMMANDS)]
    steps += [[{"do": "shell", "command": _until_done(len(COMMANDS) - 1)}] for _ in range(PATIENCE)]
    lines: list[dict[str, object]] = [head]
    for step, actions in enumerate([*steps, []]):
        lines.append(
            {
                "task": TASK,
                "step": step,
                "say": f"Step {step}." if actions else "Measured: see the records.",
                "actions": actions,
                "usage": {"uncached": 100, "cache_read": 0, "cache_write": 0, "output": 10, "reasoning": 0},
            }
        )
    path = folder / DATASET / f"{MODEL}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def transcripts(home: Path) -> Iterator[str]:
    """What the agent kept of its conversation."""
    for path in home.rglob("*.jsonl"):
        yield path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("name", sorted(STARTS))
def test_an_agent_measures_with_the_skill(name: str, project: Path, tmp_path: Path) -> None:
    found = installed_harness(name)
    protocol, root, prompt = STARTS[name]
    home = tmp_path / "home"
    home.mkdir()
    with ReplayServer(cassette(tmp_path / "cassettes")) as server:
        base = server.url_for(run="r", scenario=f"{DATASET}/{TASK}") + root
        assignment = Assignment(
            prompt=prompt,
            workspace=project,
            artifacts=tmp_path,
            home=home,
            endpoint=Endpoint(base, protocol, MODEL, KEY, context_window=400_000),
            limits=Limits(),
            installed=INSTALLED,
        )
        ended = supervise(
            found.launch(assignment),
            stdout=tmp_path / "stdout",
            timeout_seconds=120,
            cancelled=threading.Event(),
        )
        reading = found.read(tmp_path / "stdout", assignment)
    assert not reading.is_error, (reading, ended)
    assert SENTENCE in SKILL.read_text(encoding="utf-8")
    assert any(SENTENCE in text for text in transcripts(home)), "the agent was never given the skill"
    for number, command in enumerate(COMMANDS):
        said = (project / f"step-{number}.txt").read_text(encoding="utf-8")
        assert said.strip().endswith("code 0"), (command, said)
    [stored] = ResultsStore(project / "results" / "demonstration").trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert len(FOLDERS) == 2
