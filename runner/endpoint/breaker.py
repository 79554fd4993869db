"""CircuitBreaker: when to stop asking an endpoint that only fails."""

from __future__ import annotations

from collections import deque
from http import HTTPStatus

from runner.endpoint.result import Outcome

NOT_ITS_FAULT = frozenset({Outcome.CANCELLED, Outcome.SKIPPED_BUDGET, Outcome.HARNESS_ERROR})
NOT_LET_IN = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
"""What a wrong key or address is answered with, however often it is tried."""
FINE = frozenset({Outcome.OK, Outcome.LENGTH, Outcome.REFUSED})


class CircuitBreaker:
    """Opens for good on too many failures; who asks decides what to do then.

    Args:
        window: how many of the newest requests the ratio is taken over; before as many were made, it is
            never open for their sake.
        ratio: share of failures from which it opens.
        refusals: failed connections in a row, or answers that the key or the address is wrong, from which
            it opens: a gateway that is not there is no property of a model.
    """

    def __init__(self, window: int = 20, ratio: float = 0.5, refusals: int = 5) -> None:
        self._recent: deque[bool] = deque(maxlen=window)
        self._ratio = ratio
        self._refusals = refusals
        self._refused_in_a_row = 0
        self._kept_out_in_a_row = 0
        self.reason: str | None = None
        """Why it is open; None while it is closed."""

    def observe(self, outcome: Outcome, status: int | None = None) -> None:
        """Take one outcome into account, with the HTTP status where there was one."""
        if outcome in NOT_ITS_FAULT or self.reason is not None:
            return
        refused = outcome is Outcome.CONNECT_ERROR
        self._refused_in_a_row = self._refused_in_a_row + 1 if refused else 0
        self._kept_out_in_a_row = self._kept_out_in_a_row + 1 if status in NOT_LET_IN else 0
        self._recent.append(outcome not in FINE)
        failed = sum(self._recent)
        if self._refused_in_a_row >= self._refusals:
            self.reason = f"{self._refused_in_a_row} connections in a row failed: nobody is there"
        elif status is not None and self._kept_out_in_a_row >= self._refusals:
            self.reason = (
                f"{self._kept_out_in_a_row} answers in a row were {status} {HTTPStatus(status).phrase}: "
                "check the key and the address"
            )
        elif len(self._recent) == self._recent.maxlen and failed >= self._ratio * len(self._recent):
            self.reason = f"{failed} of the last {len(self._recent)} requests failed"
