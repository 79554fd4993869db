"""The client against the built-in model server: every injected truth comes out, in each protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from runner.endpoint.address import EndpointAddress
from runner.endpoint.ask import Deadlines, Outcome, Protocol, StreamResult, Tool
from runner.endpoint.client import StreamClient, Transport
from runner.endpoint.timing import timing
from runner.replay.server import ReplayServer
from tests.endpoint.exchanges import question

CASSETTES = Path(__file__).parents[2] / "datasets" / "cassettes"
SHELL = Tool(
    name="bash",
    description="Runs a command.",
    parameters={"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)
SAID = "I will look at the repository first."
RUNS = count()
PATIENT = Deadlines(headers=60, stall=60)
SHORT = {"hang": Deadlines(headers=0.5, stall=60), "stall": Deadlines(headers=60, stall=0.3)}


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer(CASSETTES) as running:
        yield running


def ask(
    server: ReplayServer,
    protocol: Protocol,
    *faults: str,
    transport: Transport = "asyncio",
    stream: bool = True,
    run: str = "",
) -> StreamResult:
    """The first turn of a task, with faults in the server's own words."""
    name = run or f"run-{next(RUNS)}"
    url = server.url_for(run=name, scenario="hello-world/quarter-hour-default", faults=faults)
    suffix = "" if protocol is Protocol.MESSAGES else "/v1"
    asked = question(
        protocol,
        model="replay-careful",
        tools=(SHELL,),
        stream=stream,
        deadlines=next((SHORT[fault] for fault in faults if fault in SHORT), PATIENT),
    )

    async def main() -> StreamResult:
        async with StreamClient(EndpointAddress(url + suffix, "any"), transport=transport) as client:
            return await client(asked)

    return asyncio.run(main())


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("protocol", list(Protocol))
def test_text_calls_and_counts_are_those_that_were_served(
    server: ReplayServer, protocol: Protocol, stream: bool
) -> None:
    result = ask(server, protocol, stream=stream, run=f"counted-{protocol}-{stream}")
    assert (result.outcome, result.text, result.streamed) == (Outcome.OK, SAID, stream)
    assert [call.name for call in result.tool_calls] == ["bash", "bash"]
    assert all("command" in call.arguments_object() for call in result.tool_calls)
    assert result.ended_cleanly
    served = server.count(f"counted-{protocol}-{stream}").document()
    assert served["requests"] == 1
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.output_tokens) == (1750, 125)


@pytest.mark.parametrize("transport", ["asyncio", "httpx"])
@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize(
    ("fault", "outcome", "code"),
    [
        ("e500", Outcome.HTTP_ERROR, "http_500"),
        ("e429", Outcome.RATE_LIMITED, "http_429"),
        ("cut", Outcome.STREAM_ERROR, None),
        ("malformed", Outcome.PARSE_ERROR, "invalid_stream_json"),
    ],
)
def test_each_fault_has_its_class(
    server: ReplayServer,
    protocol: Protocol,
    transport: Transport,
    fault: str,
    outcome: Outcome,
    code: str | None,
) -> None:
    result = ask(server, protocol, fault, transport=transport)
    assert result.outcome is outcome
    assert result.failure is not None
    if code is not None:
        assert result.failure.code == code
    if fault in {"cut", "malformed"}:
        assert result.text == SAID


@pytest.mark.parametrize("protocol", list(Protocol))
def test_silence_before_and_inside_an_answer_are_two_timeouts(
    server: ReplayServer, protocol: Protocol
) -> None:
    assert ask(server, protocol, "hang").outcome is Outcome.TIMEOUT_HEADERS
    stalled = ask(server, protocol, "stall")
    assert stalled.outcome is Outcome.TIMEOUT_STALL
    assert stalled.milestones.first_event is not None


@pytest.mark.parametrize("protocol", list(Protocol))
def test_pauses_between_events_show_and_none_is_shorter_than_it_was(
    server: ReplayServer, protocol: Protocol
) -> None:
    result = ask(server, protocol, "pace20", "slow50")
    found = timing(result)
    assert found.ttft_ms is not None
    assert found.ttft_ms >= 69
    assert found.total_ms is not None
    assert found.total_ms >= 50 + 20 * (result.events - 2)


def test_a_wait_that_the_server_asks_for_is_read(server: ReplayServer) -> None:
    result = ask(server, Protocol.CHAT_COMPLETIONS, "e429", "retryafter7")
    assert result.retry_after_seconds == 7


@pytest.mark.parametrize("protocol", [Protocol.CHAT_COMPLETIONS, Protocol.RESPONSES])
def test_usage_that_is_not_told_is_none_and_no_zero(server: ReplayServer, protocol: Protocol) -> None:
    result = ask(server, protocol, "nousage")
    assert result.outcome is Outcome.OK
    assert result.usage is None or result.usage.output_tokens is None
    assert timing(result).tpot_ms is None
