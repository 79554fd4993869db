"""The server's count of prompt tokens beside the agent's: what is missing is named where it can be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.prompt_reconciliation import prompt_tokens, prompt_warning, reconcile
from runner.records import CacheSemantics, SemanticsDecision, ServerWindow, Usage

COUNTS = st.integers(0, 10**9)


def window(prompt: int | None, *, shared: bool = False) -> ServerWindow:
    because = "somebody else" if shared else None
    return ServerWindow(
        shared=shared, shared_because=because, agents_at_once=1, seconds=1.0, prompt_tokens=prompt
    )


def usage(
    read: int | None, fresh: int | None = 100, semantics: CacheSemantics = CacheSemantics.DISJOINT
) -> Usage:
    return Usage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=0,
        cache_semantics=semantics,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )


def test_missing_tokens_are_named_with_their_share() -> None:
    warning = prompt_warning(window(1000), usage(800))
    assert warning is not None
    assert warning.code == "prompt-tokens-unaccounted"
    assert "100 (10.0%)" in warning.text


@pytest.mark.parametrize("server", [900, 947, 0])
def test_a_difference_of_at_most_a_twentieth_is_reconciled(server: int) -> None:
    assert prompt_warning(window(server), usage(800)) is None


def test_an_agent_that_reports_more_than_the_server_leaves_nothing_unaccounted() -> None:
    found = reconcile(window(500), usage(800))
    assert found is not None
    assert (found.unaccounted, found.reconciled) == (0, True)


def test_cached_tokens_are_counted_once() -> None:
    assert prompt_tokens(usage(800)) == 900
    assert prompt_tokens(usage(80, semantics=CacheSemantics.PARTITION)) == 100


@pytest.mark.parametrize(
    ("server", "agent"),
    [
        (None, usage(1)),
        (window(None), usage(1)),
        (window(10_000, shared=True), usage(1)),
        (window(10_000), None),
        (window(10_000), usage(None)),
        (window(10_000), usage(1, fresh=None)),
        (window(10_000), usage(1, semantics=CacheSemantics.UNKNOWN)),
    ],
)
def test_nothing_is_said_where_a_side_is_unknown_or_shared(
    server: ServerWindow | None, agent: Usage | None
) -> None:
    assert reconcile(server, agent) is None
    assert prompt_warning(server, agent) is None


@given(COUNTS, COUNTS, COUNTS)
def test_a_warning_is_given_exactly_above_the_tolerance(server: int, fresh: int, read: int) -> None:
    missing = server - fresh - read
    assert (prompt_warning(window(server), usage(read, fresh)) is not None) == (missing * 20 > server)
