"""Case: one thing that is asked of a model, as many times and in as many instances as a plan wants."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from runner.endpoint.request import Message, Tool
from runner.endpoint.result import StreamResult
from runner.endpoint.suites.draw import seed_of
from runner.endpoint.suites.extraction import Scorer
from runner.endpoint.suites.score import CaseScore

if TYPE_CHECKING:
    from runner.endpoint.suites.coding.candidate import Workbench
    from runner.endpoint.suites.coding.task import CodingTask

Difficulty = Literal["easy", "medium", "hard"]
Judge = Callable[[StreamResult], CaseScore]
Follow = Callable[[int, StreamResult], "tuple[Message, ...] | None"]
"""From the number of an answer, counted from 1, and the answer to the turns sent next; None: it is over."""

Examine = Callable[[StreamResult, "Workbench"], Awaitable[CaseScore]]
"""As a judge, where code of the answer has to be run."""


class Kind(StrEnum):
    """What a case is there for."""

    QUALITY = "quality"
    PERFORMANCE = "performance"
    """Timing, but the answer is checked all the same."""
    AGENTIC = "agentic"


class Feature(StrEnum):
    """What a target must be able to do for a case to mean anything."""

    TOOLS = "tools"
    PARALLEL_TOOLS = "parallel_tools"
    JSON_SCHEMA = "json_schema"
    EFFORT = "effort"
    """The very word of effort that the case asks for."""


@dataclass(frozen=True)
class Slot:
    """One trial of a case: which instance, and which repeat of the same instance. All count from 1."""

    run: int
    repeat: int = 1
    warm_up: bool = False

    @property
    def label(self) -> str:
        """A key that is unique within a case: ``w1``, ``2``, ``1.2`` (instance 1, second time)."""
        if self.warm_up:
            return f"w{self.run}"
        return str(self.run) if self.repeat == 1 else f"{self.run}.{self.repeat}"


@dataclass(frozen=True)
class Puzzle:
    """One instance of a case: what is sent and what counts as right.

    Args:
        messages: without a nonce; it is put at the front when the request is made.
        examine: in place of ``judge``, where code of the answer has to be run.
        schema: JSON schema that the answer is to keep, where the endpoint can be told so.
        facts: what a test or a curious reader may want to know of the instance.
    """

    messages: tuple[Message, ...]
    judge: Judge
    expected: str
    system: str | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: str | None = None
    schema: Mapping[str, JsonValue] | None = None
    follow: Follow | None = None
    examine: Examine | None = None
    facts: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """What is known of a case before any instance of it is made.

    Args:
        make: from a seed to an instance. The same seed gives the same instance, always and everywhere.
        runs: how many instances are asked.
        repeats: how often the first instance is asked, for consistency.
        concurrency: how many trials of the case are in flight at once.
        seeded: whether ``make`` gives another instance for another seed.
        max_output_tokens: for the answer alone, with room to spare; thinking is allowed for on top.
        seed_group: cases with the same one get the same instances.
        coding: of an agentic case, in place of ``make``.
    """

    identifier: str
    title: str
    kind: Kind
    category: str
    dimension: str
    make: Callable[[int], Puzzle]
    difficulty: Difficulty | None = None
    description: str = ""
    runs: int = 1
    repeats: int = 1
    warm_ups: int = 0
    concurrency: int = 1
    max_output_tokens: int = 1024
    effort: str | None = None
    temperature: float | None = 0.0
    seeded: bool = False
    seed_group: str | None = None
    variant_of: str | None = None
    needs: frozenset[Feature] = frozenset()
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    coding: CodingTask | None = None

    def slots(
        self, *, runs: int | None = None, warm_ups: int | None = None, repeats: int | None = None
    ) -> tuple[Slot, ...]:
        """The trials in order: warm-ups, then instances, then repeats of the first instance."""
        count = self.runs if runs is None else runs
        again = self.repeats if repeats is None else repeats
        before = self.warm_ups if warm_ups is None else warm_ups
        return (
            *(Slot(number, warm_up=True) for number in range(1, before + 1)),
            *(Slot(number) for number in range(1, count + 1)),
            *(Slot(1, repeat) for repeat in range(2, again + 1) if count),
        )

    def seed(self, base: int, slot: Slot) -> int:
        """The seed of the instance of ``slot``; repeats share it, and so do all targets.

        Trials of one case with the same seed ask the same thing: of a case that is not ``seeded`` that is
        all of them, whatever their run.
        """
        key = self.seed_group or self.variant_of or self.identifier
        if not self.seeded:
            return seed_of(base, key, 1)
        return seed_of(base, key, slot.run, warm_up=slot.warm_up)

    def puzzle(self, base: int, slot: Slot) -> Puzzle:
        """The instance of ``slot``."""
        return self.make(self.seed(base, slot))

    def nonce(self, salt: str, slot: Slot) -> str:
        """A line that no prefix cache has seen: other in every trial, the same for all targets of a run.

        Args:
            salt: what sets this run, and this point of a sweep, apart from all others.
        """
        key = f"{salt}\n{self.identifier}\n{slot.label}"
        return f"[{hashlib.sha256(key.encode()).hexdigest()[:16]}]"


def user(text: str) -> Message:
    """What the user says."""
    return Message(role="user", content=text)


def assistant(text: str) -> Message:
    """What the model is supposed to have said earlier."""
    return Message(role="assistant", content=text)


def reading(scorer: Scorer) -> Judge:
    """A judge that looks at the visible text alone."""
    return lambda result: scorer(result.text)


def question(
    text: str | Sequence[Message],
    scorer: Scorer,
    expected: object,
    facts: Mapping[str, JsonValue] | None = None,
) -> Puzzle:
    """An instance that is one request whose text is scored."""
    turns = (user(text),) if isinstance(text, str) else tuple(text)
    return Puzzle(turns, reading(scorer), str(expected), facts=facts or {})
