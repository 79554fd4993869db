"""Judging queue: scores finished trials beside the ones that still run, and waits for the last."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Literal

from runner.engine.spending import Spent
from runner.errors import HarnessmarkError
from runner.records import TrialIdentity
from runner.store import ResultsStore

LOOK_SECONDS = 0.2
JudgeMode = Literal["inline", "async", "skip"]
JudgeTrial = Callable[[TrialIdentity], str | None]
"""Judges one stored trial; None when that went well or nothing was left to do, else what failed."""


@dataclass(frozen=True)
class Judging:
    """How finished trials are judged."""

    judge: JudgeTrial
    is_judged: Callable[[TrialIdentity], bool]
    """Whether the store holds every judgement that is wanted of a trial."""
    mode: JudgeMode = "async"
    concurrency: int = 1
    spent: Callable[[TrialIdentity], Spent] = lambda _: Spent()
    """What the judgements of a trial have cost that are in the store."""


class JudgingQueue:
    """Judges trials as they finish.

    ``inline``: in the worker that ran the trial, before it takes up another one. ``async``: in workers of
    its own, at most ``concurrency`` at a time.

    Args:
        judging: nothing is judged where it is None or its mode is ``skip``.
        news: called, from any thread, whenever the number of trials that wait has changed.
        bill: told, from any thread, what judging a trial has cost by now.
        refusal: asked before each trial; why none is to be judged any more, or None.
    """

    def __init__(
        self,
        judging: Judging | None,
        news: Callable[[JudgingQueue], None],
        *,
        bill: Callable[[TrialIdentity, Spent], None] = lambda *_: None,
        refusal: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._judging = None if judging is None or judging.mode == "skip" else judging
        self._news, self._bill, self._refusal = news, bill, refusal
        self._lock = threading.Lock()
        self._asked: set[tuple[str, ...]] = set()
        self._futures: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(judging.concurrency if judging else 1, "judging")
        self.waiting = 0
        self.failed: dict[str, str] = {}
        """What failed, by the trial's path."""

    @property
    def inline(self) -> bool:
        """Whether the worker of a trial judges it."""
        return self._judging is not None and self._judging.mode == "inline"

    def lacks(self, identity: TrialIdentity) -> bool:
        """Whether a finished trial is still to be judged; asked once for each."""
        if self._judging is None or identity.key in self._asked:
            return False
        self._bill(identity, self._judging.spent(identity))
        if self._judging.is_judged(identity):
            return False
        self._asked.add(identity.key)
        return True

    def lacks_stored(self, identity: TrialIdentity, store: ResultsStore) -> bool:
        """As :meth:`lacks`, of a trial that may have come to nothing."""
        return store.has_trial(identity) and self.lacks(identity)

    def put(self, identity: TrialIdentity) -> None:
        """Judge a finished trial in a worker of the queue, unless it is judged."""
        if self.lacks(identity):
            self._count(+1)
            self._futures.append(self._pool.submit(self._judge, identity))

    def judge_here(self, identity: TrialIdentity) -> None:
        """Judge a trial that :meth:`lacks` it, in this thread."""
        self._count(+1)
        self._judge(identity)

    def close(self, *, give_up: Callable[[], bool]) -> None:
        """Wait for what is left; where ``give_up`` says so, only for what a judge is at work on.

        Raises:
            Exception: a judge failed in a way that is nobody's but ours.
        """
        try:
            pending = set(self._futures)
            while pending:
                if give_up():
                    dropped = {future for future in pending if future.cancel()}
                    pending -= dropped
                    self._count(-len(dropped))
                _, pending = wait(pending, LOOK_SECONDS)
            for future in self._futures:
                if not future.cancelled():
                    future.result()
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _judge(self, identity: TrialIdentity) -> None:
        if self._judging is None:
            return
        refusal = self._refusal()
        reason = refusal and f"{refusal}; invoke judge judges it all the same"
        try:
            reason = reason or self._judging.judge(identity)
            self._bill(identity, self._judging.spent(identity))
        except (HarnessmarkError, OSError) as error:
            reason = " ".join(str(error).split())
        if reason is not None:
            with self._lock:
                self.failed["/".join(identity.key)] = reason
        self._count(-1)

    def _count(self, by: int) -> None:
        with self._lock:
            self.waiting += by
        self._news(self)
