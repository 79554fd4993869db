"""Client: asks the model, tries again where that can help, and says why it gave up."""

from __future__ import annotations

import email.utils
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx

from runner.harnesses.loop_agent.answer import Answer, Assembler, BrokenAnswer, RefusedInStream, error_text
from runner.harnesses.loop_agent.job import Patience

MAX_ANSWER_BYTES = 16_000_000
MAX_ERROR_BYTES = 100_000
CONNECT_SECONDS = 20.0
RETRIED_STATUS = {408, 409, 425, 429}
CONTEXT_WORDS = re.compile(
    r"context.?length|context window|maximum context|prompt is too long|too many (?:input )?tokens"
    r"|input is too long|exceeds? the (?:model'?s )?(?:maximum )?(?:context|number of tokens)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Trouble:
    """Why a request gave no answer."""

    kind: str
    text: str
    status: int | None = None
    retry_after: float | None = None
    usage_lost: bool = False
    """The server had begun an answer, or was asked and stayed silent: it may have spent tokens."""
    can_retry: bool = True


class GaveUp(Exception):
    """No answer is to be had. ``kind`` is ``model-error``, ``context-length`` or ``time``."""

    def __init__(self, kind: str, trouble: Trouble) -> None:
        super().__init__(trouble.text)
        self.kind = kind
        self.trouble = trouble


@dataclass(frozen=True)
class Client:
    """A Chat Completions endpoint. Transport, clock and sleep are arguments."""

    http: httpx.Client
    url: str
    patience: Patience
    deadline: float | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def ask(
        self,
        body: dict[str, object],
        on_attempt: Callable[[int], None],
        on_retry: Callable[[int, Trouble, float], None],
    ) -> Answer:
        """The model's answer to ``body``.

        Args:
            on_attempt: is told the number of each request before it is sent.
            on_retry: is told (number of the failed request, why, seconds until the next one).

        Raises:
            GaveUp: the error is final, or the attempts or the time are used up.
        """
        for attempt in range(1, self.patience.attempts + 1):
            on_attempt(attempt)
            result = self._attempt(body)
            if isinstance(result, Answer):
                return result
            if self._left() == 0.0:
                raise GaveUp("time", result)
            if not result.can_retry:
                raise GaveUp("context-length" if CONTEXT_WORDS.search(result.text) else "model-error", result)
            if attempt == self.patience.attempts:
                raise GaveUp("model-error", result)
            wait = self._wait(attempt, result)
            left = self._left()
            if left is not None and wait >= left:
                raise GaveUp("time", result)
            on_retry(attempt, result, wait)
            self.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - self.clock())

    def _wait(self, attempt: int, trouble: Trouble) -> float:
        jitter = random.uniform(0.75, 1.25)  # noqa: S311 - spreads retries, no secret
        backoff = self.patience.base_seconds * 2.0 ** (attempt - 1) * jitter
        return min(max(backoff, trouble.retry_after or 0.0), self.patience.cap_seconds)

    def _timeout(self) -> httpx.Timeout:
        left = self._left()
        seconds = self.patience.silence_seconds if left is None else min(self.patience.silence_seconds, left)
        seconds = max(seconds, 0.05)
        return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))

    def _attempt(self, body: dict[str, object]) -> Answer | Trouble:
        begun = False
        try:
            with self.http.stream("POST", self.url, json=body, timeout=self._timeout()) as response:
                if response.status_code != 200:
                    return _refusal(response)
                begun = True
                return self._read(response)
        except RefusedInStream as error:
            final = CONTEXT_WORDS.search(str(error)) is not None
            return Trouble("refused", str(error), usage_lost=True, can_retry=not final)
        except BrokenAnswer as error:
            return Trouble("broken-answer", str(error), usage_lost=True)
        except httpx.TimeoutException as error:
            # Whoever was asked and is silent may have worked, and bills for it.
            lost = begun or isinstance(error, httpx.ReadTimeout)
            return Trouble("silence", f"no answer in time ({type(error).__name__})", usage_lost=lost)
        except httpx.TransportError as error:
            kind = "broken-answer" if begun else "connection"
            return Trouble(kind, f"{type(error).__name__}: {error}", usage_lost=begun)
        except (httpx.InvalidURL, httpx.HTTPError) as error:
            return Trouble("request", f"{type(error).__name__}: {error}", can_retry=False)

    def _read(self, response: httpx.Response) -> Answer:
        assembler = Assembler()
        if "json" in response.headers.get("content-type", ""):
            try:
                whole = json.loads(b"".join(self._bounded(response.iter_bytes())))
            except (ValueError, RecursionError):
                raise BrokenAnswer("the answer is no JSON") from None
            if not isinstance(whole, dict):
                raise BrokenAnswer("the answer is no JSON object")
            assembler.take_object(whole)
            return assembler.result()
        for line in _lines(self._bounded(response.iter_bytes())):
            if line.startswith("data:"):
                assembler.take(line[5:].strip())
            if assembler.done:
                break
        return assembler.result()

    def _bounded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """``pieces`` until the answer is too large or the time is up, which a trickle would get around."""
        total = 0
        for piece in pieces:
            total += len(piece)
            if total > MAX_ANSWER_BYTES:
                raise BrokenAnswer(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
            if self._left() == 0.0:
                raise BrokenAnswer("time is up in the middle of an answer")
            yield piece


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Lines ended by CR, LF or both. Unlike ``str.splitlines`` nothing else ends a line."""
    rest = b""
    for piece in pieces:
        *whole, rest = re.split(rb"\r\n|\n|\r(?!$)", rest + piece)
        for line in whole:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def _refusal(response: httpx.Response) -> Trouble:
    data = b""
    for piece in response.iter_bytes():
        data += piece
        if len(data) > MAX_ERROR_BYTES:
            break
    try:
        text = error_text(json.loads(data))
    except (ValueError, RecursionError):
        text = data[:500].decode(errors="replace")
    status = response.status_code
    too_long = CONTEXT_WORDS.search(text) is not None
    return Trouble(
        kind="status",
        text=f"HTTP {status}: {text}",
        status=status,
        retry_after=_retry_after(response.headers.get("retry-after")),
        can_retry=not too_long and (status in RETRIED_STATUS or status >= 500),
    )


def _retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header, which holds a number or a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(value)) if float(value) < float("inf") else None
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
