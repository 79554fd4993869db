"""An agent that goes on until a certain command is run is led to its end, whatever it refuses on the way."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from runner.replay import ReplayServer
from runner.replay.conversation import Conversation, OfferedTool
from runner.replay.submitting import COMPLAINT, SUBMIT, next_turn, submits
from runner.replay.turns import Turn
from tests.replay.tapes import PROMPT, STRING, tape, tool, turn

ASKS = f"{PROMPT}\nAt the end run `echo {SUBMIT}`."
READ = {"do": "read", "path": "a.py"}
SHELL = {"do": "shell", "command": "ls"}
WRONG = {"do": "call", "tool": "no_such_tool", "arguments": "{}"}
LINES = (turn(0, READ, WRONG), turn(1, WRONG), turn(2, SHELL, READ), turn(3, say="done"))


def talk(results: int = 0, complaints: int = 0, prompt: str = ASKS) -> Conversation:
    tools = (OfferedTool("bash", {}),)
    return Conversation("m", False, True, tools, results, prompt, heard=f"{COMPLAINT}\n" * complaints)


def turns(*lines: dict[str, object]) -> tuple[Turn, ...]:
    return tuple(Turn.model_validate_json(json.dumps(line)) for line in lines)


def test_an_agent_is_known_by_what_it_asks_for() -> None:
    assert submits(talk())
    assert not submits(talk(prompt=PROMPT))
    assert not submits(Conversation("m", False, True, (), 0, ASKS))


@pytest.mark.parametrize(
    ("results", "complaints", "step", "kinds"),
    [
        (0, 0, 0, ["read"]),
        (1, 0, 1, ["call"]),
        (1, 1, 2, ["shell", "read"]),
        (3, 1, 3, []),
        (9, 9, 3, []),
    ],
)
def test_a_wrong_call_is_made_only_where_it_stands_alone_and_once(
    results: int, complaints: int, step: int, kinds: list[str]
) -> None:
    found = next_turn(turns(*LINES), talk(results, complaints))
    assert (found.step, [action.do for action in found.actions]) == (step, kinds)


def test_an_endless_turn_stays_endless() -> None:
    endless = turns(turn(0, SHELL, forever=True))
    assert next_turn(endless, talk(7)).actions == endless[0].actions


def test_the_last_answer_runs_the_command(tmp_path: Path) -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": ASKS}]
    messages.append({"role": "user", "content": f"{COMPLAINT}\nno such tool"})
    for _ in range(3):
        messages += [{"role": "assistant", "content": "x"}, {"role": "tool", "content": "y"}]
    body = {"model": "m", "messages": messages, "tools": [tool("bash", command=STRING)]}
    with ReplayServer(tape(tmp_path, LINES)) as server:
        url = f"{server.url_for(run='r', scenario='demo/t')}/v1/chat/completions"
        (call,) = httpx.post(url, json=body).json()["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"command": f"echo {SUBMIT}"}
