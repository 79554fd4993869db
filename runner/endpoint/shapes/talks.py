"""Talks: sessions of several turns with growing context, and the prefill-heavy shape that agents have."""

from __future__ import annotations

from collections.abc import Callable

from runner.endpoint.request import Message
from runner.endpoint.result import StreamResult
from runner.endpoint.suites.case import Case, Kind, Puzzle, reading, user
from runner.endpoint.suites.draw import Draw
from runner.endpoint.suites.extraction import exact
from runner.endpoint.suites.streaming import WORDS

TALK_TURNS = 6
AGENT_TURNS = 10
ASKED = "Answer with this password and nothing else:"


def talk(turns: int, first_words: int, more_words: int) -> Callable[[int], Puzzle]:
    """Sessions in which each turn adds words to the context and asks for one token back."""

    def make(seed: int) -> Puzzle:
        """The session that belongs to a seed."""
        draw = Draw(seed)
        passwords = [f"{draw.choice(WORDS)}-{draw.integer(1000, 9999)}" for _ in range(turns)]
        fillers = [
            " ".join(draw.choice(WORDS) for _ in range(first_words if number == 0 else more_words))
            for number in range(turns)
        ]

        def said(number: int) -> Message:
            """The user's message of one turn."""
            return user(f"Padding that means nothing:\n{fillers[number]}\n\n{ASKED} {passwords[number]}")

        def follow(number: int, _result: StreamResult) -> tuple[Message, ...] | None:
            """The next message; None after the last turn."""
            return (said(number),) if number < turns else None

        judge = reading(exact(passwords[-1]))
        return Puzzle((said(0),), judge, passwords[-1], follow=follow, facts={"turns": turns})

    return make


def _case(identifier: str, title: str, description: str, make: Callable[[int], Puzzle]) -> Case:
    return Case(
        identifier=identifier,
        title=title,
        kind=Kind.PERFORMANCE,
        category="load",
        dimension="sessions",
        description=description,
        make=make,
        max_output_tokens=128,
        effort="none",
        seeded=True,
    )


TALK = _case(
    "session_talk",
    "A talk with growing context",
    "Six turns; each adds two hundred words to what is sent again.",
    talk(TALK_TURNS, 200, 200),
)
AGENT = _case(
    "session_agent",
    "The load of an agent",
    "Ten turns on a long context that grows by what tools would bring; answers are short.",
    talk(AGENT_TURNS, 4000, 600),
)
