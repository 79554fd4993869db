"""Stage: scripted models and targets for the tests of suites; nothing here reaches a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from runner.endpoint.ask import AskRequest, Outcome, StreamResult, ToolCall
from runner.endpoint.capabilities import Capabilities
from runner.endpoint.request import Protocol
from runner.endpoint.result import Failure, Phase, ReportedUsage
from runner.endpoint.suites.asking import Manner
from runner.endpoint.target import MappingEntry, Target

MANNER = Manner(salt="test-run")


def said(
    text: str = "",
    *,
    calls: Sequence[ToolCall] = (),
    outcome: Outcome = Outcome.OK,
    usage: tuple[int, int] | None = (10, 5),
    refusal: str = "",
    code: str | None = None,
) -> StreamResult:
    """An answer as the client would give it."""
    counts = None if usage is None else ReportedUsage(prompt_tokens=usage[0], completion_tokens=usage[1])
    finish = "tool_calls" if calls else "stop"
    return StreamResult(
        protocol=Protocol.CHAT_COMPLETIONS,
        started_at=datetime(2026, 1, 31, 12, tzinfo=UTC),
        outcome=outcome,
        failure=None if code is None else Failure(code=code, phase=Phase.HEADERS),
        text=text,
        refusal=refusal,
        tool_calls=tuple(calls),
        finish_reason=finish if outcome is Outcome.OK else None,
        ended_cleanly=outcome is Outcome.OK,
        usage=counts,
    )


def call(name: str, arguments: str = "{}", identifier: str = "call-1") -> ToolCall:
    """A tool call."""
    return ToolCall(identifier=identifier, name=name, arguments=arguments)


@dataclass
class Script:
    """An ``Ask`` that answers what stands in a list, then the last of it again and again."""

    answers: list[StreamResult | Callable[[AskRequest], StreamResult]]
    requests: list[AskRequest] = field(default_factory=list)

    async def __call__(self, request: AskRequest) -> StreamResult:
        """The next answer."""
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        return answer if isinstance(answer, StreamResult) else answer(request)


def target(
    capabilities: Capabilities | None = None,
    *,
    protocol: Protocol = Protocol.CHAT_COMPLETIONS,
    context_tokens: int | None = None,
    max_output_tokens: int | None = None,
) -> Target:
    """A target at an address where nothing is."""
    entry = MappingEntry(
        provider="test",
        model_id="model-1",
        protocol=protocol,
        base_url="http://127.0.0.1:9/v1",
        capabilities=capabilities or Capabilities(),
        context_tokens=context_tokens,
        max_output_tokens=max_output_tokens,
        source="a test",
        checked_on=date(2026, 1, 31),
    )
    return Target("model-1", "Model 1", entry)
