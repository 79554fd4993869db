"""An agent that does the same thing over and over is noticed, whatever the format of its stream."""

from __future__ import annotations

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.stall import Stall

LIMIT = 6


def stall(limit: int = LIMIT) -> Stall:
    return Stall(limit, threading.Event())


def claude(number: int, command: str) -> object:
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": command}}
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": "again"}, call]}}


def codex(number: int, command: str) -> object:
    return {"type": "item.completed", "item": {"id": f"item_{number}", "type": "cmd", "command": command}}


def pi(number: int, command: str) -> object:
    return {
        "type": "tool_execution_start", "toolCallId": f"c{number}", "toolName": "bash", "args": {"c": command}
    }  # fmt: skip


def loop(number: int, command: str) -> object:
    return {"event": "tool", "turn": number, "name": "run_command", "arguments": json.dumps({"c": command})}


FORMATS = (claude, codex, pi, loop)


def heard(made: Stall, *events: object) -> bool:
    for event in events:
        made.hear(json.dumps(event))
    return made.is_set()


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_action_in_turn_is_noticed_at_the_limit(form: object) -> None:
    assert callable(form)
    made = stall()
    assert not heard(made, *(form(number, "ls") for number in range(LIMIT - 1)))
    assert heard(made, form(LIMIT, "ls"))
    assert made.repeating


@pytest.mark.parametrize("form", FORMATS)
def test_two_actions_by_turns_are_no_progress_and_three_are_not_told(form: object) -> None:
    assert callable(form)
    assert heard(stall(), *(form(number, f"step {number % 2}") for number in range(LIMIT)))
    assert not heard(stall(), *(form(number, f"step {number % 3}") for number in range(20)))


@pytest.mark.parametrize("form", [claude, codex, pi])
def test_one_call_that_is_printed_many_times_counts_once(form: object) -> None:
    assert callable(form)
    assert not heard(stall(), *(form(1, "ls") for _ in range(50)))


def test_another_action_in_between_begins_the_count_anew() -> None:
    same, other = [loop(number, "ls") for number in range(LIMIT - 1)], [loop(1, "a"), loop(2, "b")]
    assert not heard(stall(), *same, *other, *same)


def test_no_limit_never_stops_and_the_other_reason_always_does() -> None:
    also = threading.Event()
    made = Stall(0, also)
    assert not heard(made, *(loop(number, "ls") for number in range(500)))
    also.set()
    assert made.is_set()
    assert not made.repeating


@given(st.text(max_size=300))
def test_any_line_is_borne(line: str) -> None:
    made = stall()
    made.hear(line)
    made.hear("{" + line)
    assert not made.is_set()


def test_deep_and_broken_lines_are_borne() -> None:
    made = stall()
    for line in ("{" * 100_000, '{"a":' + "[" * 5000 + "]" * 5000 + "}", '{"name": 1, "input": 2}', "{}"):
        made.hear(line)
    assert not made.is_set()
