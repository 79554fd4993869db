"""Judging: whether the judge of a run will answer when there is something to judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from runner.engine.preflight.question import Question
from runner.providers.checks import Check

JUDGE_SECONDS = 120.0


class Judge(Protocol):
    """What the pre-flight must know of a judge."""

    @property
    def name(self) -> str:
        """As the user calls it."""

    def checks(self) -> Iterator[Check]:
        """Whether it is there and answers an agreed word; may cost one small answer of its model."""


def judge_questions(judge: Judge | None) -> list[Question]:
    """A question to the judge, where the run has one."""
    return [] if judge is None else [Question(f"judge {judge.name}", judge.checks, JUDGE_SECONDS)]
