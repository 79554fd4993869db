"""Hearing: a question put to a judge, and put again, with the fault named, where the answer is not valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runner.judges.answer import InvalidAnswer, Scores, read_answer
from runner.judges.base import Reply
from runner.judges.brief import Brief

ANSWERS = 3
"""How often a judge may answer: the first time, and twice more with the fault named."""
CUT = "the answer was cut before its end ({reason}); be briefer"


class JudgeFailed(Exception):
    """The judge gave no answer at all: says nothing about the trial, which stays without a judgement."""


@dataclass(frozen=True)
class Ruling:
    """How a hearing ended: with scores, or with the faults of the last answer."""

    scores: Scores | None
    faults: tuple[str, ...]


Ask = Callable[[int, str], Reply]
"""From the number of the answer, counted from 1, and the prompt to a reply."""


def hear(
    brief: Brief,
    ask: Ask,
    told: Callable[[int, tuple[str, ...]], None],
    earlier: Sequence[tuple[str | None, str | None]] = (),
) -> Ruling:
    """Ask until an answer is valid, at most ``ANSWERS`` times in all.

    Args:
        brief: the question.
        ask: puts a prompt to the judge.
        told: hears of each answer and its faults, before the next question.
        earlier: answers that an interrupted runner had got already, each with why it was cut, where it was;
            they are not asked for again.

    Raises:
        JudgeFailed: the judge failed; what it had answered before is not lost to the caller.
    """
    prompt = brief.prompt
    faults: tuple[str, ...] = ("nothing was asked",)
    for number in range(1, ANSWERS + 1):
        if number <= len(earlier):
            answer, cut = earlier[number - 1]
        else:
            reply = ask(number, prompt)
            if reply.error is not None:
                raise JudgeFailed(reply.error)
            answer, cut = reply.answer, reply.cut
        scores, faults = read(brief, answer, cut)
        told(number, faults)
        if scores is not None:
            return Ruling(scores, ())
        prompt = brief.again(answer or "", faults)
    return Ruling(None, faults)


def read(brief: Brief, answer: str | None, cut: str | None = None) -> tuple[Scores | None, tuple[str, ...]]:
    """The scores in ``answer``, or its faults."""
    try:
        found = read_answer(answer or "", brief.asked, task=brief.task_id, candidate=brief.sealing.candidate)
    except InvalidAnswer as invalid:
        more = (CUT.format(reason=cut),) if cut else ()
        return None, (*more, *invalid.faults)
    return found, ()
