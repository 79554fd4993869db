"""A perfect model behind a real server: prompts, tools and nonces as bytes, answers as streamed fragments."""

from __future__ import annotations

import asyncio
import json

import pytest

from runner.endpoint.capabilities import Capabilities
from runner.endpoint.client import StreamClient
from runner.endpoint.request import Protocol
from runner.endpoint.suites.case import Case, Slot
from runner.endpoint.suites.catalogue import PROFILES
from runner.endpoint.suites.playing import Played, play
from runner.endpoint.suites.score import Verdict
from tests.endpoint.exchanges import DONE, chunk, sse
from tests.endpoint.servers import END, HEAD, Peer, framed, serving
from tests.endpoint.suites.oracle import Oracle
from tests.endpoint.suites.stage import MANNER, target

CAPABLE = Capabilities(json_schema=True, efforts=("none", "low", "high"))
CASES = {case.identifier: case for name in ("standard", "coding") for case in PROFILES[name].cases}


def turns_of(body: dict[str, object]) -> list[tuple[str, str]]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return [(each["role"], each.get("content") or "") for each in messages if each["role"] != "system"]


def streamed(text: str, calls: list[tuple[str, str, str]], finish: str) -> bytes:
    """The answer in many events: text letter by letter, arguments in two parts, the id only once."""
    events: list[object] = [chunk(role="assistant", content="")]
    events += [chunk(content=text[place : place + 7]) for place in range(0, len(text), 7)]
    for index, (identifier, name, arguments) in enumerate(calls):
        half = len(arguments) // 2
        head = {
            "index": index,
            "id": identifier,
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        events.append(chunk(tool_calls=[head]))
        for part in (arguments[:half], arguments[half:]):
            events.append(chunk(tool_calls=[{"index": index, "function": {"arguments": part}}]))
    events.append(chunk(finish=finish))
    usage = {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42}
    events.append({"choices": [], "usage": usage})
    return b"".join(framed(sse(each)) for each in (*events, DONE))


def over_the_wire(
    cases: list[Case], finish: str | None = None
) -> tuple[list[Played], list[dict[str, object]]]:
    """Every first instance of ``cases``, and the bodies that the server saw."""
    oracle, seen = Oracle(cases), []

    async def script(peer: Peer) -> None:
        while (asked := await peer.request()) is not None:
            body = json.loads(asked[1])
            seen.append(body)
            text, calls = oracle.reply(turns_of(body))
            ending = finish or ("tool_calls" if calls else "stop")
            parts = [(call.identifier, call.name, call.arguments) for call in calls]
            await peer.send(HEAD + streamed(text, parts, ending) + END)

    async def run() -> list[Played]:
        async with serving(script) as server, StreamClient(server.address) as client:
            where = target(CAPABLE, protocol=Protocol.CHAT_COMPLETIONS)
            return [await play(case, Slot(1), client, where, MANNER) for case in cases]

    return asyncio.run(run()), seen


def test_everything_passes_over_a_real_connection() -> None:
    quick = [case for case in CASES.values() if case.coding is None]
    trials, seen = over_the_wire(quick)
    assert [(each.case.identifier, each.score.reason) for each in trials if not each.score.passed] == []
    assert len(seen) > len(quick)
    assert all(body["stream"] is True for body in seen)
    assert all(body["temperature"] == 0 for body in seen)


def test_an_agent_solves_a_task_over_a_real_connection() -> None:
    (trial,), seen = over_the_wire([CASES["agentic_multi_file"]])
    assert trial.score.passed, trial.score.reason
    assert trial.agent is not None
    assert trial.agent.self_verified
    assert (trial.agent.prompt_tokens, trial.agent.output_tokens) == (4 * 30, 4 * 12)
    last = seen[-1]["messages"]
    assert isinstance(last, list)
    assert last[0]["role"] == "system"
    assert last[0]["content"].startswith("[")
    assert [each["role"] for each in last[1:4]] == ["user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("finish", "verdict"), [("length", Verdict.TRUNCATED), ("content_filter", Verdict.REFUSED)]
)
def test_an_ending_that_the_server_names_is_the_class(finish: str, verdict: Verdict) -> None:
    (trial,), _ = over_the_wire([CASES["seeded_shortest_path"]], finish)
    assert trial.score.verdict is verdict


def test_a_tool_call_in_fragments_is_one_call() -> None:
    trials, _ = over_the_wire([CASES["tool_selection_exact"], CASES["tool_parallel_calls"]])
    assert [len(trial.results[-1].tool_calls) for trial in trials] == [1, 3]
    assert all(trial.results[-1].milestones.first_tool is not None for trial in trials)


def test_no_two_requests_begin_with_the_same_words() -> None:
    _, seen = over_the_wire([case for case in CASES.values() if case.category == "algorithms"])
    fronts = [turns_of(body)[0][1][:18] for body in seen]
    assert len(set(fronts)) == len(fronts)
