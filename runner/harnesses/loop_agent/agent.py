"""Agent: asks the model, performs the tools it calls, and goes on until it stops calling any."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from runner.harnesses.loop_agent.answer import Answer, Call, Spent
from runner.harnesses.loop_agent.client import Client, GaveUp, Trouble
from runner.harnesses.loop_agent.dialect import Dialect
from runner.harnesses.loop_agent.events import FORMAT, Voice, brief
from runner.harnesses.loop_agent.job import Job
from runner.harnesses.loop_agent.ledger import DEFAULT_TURNS, Ledger
from runner.harnesses.loop_agent.toolset import Toolset

SYSTEM = (
    "You are a coding agent. You work alone in a checkout of a repository, with the tools given. Nobody can "
    "answer questions. Look at the code before you change it, make the smallest change that does the job, "
    "and run the project's own tests where there are any. When a tool reports an error, read it and try "
    "something else. When everything that was asked for is done, answer without calling a tool."
)
STOPPED_EARLY = {"length": "answer-length", "content_filter": "content-filter"}


@dataclass(frozen=True)
class Ending:
    """Why the run ended."""

    stop_reason: str
    is_error: bool = False
    error: str | None = None
    limit_hit: str | None = None


@dataclass
class Agent:
    """One conversation. The messages are kept whole: nothing is summarised away."""

    job: Job
    client: Client
    tools: Toolset
    voice: Voice
    clock: Callable[[], float] = time.monotonic
    messages: list[dict[str, object]] = field(default_factory=list)
    dialect: Dialect = field(default_factory=Dialect)
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.job.bounds, self.job.prices)

    def run(self) -> Ending:
        """Work until the model is done, a limit is reached, or the model cannot be had."""
        self._introduce()
        ending = None
        while ending is None:
            ending = self._turn()
        self._say_end(ending)
        return ending

    def stopped(self) -> None:
        """Say that someone ended the run from outside."""
        self._say_end(Ending("terminated", is_error=True, error="stopped by a signal"))

    def _say_end(self, ending: Ending) -> None:
        used = {name: self.ledger.total(name) for name in Spent.__dataclass_fields__}
        self.voice.say(
            "end",
            **asdict(ending),
            turns=self.ledger.turns,
            retries=self.ledger.retries,
            usage=used,
            cost_usd=self.ledger.cost_usd(),
            not_enforced=self.ledger.not_enforced(),
        )

    def _introduce(self) -> None:
        places = self.tools.places
        where = f"\n\nThe workspace is {places.workspace}. The artifacts folder is {places.artifacts}."
        self.messages = [
            {"role": "system", "content": SYSTEM + where},
            {"role": "user", "content": self.job.prompt},
        ]
        self.voice.say(
            "start",
            format=FORMAT,
            model=self.job.model,
            limits=asdict(self.job.bounds),
            default_turns=DEFAULT_TURNS,
            not_enforced=self.ledger.not_enforced(),
        )

    def _turn(self) -> Ending | None:
        limit = self.ledger.limit_reached(self._seconds_left())
        if limit is not None:
            return _limited(limit)
        started = self.clock()
        number = self.ledger.turns + 1
        try:
            answer = self.client.ask(self._request(), self._said_attempt(number), self._said_retry(number))
        except GaveUp as failure:
            return self._after(failure, number)
        self.ledger.turns = number
        self.ledger.answers.append(answer.spent)
        self.voice.say(
            "turn",
            turn=number,
            usage=asdict(answer.spent) if answer.spent else None,
            finish=answer.finish,
            text=brief(answer.text),
            calls=len(answer.calls),
            seconds=round(self.clock() - started, 4),
        )
        self.messages.append(_as_message(answer))
        if not answer.calls:
            return _ended(answer)
        if self._window_is_full(answer):
            error = f"the conversation fills the context window of {self.job.context_window} tokens"
            return Ending("context-length", is_error=True, error=error)
        for call in answer.calls:
            self._perform(call, number)
        return None

    def _after(self, failure: GaveUp, number: int) -> Ending | None:
        trouble = failure.trouble
        if failure.kind == "model-error" and self.dialect.learn(trouble.status, trouble.text):
            self._said_retry(number)(1, trouble, 0.0)
            return None
        if trouble.usage_lost:
            self.voice.say("lost", turn=number, kind=trouble.kind, reason=trouble.text[:1000])
        if failure.kind == "time":
            return _limited("time")
        return Ending(failure.kind, is_error=True, error=str(failure)[:1000])

    def _window_is_full(self, answer: Answer) -> bool:
        """Whether the next request cannot fit, as far as this answer's counts tell."""
        spent, window = answer.spent, self.job.context_window
        if window is None or spent is None or spent.prompt is None or spent.completion is None:
            return False
        return spent.prompt + spent.completion >= window

    def _request(self) -> dict[str, object]:
        return {
            "model": self.job.model,
            "messages": self.messages,
            "tools": self.tools.descriptions(),
            **self.dialect.options(self.job.bounds.answer_tokens),
        }

    def _perform(self, call: Call, number: int) -> None:
        outcome = self.tools.call(call.name, call.arguments, seconds_left=self._seconds_left())
        self.messages.append({"role": "tool", "tool_call_id": call.identifier, "content": outcome.text})
        self.voice.say(
            "tool",
            turn=number,
            name=call.name[:100],
            ok=outcome.ok,
            seconds=round(outcome.seconds, 4),
            arguments=brief(call.arguments),
            result=brief(outcome.text),
        )

    def _seconds_left(self) -> float | None:
        deadline = self.client.deadline
        return None if deadline is None else deadline - self.clock()

    def _said_attempt(self, turn: int) -> Callable[[int], None]:
        return lambda attempt: self.voice.say("request", turn=turn, attempt=attempt)

    def _said_retry(self, turn: int) -> Callable[[int, Trouble, float], None]:
        def told(attempt: int, trouble: Trouble, wait: float) -> None:
            """Count a failed attempt and say it."""
            self.ledger.retries += 1
            self.voice.say(
                "retry",
                turn=turn,
                attempt=attempt,
                kind=trouble.kind,
                reason=trouble.text[:1000],
                status=trouble.status,
                wait_seconds=round(wait, 4),
                usage_lost=trouble.usage_lost,
            )

        return told


def _limited(limit: str) -> Ending:
    return Ending(f"limit-{limit}", limit_hit=limit)


def _ended(answer: Answer) -> Ending:
    if answer.finish in STOPPED_EARLY:
        reason = STOPPED_EARLY[answer.finish]
        return Ending(reason, is_error=True, error=f"the model's answer ended early: {answer.finish}")
    if not answer.text.strip():
        return Ending("empty-answer", is_error=True, error="the model answered nothing at all")
    return Ending("finished")


def _as_message(answer: Answer) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.identifier,
                "type": "function",
                "function": {"name": call.name, "arguments": _sendable(call.arguments)},
            }
            for call in answer.calls
        ]
    return message


def _sendable(arguments: str) -> str:
    """``arguments`` as a JSON object: servers whose template parses them refuse anything else."""
    try:
        whole = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        whole = None
    return arguments or "{}" if isinstance(whole, dict) else json.dumps({"not_valid_json": arguments})
