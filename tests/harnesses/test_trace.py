"""Traces: one harmless line per event that is news, for every harness."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.registry import HARNESSES, harness
from runner.harnesses.trace import plain
from tests.harnesses.samples import lines

SAMPLES = {
    "claude-code": ("claude.jsonl", "claude-subagent-background.jsonl"),
    "codex": ("codex.jsonl", "codex-subagent.jsonl"),
    "copilot": ("copilot.jsonl", "copilot-subagent.jsonl"),
    "gemini-cli": ("gemini-cli.jsonl", "gemini-cli-errors.jsonl"),
    "opencode": ("opencode.jsonl", "opencode-subagent.jsonl"),
    "pi": ("pi.jsonl",),
    "qwen-code": ("qwen-code.jsonl", "qwen-code-subagent.jsonl"),
}


def trace(name: str, sample: str) -> list[str]:
    found = (harness(name).trace(line.decode()) for line in lines(sample))
    return [line for line in found if line is not None]


@pytest.mark.parametrize(("name", "ending"), [("claude-code", "end: completed"), ("codex", "end: completed")])
def test_a_run_can_be_followed_from_answer_to_end(name: str, ending: str) -> None:
    shown = trace(name, SAMPLES[name][0])
    assert shown[0] == "answer: Step 0."
    assert shown[-1] == ending
    assert any("calc.py" in line for line in shown)


def test_pi_shows_answers_and_tools_once() -> None:
    shown = trace("pi", "pi.jsonl")
    assert [line for line in shown if line.startswith("answer")] == [
        "answer: Step 0.",
        "answer: Step 1.",
        "answer: Step 2.",
        "answer: Fixed add() in calc.py and ran the tests.",
    ]
    assert "  read <WORKDIR>/calc.py" in shown


@pytest.mark.parametrize("name", ["copilot", "opencode"])
def test_answers_tools_and_subagents_of_the_others_show_once(name: str) -> None:
    shown = trace(name, SAMPLES[name][0])
    assert [line for line in shown if line.startswith("answer")] == [
        f"answer: Step {step} of main." for step in range(4)
    ]
    assert sum("calc.py" in line for line in shown) == 3
    assert sum(line.startswith("subagent: helper") for line in trace(name, SAMPLES[name][1])) == 1


def test_failed_requests_of_copilot_and_its_end_show() -> None:
    said = [json.dumps(entry["line"]) for entry in map(json.loads, lines("copilot-errors.jsonl"))]
    shown = [found for line in said if (found := harness("copilot").trace(line)) is not None]
    assert "error: 400 scripted error 400" in shown
    assert any(line.startswith("request failed: ") for line in shown)
    assert "end: exit 1" in shown


def test_a_failure_of_opencode_shows() -> None:
    said = json.dumps(json.loads(lines("opencode-errors.jsonl")[0])["line"])
    assert harness("opencode").trace(said) == "error: scripted error 400"


def test_an_exit_code_of_zero_is_shown() -> None:
    assert any(line.endswith("exit 0") for line in trace("codex", "codex.jsonl"))


def test_subagents_are_told_apart() -> None:
    assert "subagent: list files" in trace("claude-code", "claude-subagent-background.jsonl")
    assert any(line.startswith("subagent: spawn_agent") for line in trace("codex", "codex-subagent.jsonl"))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_what_a_model_says_cannot_move_the_cursor_or_turn_the_text(name: str) -> None:
    evil = "\x1b[2J\x07\r\n\u202eevil\u2066\x9b31m"
    for sample in SAMPLES[name]:
        for line in lines(sample):
            event = json.loads(line, object_hook=lambda found: _poisoned(found, evil))
            shown = harness(name).trace(json.dumps(event))
            assert shown is None or shown.isprintable(), shown


def _poisoned(found: dict[str, object], evil: str) -> dict[str, object]:
    named = ("text", "command", "message", "prompt", "description")
    return {
        key: f"{evil}{value}" if key in named and isinstance(value, str) else value
        for key, value in found.items()
    }


@pytest.mark.parametrize("name", sorted(HARNESSES))
@given(text=st.text(max_size=200))
def test_no_line_brings_a_trace_down(name: str, text: str) -> None:
    harness(name).trace(text)


@given(text=st.text(max_size=300))
def test_plain_text_has_no_control_characters(text: str) -> None:
    assert not any(ord(each) < 32 or 0x7F <= ord(each) <= 0x9F for each in plain(text))
    assert "\u202e" not in plain(text)
    assert plain(plain(text)) == plain(text)
