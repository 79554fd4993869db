"""Improvised answers, and the faults that spoil them: lumps, limits, missing ends, fragments, every K-th."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from runner.replay.conversation import Conversation
from runner.replay.improvising import Said
from runner.replay.scenario import Faults, Scenario, ScenarioError, active_faults, parse_fault
from runner.replay.server import ReplayServer

CASSETTES = Path(__file__).parents[2] / "datasets" / "cassettes"
TEXT = "one two three four five six seven eight nine ten eleven twelve " * 4
ARGUMENTS = json.dumps({"parcel": "P-7730"})


def improvise(_scenario: Scenario, conversation: Conversation, _faults: Faults) -> Said | None:
    if "improvise" not in conversation.heard:
        return None
    return Said("", (("track", ARGUMENTS),)) if "call" in conversation.heard else Said(TEXT)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer(CASSETTES, improviser=improvise) as running:
        yield running


def ask(server: ReplayServer, *faults: str, prompt: str = "improvise", run: str = "run") -> httpx.Response:
    url = server.url_for(run=run, scenario="hello-world/fair-rounding", faults=faults)
    body = {
        "model": "replay-careful",
        "messages": [{"role": "user", "content": prompt}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return httpx.post(f"{url}/v1/chat/completions", json=body, trust_env=False)


def chunks(response: httpx.Response) -> list[dict[str, object]]:
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def deltas(response: httpx.Response, key: str) -> list[str]:
    found = []
    for chunk in chunks(response):
        for choice in chunk["choices"]:  # type: ignore[attr-defined]
            if choice["delta"].get(key):
                found.append(choice["delta"][key])
    return found


def test_an_improvised_answer_stands_before_the_cassettes(server: ReplayServer) -> None:
    assert "".join(deltas(ask(server), "content")) == TEXT
    assert "".join(deltas(ask(server, prompt="something else"), "content")) == "Replay"


def test_every_answer_has_an_id_of_its_own(server: ReplayServer) -> None:
    names = {ask(server).headers["x-request-id"] for _ in range(3)}
    assert len(names) == 3


def test_reasoning_comes_first_and_is_counted(server: ReplayServer) -> None:
    response = ask(server, "think7")
    assert "".join(deltas(response, "reasoning_content")).split() == ["thinking"] * 7
    usage = chunks(response)[-1]["usage"]
    assert isinstance(usage, dict)
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 7
    assert usage["completion_tokens"] == 7 + len(TEXT) // 4


def test_a_limit_cuts_the_answer_and_says_so(server: ReplayServer) -> None:
    response = ask(server, "limit")
    assert "".join(deltas(response, "content")) == TEXT[: len(TEXT) // 2]
    assert '"finish_reason": "length"' in response.text


def test_an_answer_without_an_end_ends_properly_for_http(server: ReplayServer) -> None:
    response = ask(server, "noend")
    assert "".join(deltas(response, "content")) == TEXT
    assert '"finish_reason": "' not in response.text
    assert "[DONE]" not in response.text


def test_fragments_are_small_and_repeat_the_id(server: ReplayServer) -> None:
    calls = [
        call
        for group in deltas(ask(server, "fragment", prompt="improvise a call"), "tool_calls")
        for call in group
    ]
    assert "".join(call["function"]["arguments"] for call in calls) == ARGUMENTS  # type: ignore[index]
    assert len({call["id"] for call in calls}) == 1  # type: ignore[index]
    assert len(calls) > len(ARGUMENTS) // 4


def test_a_lump_takes_as_long_as_the_flow_and_comes_at_once(server: ReplayServer) -> None:
    begun = time.perf_counter()
    flowing = ask(server, "pace5")
    taken = time.perf_counter() - begun
    begun = time.perf_counter()
    lump = ask(server, "pace5", "lump")
    assert time.perf_counter() - begun >= 0.005 * (len(chunks(lump)) - 1)
    assert taken >= 0.005 * (len(chunks(flowing)) - 1)
    assert deltas(lump, "content") == deltas(flowing, "content")


def test_every_kth_request_of_a_run_is_hit(server: ReplayServer) -> None:
    statuses = [ask(server, "every3-e429", run="thirds").status_code for _ in range(7)]
    assert statuses == [200, 200, 429, 200, 200, 429, 200]


def test_rules_for_every_kth_request_are_merged_with_others() -> None:
    rules = tuple(map(parse_fault, ("every2-limit", "think3", "wrong20")))
    assert active_faults(rules, 0, 0) == Faults(think=3, wrong=20)
    assert active_faults(rules, 1, 0) == Faults(think=3, wrong=20, limit=True)
    for text in ("every0-limit", "every-limit", "think", "wrong1000000"):
        with pytest.raises(ScenarioError):
            parse_fault(text)
