"""Wording: how the charts write dollars, scores, counts and probabilities."""

from __future__ import annotations

from runner.records.cost import CostBasis

UNKNOWN = "unknown"
LEAST = "< $0.00000001"
"""A known amount that the eight decimals of the smallest ones do not show."""

_BASES = {
    CostBasis.METERED: "metered bill",
    CostBasis.PRICE_TABLE: "price table",
    CostBasis.HARDWARE_DERIVED: "hardware-derived",
    CostBasis.CREDITS: "credits",
    CostBasis.NOTIONAL: "notional list price",
    CostBasis.NONE: "no cost by design",
}


def dollars(amount: float | None) -> str:
    """Two decimals from ten cents up, three significant digits below; unknown is said, never shown as zero.

    Pages, charts and the browser write dollars alike, so that one figure never looks like two.
    """
    if amount is None:
        return UNKNOWN
    if amount == 0 or abs(amount) >= 0.1:
        return f"${amount:,.2f}"
    digits = f"{amount:.3g}"
    if "e" not in digits:
        return f"${digits}"
    text = f"${amount:.8f}".rstrip("0")
    return LEAST if text.endswith(".") else text


def score_text(score: float | None) -> str:
    """A score with one decimal."""
    return UNKNOWN if score is None else f"{score:.1f}"


def tick_dollars(amount: float) -> str:
    """A dollar amount on an axis, without needless zeros."""
    return f"${amount:,.10g}"


def n_of_m(scored: int, planned: int) -> str:
    """How many of the planned tasks a figure rests on."""
    return f"{scored} of {planned} tasks"


def probability(share: float | None) -> str:
    """The probability of lying on the frontier; never a rounded 0 or 1 where it is not exactly that."""
    if share is None:
        return "not computed"
    if share not in (0.0, 1.0) and not 0.005 <= share <= 0.995:
        return "< 0.01" if share < 0.5 else "> 0.99"
    return f"{share:.2f}"


def basis_name(basis: str) -> str:
    """A cost basis in words."""
    return _BASES[CostBasis(basis)] if basis in set(CostBasis) else basis


def basis_colour(basis: str) -> str:
    """The CSS variable that colours a cost basis: the same one in every chart."""
    order = [str(each) for each in CostBasis]
    return f"--hm-basis-{order.index(basis) if basis in order else len(order)}"
