"""Stand-in: a model that answers any prompt with as many tokens as are asked for; made for load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.replay.conversation import Answer, Conversation, RequestFault, objects_in, text_of
from runner.replay.scenario import Scenario
from runner.replay.turns import Tokens, Turn

STAND_IN = "replay-load"
"""Its id. It answers wherever the server has service times, in a scenario or outside of any."""
CONTEXT_WINDOW = 1_000_000
DEFAULT_OUTPUT = 64
MOST_OUTPUT = 100_000
TASK = "load"
WORD = "word"
NOWHERE = Scenario(run=TASK, dataset=TASK, task=TASK, rules=(), api_path="/v1/chat/completions")
"""Where requests belong that name no scenario."""


@dataclass(frozen=True)
class Ask:
    """A prompt as tokens, of which each word is one and each message has one more, and what is wanted."""

    tokens: Sequence[str]
    output: int

    @property
    def answer(self) -> str:
        """What is said: each word a token."""
        return " ".join([WORD] * self.output)

    @property
    def kept(self) -> list[str]:
        """The tokens of prompt and answer, as the next prompt of the same talk will repeat them."""
        return [*self.tokens, *([WORD] * self.output)]

    def turn(self, cached: int) -> Turn:
        """The answer, where so many tokens of the prompt are cached."""
        usage = Tokens(uncached=len(self.tokens) - cached, cache_read=cached, output=self.output)
        return Turn(task=TASK, step=0, say=self.answer, usage=usage)


def read_ask(body: Mapping[str, object]) -> Ask:
    """The prompt in the body of a request for Chat Completions.

    Raises:
        RequestFault: it has no messages, or wants a number of tokens that is none.
    """
    tokens: list[str] = []
    for message in objects_in(body, "messages"):
        tokens.append(f"<{message.get('role')}>")
        tokens += text_of(message.get("content")).split()
    wanted = body.get("max_completion_tokens", body.get("max_tokens", DEFAULT_OUTPUT))
    if not isinstance(wanted, int) or not 1 <= wanted <= MOST_OUTPUT:
        raise RequestFault(f"max_tokens must be a number from 1 to {MOST_OUTPUT}", code="invalid_max_tokens")
    return Ask([*tokens, "<assistant>"], wanted)


def say(ask: Ask, turn: Turn, conversation: Conversation, number: int) -> Answer:
    """``turn`` as the answer to request ``number`` of its run."""
    return Answer(
        identifier=f"{STAND_IN}-{number}",
        model=conversation.model,
        text=ask.answer,
        calls=(),
        usage=turn.usage if conversation.wants_usage else None,
        at_limit=True,
    )
