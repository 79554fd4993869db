"""Traffic: what passed a gateway, counted without looking at any content."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Traffic:
    """Counts of one gateway. Bytes are those of bodies."""

    model_requests: int
    """Requests for a model's answer that were sent on; one that failed or was repeated counts each time."""
    other_requests: int
    """Requests sent on that ask for no answer, such as for the list of models."""
    refused: int
    """Requests that were not sent on: another path, or without the key that was given out."""
    failed: int
    """Requests sent on that the endpoint did not answer or did not answer to the end."""
    statuses: Mapping[int, int]
    bytes_up: int
    bytes_down: int
    failure: str | None
    """Kind of the last failure, such as ``ConnectError``; never its text."""

    @property
    def unanswered(self) -> str | None:
        """That the endpoint answered none of the requests for an answer; None where it may have answered.

        One that keeps silent until the agent gives up has not failed: that may be the model.
        """
        if not self.model_requests or self.statuses or self.failure is None:
            return None
        return f"it answered none of {self.model_requests} requests ({self.failure})"


class Meter:
    """Counts from the gateway's thread, read from any other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._failure: str | None = None

    def request(self, *, for_an_answer: bool) -> None:
        """One request is sent on."""
        self._add("model_requests" if for_an_answer else "other_requests", 1)

    def refusal(self) -> None:
        """One request is not sent on."""
        self._add("refused", 1)

    def failure(self, kind: str) -> None:
        """The endpoint did not answer, or not to the end."""
        with self._lock:
            self._failure = kind
        self._add("failed", 1)

    def status(self, code: int) -> None:
        """The endpoint began to answer."""
        with self._lock:
            self._statuses[code] += 1

    def up(self, size: int) -> None:
        """Bytes went to the endpoint."""
        self._add("bytes_up", size)

    def down(self, size: int) -> None:
        """Bytes came back."""
        self._add("bytes_down", size)

    def activity(self) -> int:
        """A number that grows with every request, answer and byte: for an idle timeout."""
        with self._lock:
            return self._counts.total() + self._statuses.total()

    def read(self) -> Traffic:
        """The counts so far."""
        with self._lock:
            return Traffic(
                model_requests=self._counts["model_requests"],
                other_requests=self._counts["other_requests"],
                refused=self._counts["refused"],
                failed=self._counts["failed"],
                statuses=dict(self._statuses),
                bytes_up=self._counts["bytes_up"],
                bytes_down=self._counts["bytes_down"],
                failure=self._failure,
            )

    def _add(self, name: str, amount: int) -> None:
        with self._lock:
            self._counts[name] += amount
