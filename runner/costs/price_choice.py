"""Price choice: the day, commitment and price of a credit at which costs are to be worked out."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from runner.costs.bases import Pricing
from runner.costs.credit_plans import FLAG as PLAN_FLAG
from runner.costs.credit_plans import PlanChoice, load_credit_plans
from runner.costs.hardware import HardwareRates
from runner.costs.instances import DEFAULT_COMMITMENT, Commitment, load_instance_prices
from runner.costs.price_book import load_price_book
from runner.errors import UsageError
from runner.records import ThroughputRecord

INSTANCE_PRICES = Path("prices") / "instances.yaml"
TOKEN_PRICES = Path("prices") / "tokens"
CREDIT_PLANS = Path("prices") / "credits.yaml"
TODAY = "today"
COMMITMENTS = {
    Commitment.ON_DEMAND: "on-demand prices",
    Commitment.SPOT: "spot prices",
    Commitment.COMMIT_1YR: "prices of a 1-year commitment",
    Commitment.COMMIT_3YR: "prices of a 3-year commitment",
}


@dataclass(frozen=True)
class PriceChoice:
    """What differs from the usual: prices of the day of each run, three-year machines, recorded credits."""

    price_date: date | None = None
    commitment: Commitment = DEFAULT_COMMITMENT
    usd_per_credit: float | None = None
    credit_plan: PlanChoice | None = None

    @property
    def words(self) -> str:
        """The choice in one sentence; empty for the usual one."""
        parts = []
        if self.price_date is not None:
            parts.append(f"tokens at the prices of {self.price_date.isoformat()}")
        if self.commitment is not DEFAULT_COMMITMENT:
            parts.append(f"machines at {COMMITMENTS[self.commitment]}")
        if self.usd_per_credit is not None:
            parts.append(f"credits at ${self.usd_per_credit:g} each")
        if self.credit_plan is not None:
            parts.append(self.credit_plan.words)
        return (
            f"Costs are worked out at other prices than those of the runs: {', '.join(parts)}."
            if parts
            else ""
        )

    def pricing(self, datasets: Path, sweeps: Iterable[ThroughputRecord]) -> Pricing:
        """The price lists below ``datasets`` and the rates of ``sweeps``, as chosen.

        Raises:
            ConfigurationError: a price list has faults.
        """
        rates = HardwareRates(sweeps, load_instance_prices(datasets / INSTANCE_PRICES), self.commitment)
        book = load_price_book(datasets / TOKEN_PRICES)
        plans = datasets / CREDIT_PLANS
        known = load_credit_plans(plans) if plans.is_file() else None
        return Pricing(book, rates, self.price_date, self.usd_per_credit, known, self.credit_plan)


def read_price_choice(
    price_date: str | None = None,
    commitment: str | None = None,
    usd_per_credit: str | None = None,
    credit_plan: str | None = None,
    *,
    datasets: Path | None = None,
) -> PriceChoice:
    """The choice that flags make; ``today`` is the day it is in UTC, None is the usual.

    The plans that ``credit_plan`` is one of are those below ``datasets``.

    Raises:
        UsageError: a day, a commitment, a price or a plan that is none, or two prices of a credit.
        ConfigurationError: the list of credit plans has faults.
    """
    if usd_per_credit is not None and credit_plan is not None:
        raise UsageError(
            "a credit cannot have two prices",
            where=f"--usd-per-credit and {PLAN_FLAG}",
            remedy="give one of them",
        )
    return PriceChoice(
        None if price_date is None else _day(price_date),
        DEFAULT_COMMITMENT if commitment is None else _commitment(commitment),
        None if usd_per_credit is None else _dollars(usd_per_credit),
        None if credit_plan is None else _plan(credit_plan, datasets),
    )


def _plan(text: str, datasets: Path | None) -> PlanChoice:
    path = None if datasets is None else datasets / CREDIT_PLANS
    if path is None or not path.is_file():
        raise UsageError("no credit plans are known here", where=PLAN_FLAG, remedy="give --usd-per-credit")
    return load_credit_plans(path).chosen(text)


def _day(text: str) -> date:
    if text == TODAY:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is no day", where="--price-date", remedy="write it as 2026-01-31, or today"
        ) from None


def _commitment(text: str) -> Commitment:
    try:
        return Commitment(text)
    except ValueError:
        near = difflib.get_close_matches(text, list(Commitment), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(
            f"there is no commitment {text!r}{hint}",
            where="--commitment",
            remedy=f"one of {', '.join(Commitment)}",
        ) from None


def _dollars(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount) or amount < 0:
        raise UsageError(
            f"{text!r} is no price", where="--usd-per-credit", remedy="dollars for one credit, such as 0.04"
        )
    return amount
