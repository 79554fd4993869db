"""Sharing out a context window: the longest answer always fits beside what is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.window import Shares, share_out
from runner.records import Limits


def shares(window: int | None, asked: int | None) -> Shares:
    endpoint = Endpoint("http://h", WireProtocol.MESSAGES, "m", "k", context_window=window)
    return share_out(endpoint, Limits(max_output_tokens=asked))


@pytest.mark.parametrize(
    ("window", "asked", "prompt", "answer"),
    [
        (None, None, 168_000, 32_000),
        (65_536, None, 49_152, 16_384),
        (65_536, 32_000, 33_536, 32_000),
        (16_000, 32_000, 8000, 8000),
        (400_000, 9000, 391_000, 9000),
    ],
)
def test_the_answer_takes_what_was_asked_for_or_a_quarter(
    window: int | None, asked: int | None, prompt: int, answer: int
) -> None:
    found = shares(window, asked)
    assert (found.prompt, found.answer) == (prompt, answer)


@given(window=st.integers(2, 10**7), asked=st.none() | st.integers(1, 10**7))
def test_neither_share_is_ever_empty_and_together_they_are_the_window(window: int, asked: int | None) -> None:
    found = shares(window, asked)
    assert found.answer >= 1
    assert found.prompt >= window // 2
    assert found.prompt + found.answer == window
