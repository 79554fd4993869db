"""Real agents load a skill and run its commands, which do in their hands what they say."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits, Outcome
from runner.replay import ReplayServer
from runner.store import ResultsStore
from runner.store.bench_run import find_runs
from tests.agent_skills.commands import FOLDERS, MODEL_SKILL, ROOT, SKILL
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
WANTED = "--mapping replay:swift --profile smoke --cases fixed_output_stream --runs 1"
MODEL_COMMANDS = (
    f"invoke bench {WANTED} --dry-run",
    f"invoke bench {WANTED} --out build/bench",
    "invoke bench-report --run latest --format timings",
    "cat build/bench/*-report.md",
)
MODEL_SENTENCE = "You guide somebody through one measurement of model endpoints"
PATIENCE = 5
"""How often, at most 9 seconds each, an agent waits for the end of the last command."""
STARTS = {
    "claude-code": (WireProtocol.MESSAGES, "", "/"),
    "codex": (WireProtocol.RESPONSES, "/v1", "$"),
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


def cassette(folder: Path, commands: Sequence[str]) -> Path:
    """A model that runs the skill's commands, one after the other, and looks at what the last one said."""
    head = {
        "kind": "cassette",
        "schema_version": 1,
        "dataset": DATASET,
        "model": MODEL,
        "context_window": 400_000,
        "note": "Scripted turns.",
    }
    last = len(commands) - 1
    steps = [[{"do": "shell", "command": _step(number, command)}] for number, command in enumerate(commands)]
    steps += [[{"do": "shell", "command": _until_done(last)}] for _ in range(PATIENCE)]
    steps.append([{"do": "shell", "command": f"cat step-{last}.txt"}])
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


def follow(name: str, project: Path, scratch: Path, skill: str, commands: Sequence[str]) -> Path:
    """Let a real agent use a skill in the hands of a model that runs ``commands``; returns its home."""
    found = installed_harness(name)
    protocol, root, sign = STARTS[name]
    home = scratch / "home"
    home.mkdir()
    with ReplayServer(cassette(scratch / "cassettes", commands)) as server:
        base = server.url_for(run="r", scenario=f"{DATASET}/{TASK}") + root
        assignment = Assignment(
            prompt=f"{sign}{skill}",
            workspace=project,
            artifacts=scratch,
            home=home,
            endpoint=Endpoint(base, protocol, MODEL, KEY, context_window=400_000),
            limits=Limits(),
            installed=INSTALLED,
        )
        ended = supervise(
            found.launch(assignment),
            stdout=scratch / "stdout",
            timeout_seconds=900,
            cancelled=threading.Event(),
        )
        reading = found.read(scratch / "stdout", assignment)
    assert not reading.is_error, (reading, ended)
    for number, command in enumerate(commands):
        said = (project / f"step-{number}.txt").read_text(encoding="utf-8")
        assert said.strip().endswith("code 0"), (command, said)
    return home


@pytest.mark.parametrize("name", sorted(STARTS))
def test_an_agent_measures_with_the_skill(name: str, project: Path, tmp_path: Path) -> None:
    home = follow(name, project, tmp_path, "benchmark replay, replay-careful, hello-world, loop", COMMANDS)
    assert SENTENCE in SKILL.read_text(encoding="utf-8")
    assert any(SENTENCE in text for text in transcripts(home)), "the agent was never given the skill"
    [stored] = ResultsStore(project / "results" / "demonstration").trials()
    assert stored.record.outcome is Outcome.COMPLETED
    assert len(FOLDERS) == 2


def test_an_agent_measures_an_endpoint_with_the_skill_and_reads_the_report(
    project: Path, tmp_path: Path
) -> None:
    home = follow(
        "claude-code", project, tmp_path, "model-benchmarks run the built-in server", MODEL_COMMANDS
    )
    assert MODEL_SENTENCE in MODEL_SKILL.read_text(encoding="utf-8")
    assert any(MODEL_SENTENCE in text for text in transcripts(home)), "the agent was never given the skill"
    [run] = find_runs(project / "results" / "demonstration")
    summary = run.summary()
    assert summary is not None
    assert (summary.exit_code, summary.account.left) == (0, 0)
    [target] = summary.targets
    assert target.reliability.succeeded.count == target.reliability.requests > 0
    # The report came back to the model: it is in the conversation, after the skill.
    told = [text for text in transcripts(home) if MODEL_SENTENCE in text]
    assert any("Endpoint benchmark of replay-careful" in text and run.run_id in text for text in told)
    rendered = (project / "step-2.txt").read_text(encoding="utf-8")
    assert "replay:swift" in rendered
    assert len(find_runs(project / "results" / "demonstration")) == 1, "rendered again, not run again"
