"""Selectors: which mappings a user means."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.request import Protocol
from runner.endpoint.selectors import reference_of, select, split_list
from runner.endpoint.target import MappingEntry, Target
from runner.endpoint.targets import Catalogue
from runner.errors import UsageError

DAY = date(2026, 1, 31)


def made(model: str, provider: str, region: str | None = None) -> Target:
    entry = MappingEntry(
        provider=provider,
        region=region,
        model_id=model,
        protocol=Protocol.CHAT_COMPLETIONS,
        base_url="https://api.example.org/v1",
        source="a test",
        checked_on=DAY,
    )
    return Target(model, model.title(), entry)


CATALOGUE = Catalogue(
    [
        made("lamp", "acme"),
        made("lamp", "acme", "eu"),
        made("lamp", "acme", "us"),
        made("lamp", "bolt", "us"),
        made("torch", "bolt"),
    ]
)


def chosen(models: list[str], *selectors: str) -> list[str]:
    return [f"{target.model}@{target.label}" for target in select(CATALOGUE, models, selectors, on=DAY)]


@pytest.mark.parametrize(
    ("selectors", "labels"),
    [
        ((), ["acme", "acme:eu", "acme:us", "bolt:us"]),
        (("*",), ["acme", "acme:eu", "acme:us", "bolt:us"]),
        (("acme",), ["acme"]),
        (("acme:eu",), ["acme:eu"]),
        (("acme:*",), ["acme:eu", "acme:us"]),
        (("bolt:us, acme",), ["acme", "bolt:us"]),
        (("acme:eu", "acme:*", "acme:eu"), ["acme:eu", "acme:us"]),
        ((" acme:eu ,, ",), ["acme:eu"]),
    ],
)
def test_selectors_mean_what_they_say(selectors: tuple[str, ...], labels: list[str]) -> None:
    assert chosen(["lamp"], *selectors) == [f"lamp@{label}" for label in labels]


def test_several_models_are_taken_one_after_the_other() -> None:
    assert chosen(["torch,lamp"], "bolt", "bolt:us") == ["torch@bolt", "lamp@bolt:us"]


def test_all_selectors_that_match_nothing_are_named_with_hints() -> None:
    with pytest.raises(UsageError) as caught:
        chosen(["lamp"], "acme", "acmee", "bolt", "*:us", "bolt:eu")
    said = str(caught.value)
    assert "'acmee' (did you mean acme" in said
    assert "'bolt' (its mappings have regions: bolt:us, or bolt:*)" in said
    assert "'*:us'" in said
    assert "'acme'" not in said.split("what to do")[0]


def test_a_selector_needs_to_match_in_one_model_only() -> None:
    assert chosen(["lamp", "torch"], "bolt") == ["torch@bolt"]


@pytest.mark.parametrize(
    ("models", "said"), [([], "no model"), ([" , "], "no model"), (["lmap"], "did you mean lamp")]
)
def test_a_model_must_be_given_and_known(models: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        chosen(models)


def test_the_reference_is_the_first_or_the_one_that_is_named() -> None:
    targets = select(CATALOGUE, ["lamp", "torch"], on=DAY)
    assert reference_of(None, targets).label == "acme"
    assert reference_of("acme:us", targets).label == "acme:us"
    assert reference_of("bolt/torch", targets).model == "torch"
    with pytest.raises(UsageError, match="did you mean acme:us"):
        reference_of("acme:uss", targets)
    doubled = (*targets, made("torch", "acme"))
    with pytest.raises(UsageError, match="several"):
        reference_of("acme", doubled)


@given(st.lists(st.text(max_size=12), max_size=4))
def test_no_selector_breaks_the_choice(selectors: list[str]) -> None:
    try:
        found = select(CATALOGUE, ["lamp"], selectors, on=DAY)
    except UsageError:
        return
    assert found


def test_lists_lose_blanks_and_doubles() -> None:
    assert split_list(["a, b", "b,,c "]) == ("a", "b", "c")
