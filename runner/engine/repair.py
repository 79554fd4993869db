"""Repair: whether a trial goes on after an invocation, and how: the cheap way before the dear one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from runner.engine.failure import Failure
from runner.records import InvocationKind, Outcome

DESIGN = frozenset({"lld.md", "patch.diff"})
"""What is dear to make. While one of these is there, nothing is made anew."""
RETRIED = frozenset({Outcome.MODEL_ERROR, Outcome.INFRASTRUCTURE, Outcome.INCOMPLETE})


@dataclass(frozen=True)
class Allowance:
    """How many repairs are left."""

    top_ups: int
    retries: int

    def less(self, ended: Iterable[InvocationKind]) -> Allowance:
        """The allowance after the invocations of a trial that ended by themselves.

        One of them was its first, whatever it is called: where the runner was killed before an agent had
        ended, the next start is a retry by name, and uses up none.
        """
        count = Counter(ended)
        starts = count[InvocationKind.FIRST] + count[InvocationKind.RETRY]
        return Allowance(self.top_ups - count[InvocationKind.TOP_UP], self.retries - max(starts - 1, 0))


def next_repair(
    outcome: Outcome,
    present: Collection[str],
    wanted: Collection[str],
    failure: Failure,
    allowance: Allowance,
) -> InvocationKind | None:
    """The kind of the next invocation, or None when the trial ends here.

    Args:
        outcome: of the last invocation.
        present: artifacts that are there, from any invocation so far.
        wanted: all artifacts of the contract.
        failure: class of the error that the last one ended with.
        allowance: what the settings leave.

    A design that is there is completed, never made again (T-19, T-20). Without one, a new start follows,
    unless a limit ended the last invocation, as the same limit would end the next one, or the error is
    one that comes back: a full context, a refused key, an invalid request (T-15).
    """
    if outcome not in RETRIED or failure.fatal or set(wanted) <= set(present):
        return None
    if DESIGN & set(present):
        return InvocationKind.TOP_UP if allowance.top_ups > 0 else None
    return InvocationKind.RETRY if allowance.retries > 0 else None
