"""Dialogue: several turns that are really held, each answer being part of the next request."""

from __future__ import annotations

from runner.endpoint.request import Message
from runner.endpoint.result import StreamResult
from runner.endpoint.suites.case import Case, Kind, Puzzle, reading, user
from runner.endpoint.suites.draw import Draw
from runner.endpoint.suites.extraction import ASK_FOR_FINAL, exact

GUESTS = ("Ida", "Jonas", "Kaya", "Luca", "Mila", "Noor", "Otis", "Pia", "Quinn", "Rosa")


def guest_list(seed: int) -> Puzzle:
    """A list that changes over three turns and is asked for at the end."""
    names = Draw(seed).shuffled(GUESTS)
    first, second, third, fourth, late, instead = names[:6]
    later = (
        f"{second} cannot come after all; {instead} takes that place at the table, in the same position. "
        "Just say that you have noted it.",
        f"One more: {late} comes too and sits at the very beginning. Now give me everybody in the order in "
        f"which they sit, the names with commas between them. {ASK_FOR_FINAL}",
    )
    expected = ",".join((late, first, instead, third, fourth))

    def follow(number: int, _result: StreamResult) -> tuple[Message, ...] | None:
        """The change of the next turn; None after the last."""
        return (user(later[number - 1]),) if number <= len(later) else None

    opening = (
        f"Four people sit at a table in this order: {first}, {second}, {third}, {fourth}. Remember it; I "
        "will tell you of changes one after the other. Just say that you have noted it."
    )
    return Puzzle((user(opening),), reading(exact(expected)), expected, follow=follow)


GUEST_LIST = Case(
    identifier="multi_turn_state",
    title="A list that changes over three turns",
    kind=Kind.QUALITY,
    category="dialogue",
    dimension="multi-turn",
    difficulty="medium",
    description="Three requests with growing context; the last answer needs all of them.",
    make=guest_list,
    runs=2,
    max_output_tokens=512,
    seeded=True,
)
