"""Asked: what the requests of a level wanted, held against what the server counted for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

FAR = 0.25
"""A mean that is off by more than this share is not what was asked for."""


@dataclass
class Mean:
    """Requests and the tokens they want together."""

    requests: int = 0
    prompt: int = 0
    output: int = 0

    def add(self, prompt: int, output: int) -> None:
        """One more request."""
        self.requests += 1
        self.prompt += prompt
        self.output += output


@dataclass
class Asked:
    """What was sent in a level, and the part of it that was answered. Safe to use from two threads.

    A prompt counts one token for each word, an answer as many as were asked for.
    """

    sent: Mean = field(default_factory=Mean)
    answered: Mean = field(default_factory=Mean)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def send(self, prompt: int, output: int) -> None:
        """A request goes out."""
        with self._lock:
            self.sent.add(prompt, output)

    def answer(self, prompt: int, output: int) -> None:
        """It was answered."""
        with self._lock:
            self.answered.add(prompt, output)

    def departures(
        self, prompt: float | None, output: float | None, ended: int | None, concurrency: int
    ) -> Iterator[str]:
        """How the server's counts depart from what was asked, in words; nothing where they do not.

        At both ends of a level requests are half counted, so the mean of a request is known between two
        bounds: the tokens over the requests that ended, and over those and ``concurrency`` more. What was
        asked lies between the means of all requests and of the answered ones. Only ranges that stay more
        than 25 % apart depart.

        Args:
            prompt: input tokens that the server counted in the level.
            output: output tokens that it counted.
            ended: requests that it saw end; with none nothing is known.
            concurrency: sessions of the level.
        """
        if not ended:
            return
        with self._lock:
            means = [each for each in (self.sent, self.answered) if each.requests]
            wanted = {
                "prompt": [each.prompt / each.requests for each in means],
                "output": [each.output / each.requests for each in means],
            }
        for name, counted in (("prompt", prompt), ("output", output)):
            if counted is None or not wanted[name]:
                continue
            low, high = counted / (ended + concurrency), counted / ended
            least, most = min(wanted[name]), max(wanted[name])
            if high < least * (1 - FAR) or low > most * (1 + FAR):
                yield f"{high:.0f} {name} tokens a request were counted, {least:.0f} were asked for"
