"""Hearings: an invalid answer is asked again with its fault, at most twice; a failing judge is no answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from runner.judges.base import Reply
from runner.judges.brief import Brief
from runner.judges.hearing import ANSWERS, JudgeFailed, Ruling, hear
from tests.judges.made import answer, brief, document, points

WRONG_SUM = json.dumps(document({"implementation": points(19, 14, 22, 20, total=76)}, 76))
FAULT = "scores.implementation.total is 76, its criteria add up to 75"


class Bench:
    """Answers from a list; keeps what it was asked and what was said of the answers."""

    def __init__(self, replies: Sequence[Reply | str]) -> None:
        self.replies = list(replies)
        self.prompts: list[str] = []
        self.told: list[tuple[int, tuple[str, ...]]] = []

    def ask(self, number: int, prompt: str) -> Reply:
        assert number == len(self.prompts) + 1
        self.prompts.append(prompt)
        reply = self.replies.pop(0)
        return Reply(reply) if isinstance(reply, str) else reply

    def tell(self, number: int, faults: tuple[str, ...]) -> None:
        self.told.append((number, faults))


def heard(*replies: Reply | str, made: Brief | None = None) -> tuple[Ruling, Bench]:
    bench = Bench(replies)
    return hear(made or brief(), bench.ask, bench.tell), bench


def test_a_valid_answer_ends_the_hearing() -> None:
    ruling, bench = heard(answer())
    assert ruling.scores is not None
    assert ruling.scores.task_score == 75.0
    assert bench.prompts == [brief().prompt]
    assert bench.told == [(1, ())]


def test_an_invalid_answer_is_asked_again_with_its_fault_named() -> None:
    ruling, bench = heard(WRONG_SUM, answer(20, 20, 20, 20))
    assert ruling.scores is not None
    assert ruling.scores.task_score == 80.0
    assert bench.told == [(1, (FAULT,)), (2, ())]
    assert FAULT in bench.prompts[1]
    assert WRONG_SUM in bench.prompts[1]
    assert bench.prompts[1].startswith(brief().prompt)


def test_after_the_third_invalid_answer_there_is_no_score() -> None:
    ruling, bench = heard("75 points", "{}", WRONG_SUM, answer())
    assert ruling.scores is None
    assert ruling.faults == (FAULT,)
    assert len(bench.prompts) == ANSWERS == 3
    assert len(bench.replies) == 1


def test_no_last_word_is_an_empty_answer() -> None:
    ruling, bench = heard(Reply(None), answer())
    assert ruling.scores is not None
    assert bench.told[0] == (1, ("the answer is empty",))


def test_an_answer_that_was_cut_is_asked_for_more_briefly() -> None:
    _, bench = heard(Reply(answer()[:50], cut="length"), answer())
    assert bench.told[0][1][0] == "the answer was cut before its end (length); be briefer"


def test_a_judge_that_fails_has_not_answered() -> None:
    bench = Bench([WRONG_SUM, Reply(None, error="no route to host")])
    with pytest.raises(JudgeFailed, match="no route to host"):
        hear(brief(), bench.ask, bench.tell)
    assert bench.told == [(1, (FAULT,))]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_answers_that_were_paid_for_are_not_asked_for_again(count: int) -> None:
    earlier = [(WRONG_SUM, None)] * count
    asked: list[int] = []

    def ask(number: int, prompt: str) -> Reply:
        asked.append(number)
        assert (FAULT in prompt) is (count > 0)
        return Reply(answer())

    ruling = hear(brief(), ask, lambda *_: None, earlier)
    assert ruling.scores is not None
    assert asked == [count + 1]


EARLIER = [(WRONG_SUM, None), (answer(), None)]
FOUR = [("a", None), (None, None), ("c", None), ("d", None)]


def test_a_valid_answer_of_an_earlier_runner_ends_the_hearing_without_a_question() -> None:
    ruling = hear(brief(), lambda *_: pytest.fail("it was asked"), lambda *_: None, EARLIER)
    assert ruling.scores is not None


def test_three_answers_of_an_earlier_runner_are_all_that_is_allowed() -> None:
    ruling = hear(brief(), lambda *_: pytest.fail("it was asked"), lambda *_: None, FOUR)
    assert ruling.scores is None
