"""Real agents: versions, large prompts, limits, traces, and what they leave behind."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.harnesses.accounting import KEY
from runner.harnesses.accounting_cassette import DATASET, EDIT, ENDLESS, MODEL
from runner.harnesses.base import Assignment, Harness
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits
from tests.harnesses.real.stage import INSTALLED, Stage, installed_harness, open_stage

PROTOCOLS = {
    "claude-code": WireProtocol.MESSAGES,
    "codex": WireProtocol.RESPONSES,
    "copilot": WireProtocol.CHAT_COMPLETIONS,
    "gemini-cli": WireProtocol.GENERATE_CONTENT,
    "opencode": WireProtocol.CHAT_COMPLETIONS,
    "openhands": WireProtocol.CHAT_COMPLETIONS,
    "pi": WireProtocol.CHAT_COMPLETIONS,
    "qwen-code": WireProtocol.CHAT_COMPLETIONS,
    "strands": WireProtocol.CHAT_COMPLETIONS,
}
NAMES = sorted(PROTOCOLS)
ROOTS = {WireProtocol.RESPONSES: "/v1", WireProtocol.CHAT_COMPLETIONS: "/v1"}


def prepared(stage: Stage, name: str, task: str, *, window: int = 400_000) -> Assignment:
    for folder in ("workspace", "artifacts", "home"):
        (stage.folder / folder).mkdir()
    (stage.folder / "workspace" / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    protocol = PROTOCOLS[name]
    base = stage.server.url_for(run=name, scenario=f"{DATASET}/{task}") + ROOTS.get(protocol, "")
    return Assignment(
        prompt=f"workspace: {stage.folder / 'workspace'}\nFix add() in calc.py.",
        workspace=stage.folder / "workspace",
        artifacts=stage.folder / "artifacts",
        home=stage.folder / "home",
        endpoint=Endpoint(base, protocol, MODEL, KEY, context_window=window),
        limits=Limits(),
        installed=INSTALLED,
    )


def run(found: Harness, given: Assignment) -> list[str]:
    """Run to the end; returns what a watching reader saw."""
    stdout = given.home.parent / "stdout"
    supervise(found.launch(given), stdout=stdout, timeout_seconds=60, cancelled=threading.Event())
    shown = (found.trace(line) for line in stdout.read_text(encoding="utf-8").splitlines())
    return [line for line in shown if line is not None]


@pytest.mark.parametrize("name", NAMES)
def test_the_program_is_the_pinned_one(name: str) -> None:
    found = installed_harness(name)
    assert found.installation is not None
    assert found.version(INSTALLED) == found.installation.version


@pytest.mark.parametrize("name", NAMES)
def test_a_run_with_a_prompt_too_large_for_an_argument_keeps_to_its_folders(
    name: str, tmp_path: Path
) -> None:
    found = installed_harness(name)
    with open_stage(tmp_path) as stage:
        given = prepared(stage, name, EDIT)
        given = replace(given, prompt=given.prompt + "\n" + "a b c d e f g\n" * 15_000)
        shown = run(found, given)
        reading = found.read(stage.folder / "stdout", given)
        assert not reading.is_error, reading
        requests = (tmp_path / "requests.jsonl").read_text().splitlines()
        bodies = [json.loads(line)["body_bytes"] for line in requests]
        assert min(bodies) > 200_000
        assert [path.name for path in given.workspace.iterdir()] == ["calc.py"]
        leaks = [
            path for path in given.home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
        ]
        assert leaks == []
        answers = [line for line in shown if line.startswith("answer: Step")]
        assert answers == [f"answer: Step {step} of main." for step in range(4)]
        assert all(line.isprintable() for line in shown)


def test_the_turn_limit_of_claude_code_ends_the_run_and_is_named(tmp_path: Path) -> None:
    found = installed_harness("claude-code")
    with open_stage(tmp_path) as stage:
        given = replace(prepared(stage, "claude-code", ENDLESS), limits=Limits(max_turns=3))
        run(found, given)
        reading = found.read(tmp_path / "stdout", given)
        count = stage.server.count("claude-code")
        assert (reading.limit_hit, reading.turns, reading.is_error) == ("turns", 3, True)
        assert count.answered == 3
        assert reading.usage is not None
        assert reading.usage.output_tokens == count.told.output


def test_claude_code_takes_the_window_it_is_given_for_that_of_an_unknown_model(tmp_path: Path) -> None:
    found = installed_harness("claude-code")
    with open_stage(tmp_path) as stage:
        run(found, prepared(stage, "claude-code", EDIT, window=123_000))
        result = json.loads((tmp_path / "stdout").read_text().splitlines()[-1])
        assert result["modelUsage"][MODEL]["contextWindow"] == 123_000


def test_strands_asks_for_summaries_near_its_window_works_on_without_them_and_stops_at_its_limit(
    tmp_path: Path,
) -> None:
    found = installed_harness("strands")
    with open_stage(tmp_path) as stage:
        given = replace(prepared(stage, "strands", ENDLESS, window=6_000), limits=Limits(max_turns=9))
        run(found, given)
        reading = found.read(tmp_path / "stdout", given)
        count = stage.server.count("strands")
        assert (reading.limit_hit, reading.turns, reading.is_error) == ("turns", 9, True)
        # The script has no answer to a request that offers no shell, as that for a summary does.
        assert count.requests - 9 == count.errors[422] > 0
        assert reading.retries == 0
        assert reading.usage is not None
        assert reading.usage.output_tokens == count.told.output
