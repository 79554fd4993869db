"""Inquiry: asks all questions, several at a time, each within its own time."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from runner.engine.preflight.question import Line, Question
from runner.errors import HarnessmarkError
from runner.providers.checks import Check, CheckState

AT_ONCE = 6
LOOK_SECONDS = 0.2

Progress = Callable[[int, int, Sequence[str]], None]
"""Told how many questions are answered, how many there are, and which subjects are being asked."""


@dataclass
class _Asked:
    """A question on its way. The thread adds to ``checks``; who gave it up looks no more."""

    question: Question
    began: float
    checks: list[Check] = field(default_factory=list)
    failure: BaseException | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Keep what went wrong for the one who waits: a thread has nobody to tell."""
        self.failure = failure
        return True

    def lines(self) -> list[Line]:
        """What was found so far."""
        return [Line(self.question.subject, check) for check in list(self.checks)]


def inquire(
    questions: Sequence[Question], progress: Progress = lambda *_: None, *, at_once: int = AT_ONCE
) -> list[Line]:
    """Every line, in the order of the questions.

    A question that takes longer than it may is given up: its thread is left behind and ends with the
    process. A failure that a question explains is a line of its own; any other one is raised here.
    """
    waiting = deque(range(len(questions)))
    asked: dict[int, _Asked] = {}
    open_now: set[int] = set()
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    lines: dict[int, list[Line]] = {}
    while waiting or open_now:
        while waiting and len(open_now) < at_once:
            number = waiting.popleft()
            asked[number] = _Asked(questions[number], time.monotonic())
            open_now.add(number)
            threading.Thread(target=_ask, args=(number, asked[number], done), daemon=True).start()
        progress(len(lines), len(questions), [questions[number].subject for number in sorted(open_now)])
        for number in _ended(done, open_now, asked):
            open_now.discard(number)
            lines[number] = _outcome(asked[number])
    progress(len(lines), len(questions), [])
    return [line for number in sorted(lines) for line in lines[number]]


def _ask(number: int, asked: _Asked, done: queue.SimpleQueue[int]) -> None:
    with asked:
        for check in asked.question.ask():
            asked.checks.append(check)
    done.put(number)


def _ended(done: queue.SimpleQueue[int], open_now: set[int], asked: dict[int, _Asked]) -> list[int]:
    """The question that is answered next, or those whose time is up; none after a short while."""
    try:
        number = done.get(timeout=LOOK_SECONDS)
    except queue.Empty:
        now = time.monotonic()
        late = [each for each in open_now if now - asked[each].began > asked[each].question.seconds]
        for each in late:
            asked[each].failure = HarnessmarkError(
                f"no answer within {asked[each].question.seconds:g} seconds", remedy="invoke preflight"
            )
        return late
    return [number] if number in open_now else []


def _outcome(asked: _Asked) -> list[Line]:
    lines, failure = asked.lines(), asked.failure
    if isinstance(failure, HarnessmarkError):
        where = f" ({failure.where})" if failure.where else ""
        found = Check("answer", CheckState.FAIL, failure.what + where, failure.remedy)
        return [*lines, Line(asked.question.subject, found)]
    if failure is not None:
        raise failure
    return lines
