"""The prices that a user asks for: a day, a commitment, a price of a credit, and faults in them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from runner.costs.instances import Commitment
from runner.costs.price_choice import PriceChoice, read_price_choice
from runner.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


def test_nothing_asked_for_is_the_usual_and_says_nothing() -> None:
    assert read_price_choice() == PriceChoice()
    assert PriceChoice().words == ""


def test_a_choice_is_told_in_one_sentence() -> None:
    choice = read_price_choice("2026-01-31", "on_demand", "0.02")
    assert choice == PriceChoice(date(2026, 1, 31), Commitment.ON_DEMAND, 0.02)
    assert (
        "tokens at the prices of 2026-01-31, machines at on-demand prices, credits at $0.02" in choice.words
    )


def test_today_is_a_day() -> None:
    days = {datetime.now(UTC).date()}
    chosen = read_price_choice("today").price_date
    assert chosen in days | {datetime.now(UTC).date()}


@pytest.mark.parametrize(
    ("flags", "where"),
    [
        (("yesterday", None, None), "--price-date"),
        (("2026-02-30", None, None), "--price-date"),
        ((None, "commit_2yr", None), "--commitment"),
        ((None, None, "cheap"), "--usd-per-credit"),
        ((None, None, "-1"), "--usd-per-credit"),
        ((None, None, "nan"), "--usd-per-credit"),
    ],
)
def test_what_is_no_price_is_refused_by_name(flags: tuple[str | None, ...], where: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_price_choice(*flags)
    assert refused.value.where == where
    assert refused.value.remedy


def test_a_near_commitment_is_offered() -> None:
    with pytest.raises(UsageError, match="did you mean commit_1yr"):
        read_price_choice(commitment="commit_1y")


def test_a_plan_is_told_and_one_that_nobody_sells_or_a_second_price_is_refused(tmp_path: Path) -> None:
    choice = read_price_choice(credit_plan="pro:overage", datasets=ROOT / "datasets")
    assert "credits of kiro at its plan pro, beyond its credits" in choice.words
    assert choice.pricing(ROOT / "datasets", []).plan == choice.credit_plan
    for plan, rate, folder, said in (
        ("prox", None, ROOT / "datasets", "did you mean pro?"),
        ("pro", "0.03", ROOT / "datasets", "cannot have two prices"),
        ("pro", None, tmp_path, "no credit plans are known"),
        ("pro", None, None, "no credit plans are known"),
    ):
        with pytest.raises(UsageError, match=said.replace("?", r"\?")):
            read_price_choice(usd_per_credit=rate, credit_plan=plan, datasets=folder)


def test_the_shipped_lists_make_a_pricing() -> None:
    found = read_price_choice(commitment="spot").pricing(ROOT / "datasets", [])
    assert (found.rates.commitment, bool(found.book.rows)) == (Commitment.SPOT, True)
