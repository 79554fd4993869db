"""Price flags: how a user asks for costs at other prices than those of each run."""

from __future__ import annotations

PRICE_HELP = {
    "price-date": "day whose token prices are used, or today (default: the day of each run)",
    "commitment": "price of machines: on_demand, spot, commit_1yr or commit_3yr (default)",
    "usd-per-credit": "price of a vendor's credit, in place of the recorded amounts",
}
"""Flags of every command that works costs out."""
