"""Improvising: answers that no cassette holds, made up by whoever started the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runner.replay.conversation import Answer, Conversation, ToolCall
from runner.replay.scenario import Faults, Scenario
from runner.replay.turns import Tokens, Turn

CHARACTERS_PER_TOKEN = 4
TASK = "improvised"


@dataclass(frozen=True)
class Said:
    """What is said to one request. ``calls`` are names of tools and their arguments as text."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


Improviser = Callable[[Scenario, Conversation, Faults], "Said | None"]
"""None: the cassettes answer."""


def turn_of(said: Said, conversation: Conversation, faults: Faults) -> Turn:
    """What was said as a turn with counts of tokens, a token being four characters."""
    spoken = said.text + "".join(name + arguments for name, arguments in said.calls)
    told = len(conversation.heard) + sum(map(len, conversation.results))
    usage = Tokens(
        uncached=max(1, told // CHARACTERS_PER_TOKEN),
        output=max(1, len(spoken) // CHARACTERS_PER_TOKEN) + faults.think,
        reasoning=faults.think,
    )
    return Turn(task=TASK, step=0, say=said.text or "-", usage=usage)


def answer_of(said: Said, turn: Turn, conversation: Conversation, faults: Faults, number: int) -> Answer:
    """What was said as the answer to request ``number`` of its run."""
    told = conversation.wants_usage and not faults.no_usage
    return Answer(
        identifier=f"improvised-{number}",
        model=conversation.model,
        text=said.text,
        calls=tuple(
            ToolCall(f"call_{number}_{index}", name, arguments)
            for index, (name, arguments) in enumerate(said.calls)
        ),
        usage=turn.usage if told else None,
        cache_detail=not faults.no_cache_detail,
        thought=" ".join(["thinking"] * faults.think),
    )
