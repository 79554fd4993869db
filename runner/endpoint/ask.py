"""Ask: the one seam between what is asked of a model and how the answer is measured."""

from __future__ import annotations

import asyncio
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
    "Counted",
    "CutInFlight",
    "Deadlines",
    "Failure",
    "Fragment",
    "FragmentKind",
    "Message",
    "Milestones",
    "Note",
    "Outcome",
    "Phase",
    "Protocol",
    "ReportedUsage",
    "StreamResult",
    "Tool",
    "ToolCall",
]


class CutInFlight(asyncio.CancelledError):
    """A request was given up after it had been sent: it may be billed, and nobody says what it cost."""


class Ask(Interface):
    """Sends one request and says everything that came of it.

    It never raises for what an endpoint does: every failure is a class of the result. It never sends a
    request twice. Cancelling the call closes its connection and raises ``asyncio.CancelledError``, which is a
    :class:`CutInFlight` once the request was sent.
    """

    async def __call__(self, request: AskRequest) -> StreamResult:
        """The answer, timed."""
        ...


class Note(Interface):
    """Takes word of a request: that it is about to be sent, and where it was not, that too."""

    def __call__(self, *, sent: bool) -> None:
        """One request more that may be billed, or one less."""
        ...


def no_note(*, sent: bool) -> None:
    """Nothing is noted."""


class Counted:
    """An ask that counts what was sent through it, whatever came of it.

    Args:
        note: is told of each request before it is sent, so that one is known of that nobody saw the end of.
    """

    def __init__(self, ask: Ask, note: Note = no_note) -> None:
        self._ask, self._note = ask, note
        self.sent = 0

    async def __call__(self, request: AskRequest) -> StreamResult:
        """The answer, timed."""
        self._note(sent=True)
        try:
            result = await self._ask(request)
        except CutInFlight:
            self.sent += 1
            raise
        except asyncio.CancelledError:
            self._note(sent=False)
            raise
        if result.milestones.sent is None:
            self._note(sent=False)
        self.sent += 1
        return result
