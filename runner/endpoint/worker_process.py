"""Worker process: asks what another process hands it, stamps what comes, and gives it back unread."""

from __future__ import annotations

import asyncio
import os
import time
from typing import BinaryIO

from runner.endpoint.breaker import CircuitBreaker
from runner.endpoint.client import StreamClient
from runner.endpoint.garbage import without_collection
from runner.endpoint.loops import run
from runner.endpoint.result import Outcome
from runner.endpoint.worker_words import (
    LENGTH,
    Asked,
    Came,
    End,
    Ended,
    GivenUp,
    Opening,
    Ready,
    Shut,
    Word,
    framed,
    heard,
    unframed,
)
from runner.errors import HarnessmarkError


class _Told(CircuitBreaker):
    """Opens only when the process that sees all outcomes says so."""

    def observe(self, outcome: Outcome, status: int | None = None) -> None:
        """Not decided here."""


class _Serving:
    """One worker at work."""

    def __init__(
        self,
        client: StreamClient,
        breaker: CircuitBreaker,
        writer: asyncio.WriteTransport,
        group: asyncio.TaskGroup,
    ) -> None:
        self._client = client
        self._group = group
        self._breaker = breaker
        self._writer = writer
        self._at_work: dict[int, asyncio.Task[None]] = {}

    def say(self, word: Word) -> None:
        """Never waits: a slow listener must not hold up what is measured."""
        self._writer.write(framed(word))

    async def hear(self, reader: asyncio.StreamReader) -> bool:
        """Do as told until the end; whether there was one, or the other side was lost."""
        while True:
            word = await heard(reader)
            if isinstance(word, Asked):
                self._at_work[word.number] = self._group.create_task(self._answer(word))
            elif isinstance(word, GivenUp):
                task = self._at_work.pop(word.number, None)
                if task is not None:
                    task.cancel()
            elif isinstance(word, Shut):
                self._breaker.reason = word.reason
            else:
                return isinstance(word, End)

    def give_up(self) -> None:
        """Close what is still open."""
        for task in self._at_work.values():
            task.cancel()

    async def _answer(self, asked: Asked) -> None:
        try:
            exchange = await self._client.exchange(asked.request)
        except HarnessmarkError as error:
            self.say(Came(asked.number, None, error))
        else:
            # The request went through the pipe once; it need not go back.
            exchange.request = exchange.request.model_copy(update={"messages": ()})
            self.say(Came(asked.number, exchange))
        finally:
            self._at_work.pop(asked.number, None)


async def _serve(opening: Opening, source: BinaryIO, sink: BinaryIO) -> None:
    loop, reader, breaker = asyncio.get_running_loop(), asyncio.StreamReader(), _Told()
    listening, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sink)
    try:
        with without_collection():
            async with StreamClient(
                opening.address,
                slots=opening.slots,
                transport=opening.transport,
                breaker=breaker,
                pace_seconds=opening.pace_seconds,
            ) as client:
                begun_cpu, begun_ns = time.process_time(), time.perf_counter_ns()
                # A fault of ours in one answer ends the process: nobody may wait for an answer for ever.
                async with asyncio.TaskGroup() as group:
                    serving = _Serving(client, breaker, writer, group)
                    serving.say(Ready())
                    ended = await serving.hear(reader)
                    serving.give_up()
                if ended:
                    lag = client.lag.largest_ms_since(begun_ns)
                    serving.say(Ended(time.process_time() - begun_cpu, lag))
    finally:
        listening.close()
        writer.close()


def main() -> None:
    """Take the opening from standard input, serve, and end when it is closed."""
    source, sink = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    # Whatever is printed must not get among the words.
    os.dup2(2, 1)
    head = _exactly(source, LENGTH.size)
    said = _exactly(source, LENGTH.unpack(head)[0]) if head else b""
    opening = unframed(said) if said else None
    if isinstance(opening, Opening):
        run(_serve(opening, source, sink), opening.loop)


def _exactly(source: BinaryIO, size: int) -> bytes:
    """So many bytes; none where the other side is gone before."""
    data = b""
    while len(data) < size:
        more = source.read(size - len(data))
        if not more:
            return b""
        data += more
    return data


if __name__ == "__main__":
    main()
