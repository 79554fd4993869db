"""Trials of two replayed models, judged for real: directly, and by the real Codex and Claude Code."""

from __future__ import annotations

import fnmatch
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.engine.isolation import choose
from runner.engine.places import Places
from runner.errors import HarnessmarkError
from runner.records import CheckStatus, CostBasis, JudgementRecord, JudgementStatus
from runner.store import ResultsStore, verify
from tests.engine.conftest import made
from tests.engine.judging import judge, judgements
from tests.engine.runs import demonstration, run
from tests.harnesses.real.stage import INSTALLED
from tests.judges.test_contract import ready

PROJECT = Path(__file__).parent.parent.parent
TASK = "fair-rounding"
READ = ("clockbook/cli.py", "clockbook/duration.py")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A demonstration of both models on one task, checked and not judged."""
    places = made(tmp_path_factory.mktemp("judged") / "project")
    assert run(places, {"tasks": TASK, "skill": "fix,swe3"})[0] == 0
    if INSTALLED.is_dir():
        places.harnesses.symlink_to(INSTALLED.resolve())
    return places


@pytest.fixture
def project(finished: Places, tmp_path: Path) -> Places:
    """A copy of it that a test may write to."""
    shutil.copytree(finished.root, tmp_path / "project", symlinks=True)
    return Places(tmp_path / "project")


def by_trial(places: Places) -> dict[tuple[str, str], JudgementRecord]:
    """The judgements by model and skill."""
    found = judgements(demonstration(places))
    return {(each.trial.cell.model.slug, each.trial.cell.skill): each for each in found}


def scores(places: Places) -> dict[tuple[str, str], float | None]:
    return {key: record.task_score for key, record in by_trial(places).items()}


SCORES = {
    ("replay-careful", "fix"): 80.0,
    ("replay-careful", "swe3"): 77.6,
    ("replay-hasty", "fix"): 28.0,
    ("replay-hasty", "swe3"): 25.6,
}


def test_two_models_are_graded_by_checks_and_by_the_scripted_judge(project: Places) -> None:
    code, output = judge(project, {"judge": "replay"})
    assert code == 0, output
    assert scores(project) == SCORES
    passed = {
        stored.record.identity.cell.model.slug: {check.status for check in stored.checks}
        == {CheckStatus.PASSED}
        for stored in demonstration(project).trials()
    }
    assert passed == {"replay-careful": True, "replay-hasty": False}
    for record in judgements(demonstration(project)):
        assert record.demonstration
        assert record.judge.repository_grounded is False
        assert record.usage is not None
        assert [cost.basis for cost in record.costs] == [CostBasis.NONE]
        assert all(note.startswith("Scripted for the demonstration") for note in record.notes.values())
    assert verify(demonstration(project).root) == []


@pytest.mark.parametrize("protocol", ["chat-completions", "responses", "messages"])
def test_the_direct_judge_asks_in_every_protocol(protocol: str, project: Places) -> None:
    code, output = judge(project, {"judge": "direct", "provider": "replay", "protocol": protocol})
    assert code == 0, output
    assert scores(project) == SCORES
    names = {record.judge.name for record in judgements(demonstration(project))}
    assert names == {"direct-replay-judge"}


@pytest.mark.parametrize("name", ["codex", "claude-code"])
def test_a_real_agent_reads_the_repository_and_judges(name: str, project: Places) -> None:
    ready(name)
    code, output = judge(project, {"judge": name, "provider": "replay"}, concurrency=2)
    assert code == 0, output
    assert scores(project) == SCORES
    level = choose(None, private=()).level.value
    for record in by_trial(project).values():
        assert record.judge.method == "agentic"
        assert record.judge.repository_grounded is True
        assert sorted(record.files_read) == sorted(READ)
        assert record.isolation == level
        assert record.repository_tree
        [attempt] = record.attempts
        assert attempt.requests_seen == 2
        assert record.usage is not None
        assert (record.usage.output_tokens, record.usage.input_tokens) == told(record, name)
        assert "judge-not-grounded" not in {warning.code for warning in record.warnings}
        stream = project.streams / f"{attempt.stream_sha256}.jsonl.gz"
        assert record.candidate is not None
        assert record.candidate in gzip.decompress(stream.read_bytes()).decode()
    assert verify(demonstration(project).root) == []
    assert "2 files read" in output


def told(record: JudgementRecord, name: str) -> tuple[int, int]:
    """Output and fresh input that the server told: sums over the turns of the scripted answer."""
    cassette = Path("datasets/cassettes/judge-hello-world/replay-reader.jsonl")
    lines = [json.loads(line) for line in (PROJECT / cassette).read_text().splitlines()[1:]]
    when = {line["when"] for line in lines if "when" in line and line["task"] == TASK}
    hasty = record.trial.cell.model.slug == "replay-hasty"
    skill = {"fix": "implementation-1", "swe3": "five-artifacts-1"}[record.trial.cell.skill]
    assert len(when) == 2
    usages = [
        line["usage"]
        for line in lines
        if line["task"] == TASK and line["skill"] == skill and ("when" in line) is hasty
    ]
    # The agent's own protocol has a class for cache writes, or counts them as fresh input.
    fresh = [each["uncached"] + (each["cache_write"] if name == "codex" else 0) for each in usages]
    return sum(each["output"] for each in usages), sum(fresh)


@pytest.mark.parametrize("name", ["codex", "claude-code"])
def test_a_judge_that_reads_nothing_is_marked_as_not_grounded(name: str, project: Places) -> None:
    ready(name)
    flags = {"judge": name, "provider": "replay", "model": "replay-judge"}
    code, output = judge(project, flags, cells=["replay-careful_replay/loop/fix"])
    assert code == 0, output
    [record] = judgements(demonstration(project))
    assert record.status is JudgementStatus.SCORED
    assert record.judge.repository_grounded is False
    assert record.files_read == ()
    assert "judge-not-grounded" in {warning.code for warning in record.warnings}
    assert "NOT grounded" in output


def test_a_real_agent_can_neither_change_nor_see_what_it_should_not(project: Places) -> None:
    ready("codex")
    cassette = project.cassettes / "judge-hello-world" / "replay-prowler.jsonl"
    lines = (project.cassettes / "judge-hello-world" / "replay-reader.jsonl").read_text().splitlines()
    header = {**json.loads(lines[0]), "model": "replay-prowler"}
    turns = [json.loads(line) for line in lines[1:]]
    kept = [turn for turn in turns if turn["task"] == TASK and "when" not in turn]
    for turn in kept:
        if turn["actions"]:
            results, hidden = project.results, project.datasets / "hello-world" / "hidden"
            command = (
                f"echo x >> README.md; ls {results}/demonstration {hidden}; git log --all --oneline | wc -l; "
                "cat clockbook/duration.py"
            )
            turn["actions"] = [{"do": "shell", "command": command}]
    cassette.write_text("".join(json.dumps(line) + "\n" for line in (header, *kept)))
    flags = {"judge": "codex", "provider": "replay", "model": "replay-prowler"}
    code, output = judge(project, flags, cells=["replay-careful_replay/loop/fix"])
    assert code == 0, output
    [record] = judgements(demonstration(project))
    assert record.files_read == ("clockbook/duration.py",)
    stream = project.streams / f"{record.attempts[0].stream_sha256}.jsonl.gz"
    seen = gzip.decompress(stream.read_bytes()).decode()
    if record.isolation != "none":
        assert "README.md: Read-only file system" in seen
        assert seen.count("No such file or directory") >= 2
        assert "test_task.py" not in seen
    assert "\\n1\\n" in seen


@pytest.mark.parametrize("mode", ["inline", "async"])
def test_a_run_has_its_trials_judged_while_it_goes_on(mode: str, places: Places) -> None:
    flags = {"tasks": TASK, "judge": "replay", "judge_mode": mode}
    code, output = run(places, flags)
    assert code == 0, output
    found = {key[0]: score for key, score in scores(places).items()}
    assert found == {"replay-careful": 80.0, "replay-hasty": 28.0}
    assert verify(demonstration(places).root) == []
    assert len(list(ResultsStore(demonstration(places).root).trials())) == 2


def test_a_run_whose_judge_is_not_there_does_not_start(places: Places) -> None:
    with pytest.raises(HarnessmarkError, match="nobody"):
        run(places, {"tasks": TASK, "judge": "nobody"})
    assert list(demonstration(places).trials()) == []


def test_what_a_killed_agent_had_used_is_in_the_judgement_that_the_next_runner_makes(project: Places) -> None:
    ready("codex")
    cassette = project.cassettes / "judge-hello-world" / "replay-reader.jsonl"
    whole = cassette.read_text()
    header, *turns = [json.loads(line) for line in whole.splitlines()]
    slow = [turn for turn in turns if turn["task"] == TASK and "when" not in turn]
    for turn in slow:
        turn["step"] *= 2
    pauses = [
        {**turn, "step": 1, "actions": [{"do": "sleep", "seconds": 60}]} for turn in slow if turn["actions"]
    ]
    ordered = sorted([*slow, *pauses], key=lambda turn: (turn["skill"], turn["step"]))
    cassette.write_text("".join(json.dumps(line) + "\n" for line in (header, *ordered)))
    flags = {"judge": "codex", "provider": "replay"}
    path = project.results / "demonstration" / "swe" / "replay-careful_replay" / "loop" / "fix"
    runner = begin(project, flags, path)
    with runner:
        deadline = time.monotonic() + 240
        while not any("token_usage_record" in text for text in rollouts(project.artifacts / "judging")):
            assert runner.poll() is None, runner.communicate()[0].decode()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        runner.send_signal(signal.SIGKILL)
    cassette.write_text(whole)
    code, output = judge(project, flags, path=str(path))
    assert code == 0, output
    [record] = judgements(demonstration(project))
    killed, answered = record.attempts
    assert (killed.interrupted, answered.interrupted) == (True, False)
    assert killed.usage is not None
    assert killed.usage.output_tokens == slow[0]["usage"]["output"]
    assert answered.usage is not None
    assert record.usage is not None
    counts = (killed.usage.output_tokens, answered.usage.output_tokens)
    assert record.usage.output_tokens == sum(count or 0 for count in counts)
    assert record.task_score == 80.0
    assert verify(demonstration(project).root) == []


def rollouts(folder: Path) -> Iterator[str]:
    """What an agent at work has written so far; its folders may go while one looks, which no glob bears."""
    for parent, _, names in os.walk(folder):
        for name in fnmatch.filter(names, "rollout-*.jsonl"):
            yield Path(parent, name).read_text(errors="replace")


def begin(places: Places, flags: dict[str, str], path: Path) -> subprocess.Popen[bytes]:
    """``invoke judge`` in a process of its own."""
    program = (
        "import json, os, sys\n"
        "from pathlib import Path\n"
        "from rich.console import Console\n"
        "from runner.engine.judging.command import judge_command\n"
        "from runner.engine.places import Places\n"
        "judge_command(Places(Path(sys.argv[1])), Console(), flags=json.loads(sys.argv[2]),\n"
        "              path=sys.argv[3], environment=os.environ)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, str(places.root), json.dumps(flags), str(path)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
