"""Plans of vendors that bill by credits: what ships, and what a faulty file is told."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from runner.costs import credits_cost, load_credit_plans
from runner.costs.credit_plans import PlanChoice
from runner.errors import ConfigurationError, UsageError

SHIPPED = Path(__file__).resolve().parents[2] / "datasets" / "prices" / "credits.yaml"
DAY = date(2026, 8, 15)


def test_the_shipped_plans_give_the_price_within_and_beyond_a_plan() -> None:
    plans = load_credit_plans(SHIPPED)
    assert [
        (plan.plan, plan.usd_per_credit, plan.overage_usd_per_credit) for plan in plans.on("kiro", DAY)
    ] == [
        ("pro", 0.02, 0.04),
        ("pro-plus", 0.02, 0.04),
        ("power", 0.02, 0.04),
    ]
    assert plans.on("kiro", date(2026, 4, 1)) == ()
    assert plans.on("nobody", DAY) == ()


def test_every_plan_says_who_says_so_and_when_it_was_checked() -> None:
    plans = load_credit_plans(SHIPPED)
    for plan in plans.plans:
        assert "https://" in plans.source_of(plan)
        assert plan.checked_on >= plan.effective_from


@pytest.mark.parametrize(("used", "within", "beyond"), [(0.21, 0.0042, 0.0084), (4.62, 0.0924, 0.1848)])
def test_credits_cost_half_within_the_plan(used: float, within: float, beyond: float) -> None:
    plan = load_credit_plans(SHIPPED).on("kiro", DAY)[0]
    assert plan.overage_usd_per_credit is not None
    assert credits_cost(used, plan.usd_per_credit) == pytest.approx(within)
    assert credits_cost(used, plan.overage_usd_per_credit) == pytest.approx(beyond)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "usd_per_month: 20\n",
            "usd_per_month: 0\n",
            "plans.0.usd_per_month: must be",
        ),
        ("credits: 1000\n", "credits: 0\n", "plans.0.credits: must be greater than 0"),
        ("credits: 1000\n", "creditz: 1000\n", "did you mean credits?"),
        ("    checked_on: 2026-11-30\n", "", "plans.0.checked_on: is missing"),
        ("sources: [documentation, article]", "sources: []", "plans.0.sources: needs at least one item"),
        ("sources: [documentation, article]", "sources: [me]", "'me' is not among the sources of the file"),
        ("plan: pro-plus", "plan: pro", "plan pro has two prices on one day"),
        ("currency: USD", "currency: EUR", "line 5: currency"),
    ],
)
def test_a_fault_is_named_with_its_key(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "credits.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        load_credit_plans(path)
    assert expected in caught.value.message()
    assert "credits.yaml" in caught.value.message()


def test_a_plan_may_change_its_price_from_one_day_to_the_next(tmp_path: Path) -> None:
    text = SHIPPED.read_text(encoding="utf-8").replace("plan: pro-plus", "plan: pro")
    day = "effective_from: 2026-04-02\n"
    text = text.replace(day, day + "    effective_to: 2026-07-31\n", 1)
    head, tail = text.split("usd_per_month: 40", 1)
    path = tmp_path / "credits.yaml"
    changed = tail.replace("2026-04-02", "2026-08-01", 1)
    path.write_text(f"{head}usd_per_month: 40{changed}", encoding="utf-8")
    plans = load_credit_plans(path)
    assert [plan.usd_per_month for plan in plans.on("kiro", date(2026, 7, 31))] == [20, 200]
    assert [plan.usd_per_month for plan in plans.on("kiro", date(2026, 8, 1))] == [40, 200]


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("pro", PlanChoice("kiro", "pro")),
        ("power:overage", PlanChoice("kiro", "power", overage=True)),
        ("kiro/pro-plus", PlanChoice("kiro", "pro-plus")),
    ],
)
def test_a_plan_is_chosen_by_its_name(text: str, choice: PlanChoice) -> None:
    plans = load_credit_plans(SHIPPED)
    assert plans.chosen(text) == choice
    assert choice in plans.choices()
    assert len(plans.choices()) == 6


def test_a_name_of_no_plan_is_refused_with_the_nearest_and_one_of_two_vendors_with_both() -> None:
    plans = load_credit_plans(SHIPPED)
    with pytest.raises(UsageError, match="did you mean power"):
        plans.chosen("powr")
    with pytest.raises(UsageError) as unlike:
        plans.chosen("zzz")
    assert "pro:overage" in unlike.value.message()
    other = plans.plans[0].model_copy(update={"provider": "elsewhere"})
    both = plans.model_copy(update={"plans": (*plans.plans, other)})
    with pytest.raises(UsageError, match="plans of 2 vendors") as twice:
        both.chosen("pro")
    assert "kiro/pro, elsewhere/pro" in twice.value.message()
    assert both.chosen("elsewhere/pro").provider == "elsewhere"


def test_a_plan_whose_overage_is_unknown_offers_none_and_a_day_without_the_plan_has_none() -> None:
    plans = load_credit_plans(SHIPPED)
    bare = plans.model_copy(
        update={"plans": (plans.plans[0].model_copy(update={"overage_usd_per_credit": None}),)}
    )
    assert bare.choices() == (PlanChoice("kiro", "pro"),)
    assert plans.of(PlanChoice("kiro", "pro"), date(2026, 4, 1)) is None
    assert plans.of(PlanChoice("kiro", "pro"), DAY) == plans.plans[0]
