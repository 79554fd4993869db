"""Inquiry: everything is asked, nothing waits for what hangs, and a fault of ours is not swallowed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.engine.preflight.inquiry import inquire
from runner.engine.preflight.question import Question
from runner.errors import ConfigurationError
from runner.providers.checks import Check, CheckState


def passed(name: str) -> Check:
    return Check(name, CheckState.PASS, "fine")


def quick(subject: str) -> Question:
    return Question(subject, lambda: [passed(f"{subject} checked")])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 5))
def test_every_line_comes_once_in_the_order_of_the_questions(counts: list[int], at_once: int) -> None:
    questions = [
        Question(str(number), lambda count=count: [passed(str(each)) for each in range(count)])  # type: ignore[misc]
        for number, count in enumerate(counts)
    ]
    lines = inquire(questions, at_once=at_once)
    expected = [(str(number), str(each)) for number, count in enumerate(counts) for each in range(count)]
    assert [(line.subject, line.check.name) for line in lines] == expected


def test_questions_that_wait_are_asked_at_the_same_time() -> None:
    meeting = threading.Barrier(4)

    def wait() -> list[Check]:
        meeting.wait(60)
        return [passed("met")]

    assert len(inquire([Question(str(number), wait) for number in range(4)], at_once=4)) == 4


def test_what_hangs_is_given_up_and_what_it_had_found_is_kept() -> None:
    never = threading.Event()

    def hang() -> Iterator[Check]:
        yield passed("before")
        never.wait(60)

    began = time.monotonic()
    lines = inquire([Question("stuck", hang, seconds=0.3), quick("other")])
    never.set()
    assert time.monotonic() - began < 50
    assert [line.check.name for line in lines] == ["before", "answer", "other checked"]
    assert lines[1].check.state is CheckState.FAIL
    assert "no answer within 0.3 seconds" in lines[1].check.found


def test_a_stuck_question_does_not_keep_others_from_their_turn() -> None:
    never = threading.Event()

    def hang() -> list[Check]:
        never.wait(30)
        return []

    lines = inquire([Question("stuck", hang, seconds=0.2), quick("next")], at_once=1)
    never.set()
    assert [line.subject for line in lines] == ["stuck", "next"]


def test_an_error_of_the_users_is_a_failed_line_with_its_remedy() -> None:
    def refuse() -> Iterator[Check]:
        yield passed("first")
        raise ConfigurationError("git is gone", where="here", remedy="install it")

    lines = inquire([Question("machine", refuse)])
    assert [line.check.state for line in lines] == [CheckState.PASS, CheckState.FAIL]
    assert (lines[1].check.found, lines[1].check.fix) == ("git is gone (here)", "install it")


def test_a_fault_of_ours_is_raised_where_it_is_waited_for() -> None:
    def break_down() -> list[Check]:
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError, match="ours"):
        inquire([quick("a"), Question("b", break_down)])


def test_progress_says_how_many_are_answered_and_what_is_waited_for() -> None:
    seen: list[tuple[int, int, Sequence[str]]] = []
    progress: Callable[[int, int, Sequence[str]], None] = lambda *told: seen.append(told)  # noqa: E731
    inquire([quick("a"), quick("b")], progress, at_once=1)
    assert seen[0] == (0, 2, ["a"])
    assert seen[-1] == (2, 2, [])
