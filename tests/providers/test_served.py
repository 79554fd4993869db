"""Served models: the asked one is there, or the names that come near are offered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.providers.checks import CheckState
from runner.providers.served import near_names, served_check, served_ids


@pytest.mark.parametrize(
    ("asked", "served", "fix"),
    [
        ("qwen3-coder", ["Qwen/Qwen3-Coder-30B", "other"], "--model Qwen/Qwen3-Coder-30B"),
        ("gpt-oss-120B", ["openai/gpt-oss-120b"], "--model openai/gpt-oss-120b"),
        ("claude-sonet-4-5", ["claude-sonnet-4-5", "claude-haiku-4-5"], "--model claude-sonnet-4-5"),
        ("vendor/exact", ["other/exact"], "--model other/exact"),
        ("a", ["entirely different"], "--model 'entirely different'"),
        ("a", ["b-one", "c-two"], "name one of them with --model"),
        ("a", [], "load a model in it, then run again"),
    ],
)
def test_a_model_that_is_not_served_fails_with_the_nearest_name(
    asked: str, served: list[str], fix: str
) -> None:
    check = served_check(asked, served)
    assert (check.state, check.fix) == (CheckState.FAIL, fix)


def test_a_served_model_passes_as_it_is_spelt_and_not_in_another_case() -> None:
    assert served_check("M", ["M"]).state is CheckState.PASS
    assert served_check("m", ["M"]).state is CheckState.FAIL


def test_a_pattern_of_a_proxy_covers_what_falls_under_it() -> None:
    assert served_check("openai/gpt-x", ["openai/*"]).state is CheckState.PASS
    assert served_check("anthropic/c", ["openai/*"]).state is CheckState.FAIL


def test_a_long_list_is_cut_and_counted() -> None:
    found = served_check("nothing-alike", [f"model-number-{number}" for number in range(20)]).found
    assert "model-number-7 and 12 more" in found


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ({"data": [{"id": "a"}, {"id": "a"}, {"id": 3}, "x", {}]}, ("a",)),
        ({"data": []}, ()),
        ({"data": {"id": "a"}}, None),
        ({"models": []}, None),
        ([], None),
        (None, None),
        ("text", None),
    ],
)
def test_only_a_list_of_models_is_read_as_one(body: object, ids: tuple[str, ...] | None) -> None:
    assert served_ids(body) == ids


@given(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=30), max_size=8))
def test_whatever_is_asked_and_served_only_served_names_are_offered(asked: str, served: list[str]) -> None:
    near = near_names(asked, served)
    assert len(near) <= 3
    assert set(near) <= set(served)
    check = served_check(asked, served)
    assert check.found.isprintable()
    assert check.state is CheckState.PASS or check.fix
