"""Prices before a run: which row of the price book will be used, and no budget in dollars without a price."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from runner.engine.judging.probe import JudgeProbe, price_checks
from runner.engine.places import Places
from runner.engine.preflight.inquiry import inquire
from runner.engine.preflight.prices import price_questions
from runner.providers.checks import Check, CheckState
from runner.records import Hosting
from tests.engine.preflight.test_models import Told, group

PASS, WARN, FAIL = CheckState.PASS, CheckState.WARN, CheckState.FAIL
DAY = date(2026, 3, 1)
ROWS = """schema_version: 1
provider: {provider}
currency: USD
sources:
  list: {{title: A list, version: "2026-02-01", license: MIT}}
rows:
  - model: model-a
    prices: {{input: 4, output: 20{cache}}}
    effective_from: 2020-01-01
    source: list
    checked_on: 2026-02-01
"""


def write(places: Places, provider: str = "told", cache: str = ", cache_read: 0.2, cache_write: 5") -> None:
    """A price book with one row of model-a."""
    places.prices.mkdir(parents=True, exist_ok=True)
    (places.prices / f"{provider}.yaml").write_text(ROWS.format(provider=provider, cache=cache))


def asked(places: Places, told: Told, **settings: object) -> Check:
    """The one line on the price."""
    [line] = inquire(price_questions([group(places, told, model="model-a", **settings)], places.prices))
    return line.check


def test_the_row_that_will_be_used_is_named_with_its_days(places: Places) -> None:
    write(places)
    check = asked(places, Told(), budget_usd=5)
    assert check.state is PASS
    for part in ("price book: model-a", "$4 in, $20 out", "since 2020-01-01", "checked on 2026-02-01"):
        assert part in check.found


def test_without_a_row_a_budget_in_dollars_is_refused_and_says_what_is_missing(places: Places) -> None:
    write(places, provider="other")
    check = asked(places, Told(), budget_usd=5)
    assert check.state is FAIL
    assert "no provider 'told'" in check.found
    assert "--price-input" in check.fix
    assert asked(places, Told()).state is WARN


@pytest.mark.parametrize(
    ("limits", "said", "instead"),
    [
        ({"max_cost_usd": 1}, "--max-cost-usd cannot be kept", "bound the run with --max-trial-tokens"),
        ({"cell_budget_usd": 5}, "--cell-budget-usd cannot be kept", "bound the run with --budget-tokens"),
        (
            {"budget_usd": 5, "cell_budget_usd": 5, "max_cost_usd": 1},
            "--budget-usd, --cell-budget-usd, --max-cost-usd cannot be kept",
            "bound the run with --budget-tokens and --max-trial-tokens",
        ),
    ],
)
def test_every_limit_in_dollars_is_refused_without_a_price_and_kept_with_one(
    places: Places, limits: dict[str, float], said: str, instead: str
) -> None:
    write(places, provider="other")
    check = asked(places, Told(), **limits)
    assert check.state is FAIL
    assert said in check.found
    assert instead in check.fix
    write(places)
    assert asked(places, Told(), **limits).state is PASS


def test_a_row_without_a_price_of_cached_tokens_keeps_no_budget(places: Places) -> None:
    write(places, cache="")
    assert asked(places, Told(), budget_usd=5).state is FAIL
    assert asked(places, Told(), max_cost_usd=1).state is FAIL
    assert asked(places, Told()).state is WARN


def test_a_server_of_ones_own_is_not_priced_by_a_vendors_list(places: Places) -> None:
    write(places)
    assert asked(places, Told(hosting=Hosting.SELF_HOSTED), budget_usd=5).state is FAIL


def judge_file(tmp_path: Path, *lines: str) -> str:
    """A file of settings of a direct judge at anthropic."""
    path = tmp_path / "judge.yaml"
    path.write_text("\n".join(["judge: direct", "provider: anthropic", "model: model-a", *lines]) + "\n")
    return str(path)


def judge_checks(judge: str, places: Places, *, budget: bool) -> list[Check]:
    return list(price_checks(judge, places, DAY, budget=budget))


def test_a_judge_without_a_price_is_refused_beside_a_budget_in_dollars(
    places: Places, tmp_path: Path
) -> None:
    [check] = judge_checks(judge_file(tmp_path), places, budget=True)
    assert check.state is FAIL
    assert "--budget-usd cannot be kept: what this judge costs stays unknown" in check.found
    [check] = judge_checks(judge_file(tmp_path), places, budget=False)
    assert check.state is WARN


def test_a_judge_is_priced_by_its_settings_or_by_the_book(places: Places, tmp_path: Path) -> None:
    given = judge_file(tmp_path, "price_input: 1", "price_output: 2")
    assert [each.state for each in judge_checks(given, places, budget=True)] == [PASS]
    write(places, provider="anthropic")
    [check] = judge_checks(judge_file(tmp_path), places, budget=True)
    assert (check.state, "price book: model-a" in check.found) == (PASS, True)


@pytest.mark.parametrize("judge", ["replay", "no-such-judge"])
def test_a_scripted_judge_costs_nothing_and_an_unknown_one_is_told_elsewhere(
    judge: str, places: Places
) -> None:
    assert judge_checks(judge, places, budget=True) == []


def test_the_preflight_of_a_run_asks_for_the_price_of_its_judge(places: Places) -> None:
    probe = JudgeProbe(("replay",), places, {}, budget=True)
    assert [check.name for check in probe.checks()] == ["judge answers"]
