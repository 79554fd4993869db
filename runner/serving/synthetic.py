"""Synthetic load: made-up talks with a model over Chat Completions, so many at a time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from runner.errors import EndpointError
from runner.records import LoadSession, SessionShape, Workload
from runner.serving.asked import Asked
from runner.serving.talks import Talk, talks

PATH = "/chat/completions"
PAUSE_SECONDS = 1.0
"""After a session that failed, so that a server in trouble is not stormed."""
CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 3600.0
"""Longest time between two pieces of an answer: a full server lets requests wait for long."""
END_SECONDS = 10.0
MAX_SAID = 300
STAGGER_SECONDS = 0.05
"""From the start of one slot to that of the next: who comes first is no accident then."""
ROOM_FOR_ROLES = 0.9
"""Of a context window: roles and rare words take tokens of their own."""


@dataclass(frozen=True)
class Target:
    """A model and where it answers. ``base_url`` ends with ``/v1``."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    context_window: int | None = None
    ignore_eos: bool = False
    """Ask for answers of exactly the length wanted; only vLLM and its like know the word."""
    transport: httpx.AsyncBaseTransport | None = field(default=None, repr=False)


@dataclass
class _Going:
    """A session as far as it has come."""

    slot: int
    task: str
    started_at: datetime
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    asked: Asked = field(default_factory=Asked)
    """Of the whole level."""

    def ended(self, status: str, error: str | None = None) -> LoadSession:
        """The record of the session, ended now."""
        told = {name: value for name, value in vars(self).items() if name != "asked"}
        return LoadSession.model_validate(
            {**told, "status": status, "ended_at": _now(), "error": error and error[:MAX_SAID]}
        )


class SyntheticLoad:
    """A load of talks: each slot holds one after the other until :meth:`end`."""

    def __init__(self, target: Target, shape: SessionShape, seed: int, description: str = "") -> None:
        self._target, self._shape, self._seed = target, shape, seed
        self.workload = Workload(
            kind="synthetic-sessions",
            description=description
            or "Made-up talks over Chat Completions; each turn repeats all before it.",
            seed=seed,
            shape=shape,
        )
        self._running: _Running | None = None
        self._asked = Asked()

    def warm_up(self) -> None:
        """One short answer to what all talks begin with.

        Raises:
            EndpointError: there is none.
        """
        talk = next(talks(self._shape, self._seed, "warm-up"))
        going = _Going(0, talk.name, _now())
        try:
            asyncio.run(_warm_up(self._target, talk, going))
        except _TURN_FAULTS as error:
            raise EndpointError(
                f"the model does not answer: {_said(error)}",
                where=self._target.base_url,
                remedy="see that the address ends with /v1, the model is served, and its key is set",
            ) from None

    def begin(self, concurrency: int, seconds: float) -> None:  # noqa: ARG002 - part of the seam
        """Start so many talks at a time."""
        window = self._target.context_window
        most = None if window is None else int(window * ROOM_FOR_ROLES)
        supply = talks(self._shape, self._seed, str(concurrency), most_tokens=most)
        self._running = _Running(self._target, supply, concurrency, self._shape.think_seconds)
        self._asked = self._running.asked
        self._running.start()

    def asked(self) -> Asked:
        """What the requests since :meth:`begin` wanted."""
        return self._asked

    def end(self) -> tuple[LoadSession, ...]:
        """Cut off whoever still talks; every session since :meth:`begin`, by its start."""
        running, self._running = self._running, None
        if running is None:
            return ()
        running.stop()
        return tuple(sorted(running.sessions, key=lambda each: (each.started_at, each.slot)))


class _Running(threading.Thread):
    """The talks of one level, in an event loop of their own."""

    def __init__(self, target: Target, supply: Iterator[Talk], slots: int, think_seconds: float) -> None:
        super().__init__(name="load", daemon=True)
        self._target, self._supply, self._slots, self._think = target, supply, slots, think_seconds
        self.sessions: list[LoadSession] = []
        self.asked = Asked()
        self._loop = asyncio.new_event_loop()
        self._all: asyncio.Task[None] | None = None

    def run(self) -> None:
        """The body of the thread: talk until all are over or cancelled."""
        try:
            self._all = self._loop.create_task(self._everyone())
            self._loop.run_until_complete(asyncio.wait({self._all}))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    def stop(self) -> None:
        """Cancel the talks and wait for the thread's end.

        What ended them before is raised here: a level without its load would be measured as if it had one.
        """
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._cancel)
        self.join(END_SECONDS)
        if self._all is not None and self._all.done() and not self._all.cancelled():
            self._all.result()

    def _cancel(self) -> None:
        if self._all is not None:
            self._all.cancel()

    async def _everyone(self) -> None:
        async with client_for(self._target) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    for number in range(self._slots):
                        group.create_task(self._slot(client, number))
            except BaseExceptionGroup as several:
                raise several.exceptions[0] from None

    async def _slot(self, client: httpx.AsyncClient, slot: int) -> None:
        await asyncio.sleep(slot * STAGGER_SECONDS)
        while True:
            talk = next(self._supply)
            going = _Going(slot, talk.name, _now(), asked=self.asked)
            try:
                await _hold(client, self._target, talk, going, self._think)
            except asyncio.CancelledError:
                self.sessions.append(going.ended("cutoff"))
                raise
            except _TURN_FAULTS as error:
                self.sessions.append(going.ended("error", _said(error)))
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                self.sessions.append(going.ended("ok"))


_TURN_FAULTS = (
    httpx.HTTPError,
    httpx.InvalidURL,
    EndpointError,
    ValueError,
    KeyError,
    TypeError,
    OverflowError,
    RecursionError,
)
"""What a server may bring about that says anything at all."""


def client_for(target: Target) -> httpx.AsyncClient:
    """A client for as many requests at once as come."""
    headers = {"Authorization": f"Bearer {target.api_key}"} if target.api_key else {}
    return httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        trust_env=False,
        transport=target.transport,
    )


async def _warm_up(target: Target, talk: Talk, going: _Going) -> None:
    async with client_for(target) as client:
        await _turn(client, target, _first_messages(talk), 1, going)


async def _hold(
    client: httpx.AsyncClient, target: Target, talk: Talk, going: _Going, think_seconds: float
) -> None:
    """Hold a talk to its end."""
    messages = _first_messages(talk)
    size = talk.shared
    for number, plan in enumerate(talk.turns):
        if number:
            if think_seconds:
                await asyncio.sleep(think_seconds)
            messages.append({"role": "user", "content": talk.said(number)})
        size += plan.words
        going.asked.send(size, plan.output)
        answer = await _turn(client, target, messages, plan.output, going)
        going.asked.answer(size, plan.output)
        size += plan.output
        messages.append({"role": "assistant", "content": answer or "none"})


def _first_messages(talk: Talk) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": talk.instructions()},
        {"role": "user", "content": talk.said(0)},
    ]


async def _turn(
    client: httpx.AsyncClient, target: Target, messages: list[dict[str, str]], output: int, going: _Going
) -> str:
    """Ask for an answer of ``output`` tokens; what was said."""
    body: dict[str, object] = {
        "model": target.model,
        "messages": messages,
        "max_tokens": output,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
    }
    if target.ignore_eos:
        body["ignore_eos"] = True
    said: list[str] = []
    async with client.stream("POST", f"{target.base_url}{PATH}", json=body) as response:
        if response.status_code != 200:
            reply = (await response.aread())[:MAX_SAID].decode("utf-8", "replace")
            raise EndpointError(f"status {response.status_code}: {' '.join(reply.split())}")
        async for event in _events(response):
            if isinstance(usage := event.get("usage"), dict):
                going.input_tokens += _count(usage["prompt_tokens"])
                going.output_tokens += _count(usage["completion_tokens"])
            said += _pieces(event)
    going.turns += 1
    return "".join(said)


def _count(told: Any) -> int:
    number = int(told)
    if number < 0:
        raise EndpointError(f"the stream tells of {number} tokens")
    return number


def _pieces(event: Mapping[str, object]) -> Iterator[str]:
    """What is said in one event."""
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        delta = choice.get("delta") if isinstance(choice, dict) else None
        piece = delta.get("content") if isinstance(delta, dict) else None
        if isinstance(piece, str):
            yield piece


async def _events(response: httpx.Response) -> AsyncIterator[Mapping[str, object]]:
    """The JSON objects of a stream of server-sent events."""
    async for line in response.aiter_lines():
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            # Read on to the end: a connection whose answer was left unread cannot be used again.
            continue
        event = json.loads(data)
        if not isinstance(event, dict):
            raise EndpointError("the stream holds something else than objects")
        if "error" in event:
            raise EndpointError(f"the stream holds an error: {str(event['error'])[:MAX_SAID]}")
        yield event


def _said(error: Exception) -> str:
    text = error.what if isinstance(error, EndpointError) else str(error)
    return " ".join(text.split())[:MAX_SAID] or type(error).__name__


def _now() -> datetime:
    return datetime.now(UTC)
