"""Talks: made-up sessions shaped like those of coding agents, the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from runner.records import SessionShape

DEFAULT_SHAPE = SessionShape(
    shared_tokens=8000, first_tokens=2000, added_tokens=1500, output_tokens=150, turns=30
)
COMMON = (
    "the of and to in is that for it as was with be by on not he his but at are this have from or had an "
    "they which one you were all her she there would their we him been has when who will no more if out so "
    "up said what its about than into them can only other time new some could these two may first then do"
)
"""Words that are one token each in most vocabularies."""
WORDS = tuple(COMMON.split())


@dataclass(frozen=True)
class TurnPlan:
    """One turn: how many words are said, and how many tokens are asked for."""

    words: int
    output: int


@dataclass(frozen=True)
class Talk:
    """A session to come. ``name`` makes its words different from those of every other."""

    name: str
    shared: int
    turns: tuple[TurnPlan, ...]

    def instructions(self) -> str:
        """What comes before the first turn, alike in all talks of that length."""
        return " ".join(random.Random("instructions").choices(WORDS, k=self.shared))  # noqa: S311 - load

    def said(self, turn: int) -> str:
        """What is said in a turn, counted from 0; begins with a word that no other turn begins with."""
        drawn = random.Random(f"{self.name}/{turn}")  # noqa: S311 - load
        words = drawn.choices(WORDS, k=self.turns[turn].words - 1)
        return " ".join([f"{drawn.getrandbits(32):08x}", *words])


def talks(shape: SessionShape, seed: int, label: str, *, most_tokens: int | None = None) -> Iterator[Talk]:
    """Talks without end. Every number is drawn evenly between half and one and a half of its mean.

    Args:
        shape: the means.
        seed: together with ``label`` it decides everything.
        label: of the level: the same words in two levels would be found in the prefix cache.
        most_tokens: a talk ends before prompt and answer together are longer, by the count of words.
    """
    drawn = random.Random(f"{seed}/{label}")  # noqa: S311 - load
    number = 0
    while True:
        number += 1
        turns: list[TurnPlan] = []
        size = shape.shared_tokens
        for turn in range(_about(shape.turns, drawn)):
            mean = shape.added_tokens if turn else shape.first_tokens
            plan = TurnPlan(_about(mean, drawn), _about(shape.output_tokens, drawn))
            size += plan.words + plan.output
            if most_tokens is not None and size > most_tokens and turns:
                break
            turns.append(plan)
        yield Talk(f"{seed}/{label}/{number}", shape.shared_tokens, tuple(turns))


def ratio(shape: SessionShape) -> float:
    """Input tokens of a talk of mean shape over its output tokens.

    ``(shared + first + (turns - 1) / 2 x (added + output)) / output``: each turn sends all before it again.
    """
    grown = (shape.turns - 1) / 2 * (shape.added_tokens + shape.output_tokens)
    return (shape.shared_tokens + shape.first_tokens + grown) / shape.output_tokens


def _about(mean: int, drawn: random.Random) -> int:
    return max(1, round(mean * drawn.uniform(0.5, 1.5)))
