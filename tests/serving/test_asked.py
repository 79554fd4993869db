"""Counts of a server that depart from what was asked are told, and half-counted requests are no departure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.serving.asked import Asked

sizes = st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 300)), min_size=1, max_size=40)


def asked(*requests: tuple[int, int], waiting: int = 0) -> Asked:
    """Requests of these sizes, of which the last ``waiting`` have no answer yet."""
    found = Asked()
    for number, (prompt, output) in enumerate(requests):
        found.send(prompt, output)
        if number < len(requests) - waiting:
            found.answer(prompt, output)
    return found


def test_seven_prompt_tokens_where_five_hundred_were_asked_for_are_told() -> None:
    told = [*asked(*[(520, 40)] * 100).departures(700, 300, 100, 2)]
    assert told == [
        "7 prompt tokens a request were counted, 520 were asked for",
        "3 output tokens a request were counted, 40 were asked for",
    ]


def test_far_more_than_was_asked_for_is_told_too() -> None:
    (told,) = asked(*[(100, 10)] * 100).departures(10_000, 3_000, 100, 2)
    assert told.startswith("30 output tokens")


@pytest.mark.parametrize(("counted", "departs"), [(76, False), (100, False), (124, False), (74, True)])
def test_only_what_is_beyond_a_quarter_departs(counted: int, departs: bool) -> None:
    found = [*asked(*[(100, 10)] * 1000).departures(counted * 1000, None, 1000, 1)]
    assert bool(found) is departs


@given(sizes, st.integers(0, 5), st.floats(0, 1))
def test_a_server_that_counts_what_was_asked_never_departs_however_a_level_cuts_its_requests(
    requests: list[tuple[int, int]], waiting: int, share: float
) -> None:
    waiting = min(waiting, len(requests) - 1)
    ended = len(requests) - waiting
    counted = [sum(each[kind] for each in requests[:ended]) for kind in (0, 1)]
    # Of the others a part is counted already.
    counted = [
        part + round(share * sum(each[kind] for each in requests[ended:]))
        for kind, part in enumerate(counted)
    ]
    found = asked(*requests, waiting=waiting)
    assert [*found.departures(counted[0], counted[1], ended, max(waiting, 1))] == []


@pytest.mark.parametrize(("prompt", "output", "ended"), [(None, None, 100), (1.0, 1.0, None), (1.0, 1.0, 0)])
def test_what_was_not_counted_does_not_depart(
    prompt: float | None, output: float | None, ended: int | None
) -> None:
    assert [*asked((100, 10)).departures(prompt, output, ended, 1)] == []
    assert [*Asked().departures(1.0, 1.0, 100, 1)] == []
