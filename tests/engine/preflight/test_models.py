"""Models of a run: each place is asked once, windows meet their gates, harnesses must speak its API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.engine.planning import Group, Parts
from runner.engine.preflight.inquiry import inquire
from runner.engine.preflight.models import model_questions
from runner.engine.preflight.prices import price_questions
from runner.engine.resolution import resolve
from runner.engine.settings import RunSettings
from runner.engine.window import RECOMMENDED, SMALLEST, Gate, window_check
from runner.harnesses.endpoint import WireProtocol
from runner.providers.about import About
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.checks import Check, CheckState
from runner.records import Hosting
from tests.engine.standin import HARNESS

PASS, WARN, FAIL = CheckState.PASS, CheckState.WARN, CheckState.FAIL
CHAT, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES

NO_BOOK = Path("no-such-folder")
NOWHERE_NEAR = About("A stand-in.", "", "none")


@dataclass
class Told:
    """A provider whose checks the test decides; notes what it was asked."""

    found: tuple[Check, ...] = (Check("endpoint", PASS, "answers"),)
    protocols: tuple[WireProtocol, ...] = (CHAT, MESSAGES)
    name: str = "told"
    hosting: Hosting = Hosting.UNKNOWN
    demonstration: bool = False
    about: About = NOWHERE_NEAR
    asked: list[tuple[str, tuple[WireProtocol, ...]]] = field(default_factory=list)

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        raise AssertionError("a session was opened where checks suffice")

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        self.asked.append((model, settings.protocols))
        yield from self.found


def group(places: Places, provider: object, **settings: object) -> Group:
    given = {"harness": "loop", "provider": "replay", "model": "m", **settings}
    whole = RunSettings(**given)  # type: ignore[arg-type]
    parts = resolve(whole, places)
    return Group(whole, Parts(**{**vars(parts), "provider": provider}))


def found(groups: list[Group], places: Places) -> list[Check]:
    return [line.check for line in inquire(model_questions(groups, places, {}))]


def windows(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.name == "context window"]


def served(window: int) -> tuple[Check, ...]:
    return (Check("served model", PASS, "m", window=window),)


@pytest.mark.parametrize(
    ("window", "state"),
    [
        (RECOMMENDED, PASS),
        (RECOMMENDED - 1, WARN),
        (SMALLEST, WARN),
        (SMALLEST - 1, FAIL),
        (16_000, FAIL),
        (None, WARN),
    ],
)
def test_windows_are_held_to_the_gates_of_the_specification(window: int | None, state: CheckState) -> None:
    assert (RECOMMENDED, SMALLEST) == (200_000, 64_000)
    check = window_check(window, Gate("m", 16_000))
    assert (check.state, bool(check.fix)) == (state, state is not PASS)


def test_what_is_left_for_the_input_is_told() -> None:
    assert "184000 of them for the input" in window_check(200_000, Gate("m", 16_000)).found


def test_a_small_window_is_taken_where_the_user_says_so_but_never_one_that_an_answer_fills() -> None:
    assert window_check(32_000, Gate("m", 16_000, allow_small=True)).state is WARN
    assert window_check(16_000, Gate("m", 16_000, allow_small=True)).state is FAIL


def test_the_window_that_a_check_found_is_gated_in_its_place(places: Places) -> None:
    [check] = windows(found([group(places, Told(served(32_000)))], places))
    assert (check.state, "at least 64000" in check.found) == (FAIL, True)
    [check] = windows(found([group(places, Told(served(32_000)), allow_small_window=True)], places))
    assert check.state is WARN


def test_a_given_window_counts_and_one_above_the_servers_own_is_warned_of(places: Places) -> None:
    checks = windows(found([group(places, Told(served(131_072)), context_window=262_144)], places))
    assert [check.state for check in checks] == [WARN, PASS]
    assert checks[0].fix == "--context-window 131072"
    [check] = windows(found([group(places, Told(), context_window=200_000)], places))
    assert check.state is PASS


def test_a_window_that_nobody_tells_is_a_warning(places: Places) -> None:
    [check] = windows(found([group(places, Told())], places))
    assert (check.state, check.fix) == (WARN, "--context-window TOKENS")


def test_where_a_path_fails_its_window_is_not_guessed_at(places: Places) -> None:
    refused = Told((Check("endpoint", FAIL, "refused", "start it"),))
    assert [check.name for check in found([group(places, refused)], places)] == ["endpoint"]


def test_a_place_is_asked_once_however_many_cells_share_it(places: Places) -> None:
    told = Told(served(200_000))
    groups = [group(places, told), group(places, told, max_output_tokens=199_999, skill="fix")]
    checks = found(groups, places)
    assert len(told.asked) == 1
    assert len(windows(checks)) == 2


def test_only_the_protocols_that_the_harnesses_would_speak_are_asked_for(places: Places) -> None:
    told = Told(served(200_000))
    found([group(places, told), group(places, told, harness="claude-code")], places)
    assert told.asked == [("m", (CHAT, MESSAGES))]
    other = Told(served(200_000))
    found([group(places, other, harness="claude-code")], places)
    assert other.asked == [("m", (MESSAGES,))]


def test_a_harness_that_cannot_speak_with_the_provider_fails_by_name(places: Places) -> None:
    told = Told(served(200_000), protocols=(CHAT,))
    checks = found([group(places, told, harness="loop,claude-code")], places)
    [failed] = [check for check in checks if check.state is FAIL]
    assert failed.found.startswith("claude-code speaks messages")
    assert "told offers chat-completions" in failed.found


def prices(group_of: Group) -> Check:
    [line] = inquire(price_questions([group_of], NO_BOOK))
    return line.check


def test_an_unknown_price_is_a_warning_until_dollars_are_to_be_kept(places: Places) -> None:
    assert prices(group(places, Told())).state is WARN
    for flag in ("budget_usd", "cell_budget_usd"):
        check = prices(group(places, Told(), **{flag: 5}))
        assert check.state is FAIL
        assert "--price-input" in check.fix
        assert "--" + flag.replace("_", "-") in check.found


def test_given_prices_credits_and_reports_of_the_agent_make_costs_known(places: Places) -> None:
    priced = {"price_input": 1, "price_output": 5, "price_cache_read": 0.1, "budget_usd": 3}
    assert prices(group(places, Told(), **priced)).state is PASS
    assert prices(group(places, Told(), kiro_dollars_per_credit=0.04)).state is PASS
    own = Told(name="elsewhere")
    assert prices(group(places, own, harness=HARNESS, budget_usd=3)).state is PASS
    assert prices(group(places, own, harness=f"{HARNESS},loop", budget_usd=3)).state is FAIL


def test_prices_without_those_of_cached_tokens_keep_no_budget(places: Places) -> None:
    priced: dict[str, object] = {"price_input": 1, "price_output": 5}
    check = prices(group(places, Told(), **priced))
    assert (check.state, check.fix) == (WARN, "--price-cache-read")
    check = prices(group(places, Told(), budget_usd=3, **priced))
    assert (check.state, check.fix) == (FAIL, "--price-cache-read")
    check = prices(group(places, Told(), harness="claude-code", cell_budget_usd=3, **priced))
    assert (check.state, check.fix) == (FAIL, "--price-cache-read --price-cache-write")
    whole = {**priced, "price_cache_read": 0.1, "price_cache_write": 2, "budget_usd": 3}
    assert prices(group(places, Told(), harness="claude-code", **whole)).state is PASS


def test_a_demonstration_is_asked_for_neither_window_nor_price(places: Places) -> None:
    shown = group(places, Told(demonstration=True))
    assert windows(found([shown], places)) == []
    assert price_questions([shown], NO_BOOK) == []
