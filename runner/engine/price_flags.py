"""Price flags: how a user asks for costs at other prices than those of each run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runner.costs.price_choice import PriceChoice, read_price_choice

PRICE_HELP = {
    "price-date": "day whose token prices are used, or today (default: the day of each run)",
    "commitment": "price of machines: on_demand, spot, commit_1yr or commit_3yr (default)",
    "usd-per-credit": "price of a vendor's credit, in place of the recorded amounts",
    "credit-plan": "plan whose price credits have (see invoke prices --credit-plans); NAME:overage beyond it",
}
"""Flags of every command that works costs out."""
PRICES = ("price_date", "commitment", "usd_per_credit", "credit_plan")


def asked_prices(given: dict[str, Any], datasets: Path) -> PriceChoice:
    """What the price flags among ``given`` ask for; they are taken out of it.

    Raises:
        UsageError: a day, a commitment, a price or a plan that is none.
    """
    return read_price_choice(*(given.pop(name) for name in PRICES), datasets=datasets)
