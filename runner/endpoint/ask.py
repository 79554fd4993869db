"""Ask: the one seam between what is asked of a model and how the answer is measured."""

from __future__ import annotations

from typing import Protocol as Interface

from runner.endpoint.request import AskRequest, Deadlines, Message, Protocol, Tool, ToolCall
from runner.endpoint.result import (
    ANSWERED,
    Failure,
    Fragment,
    FragmentKind,
    Milestones,
    Outcome,
    Phase,
    ReportedUsage,
    StreamResult,
)

__all__ = [
    "ANSWERED",
    "Ask",
    "AskRequest",
    "Deadlines",
    "Failure",
    "Fragment",
    "FragmentKind",
    "Message",
    "Milestones",
    "Outcome",
    "Phase",
    "Protocol",
    "ReportedUsage",
    "StreamResult",
    "Tool",
    "ToolCall",
]


class Ask(Interface):
    """Sends one request and says everything that came of it.

    It never raises for what an endpoint does: every failure is a class of the result. It never sends a
    request twice. Cancelling the call closes its connection and raises ``asyncio.CancelledError``.
    """

    async def __call__(self, request: AskRequest) -> StreamResult:
        """The answer, timed."""
        ...
