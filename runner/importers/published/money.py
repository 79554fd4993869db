"""Costs of an imported task: what the source's dollars rest on, and whether its tokens explain them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from runner.costs.token_prices import TokenPrices, token_cost
from runner.importers.published.document import RunDocument, TaskRow
from runner.records import Cost, CostBasis, DataWarning, Usage

USD_PER_CREDIT = Decimal("0.04")
CREDITS_TOLERANCE = Decimal("1e-9")
"""In hundredths of a credit: what is further from a whole number of them was not made from credits."""

OPUS = TokenPrices(input=5, output=25, cache_read=0.5, cache_write=6.25)
SONNET = TokenPrices(input=3, output=15, cache_read=0.3, cache_write=3.75)
SONNET_LOWER = TokenPrices(input=2, output=10, cache_read=0.2, cache_write=2.5)
HAIKU = TokenPrices(input=1, output=5, cache_read=0.1, cache_write=1.25)
HAIKU_REGIONAL = TokenPrices(input=1.1, output=5.5, cache_read=0.11, cache_write=1.375)
OPUS_LOWER = TokenPrices(input=4.4, output=22, cache_read=0.22, cache_write=5.5)
AGENT_DEFAULT = TokenPrices(input=5, output=25, cache_read=0.5)
"""What the source's agents charge for a model that they have no price of."""

SOURCE_PRICES: Mapping[tuple[str, str], TokenPrices] = {
    ("claude-code", "claude-opus-4-8"): OPUS,
    ("claude-code", "claude-opus-5"): OPUS,
    ("claude-code", "claude-sonnet-5"): SONNET,
    ("claude-code", "claude-haiku-4-5"): HAIKU,
    ("pi", "claude-opus-4-8"): OPUS,
    ("pi", "claude-opus-5"): OPUS,
    ("pi", "claude-sonnet-5"): SONNET_LOWER,
    ("pi", "claude-haiku-4-5"): HAIKU,
    ("strands", "claude-opus-5-5"): OPUS_LOWER,
    ("strands", "claude-sonnet-5-5"): SONNET_LOWER,
    ("strands", "claude-haiku-4-5"): HAIKU_REGIONAL,
}
"""Dollars per million tokens that the published costs follow, found by recomputing them task by task."""

DIFFERENT_PRICES: Mapping[str, str] = {
    "claude-sonnet-5": "3 / 15 with claude-code and 2 / 10 with pi",
    "claude-haiku-4-5": "1 / 5 with claude-code and pi, and 1.1 / 5.5 with strands",
}
"""Models whose published costs follow several prices: dollars per million input / output tokens."""

COST_TOLERANCE = 0.002
CENT_FRACTION = 1e-6


def costs_of(run: RunDocument, row: TaskRow) -> tuple[Cost, ...]:
    """The costs that ``row`` states. A self-hosted model has no bill: its dollars are derived later."""
    if run.provider == "kiro":
        return (_credits(row),)
    if run.provider == "bedrock":
        return (_metered(run, row),)
    if row.total_cost_usd:
        return (
            Cost(
                basis=CostBasis.NOTIONAL,
                amount_usd=row.total_cost_usd,
                source="total_cost_usd: the agent's own list price for a model that was not billed",
            ),
        )
    return ()


def _credits(row: TaskRow) -> Cost:
    used, source = row.kiro_credits, f"total_cost_usd: credits x {USD_PER_CREDIT} USD per credit"
    if used is None and (used := credits_in(row.total_cost_usd)) is not None:
        source += "; credits_used: the amount over that price, a whole number of hundredths"
    return Cost(
        basis=CostBasis.CREDITS,
        amount_usd=row.total_cost_usd,
        source=source,
        credits_used=used,
        missing_reason="the source states no cost" if row.total_cost_usd is None else None,
    )


def credits_in(amount_usd: float | None) -> float | None:
    """The credits that an amount stands for: ``amount / 0.04``, where that is a whole number of hundredths.

    The vendor counts hundredths of a credit, so such an amount gives the credits back exactly. None for any
    other amount, and for an unknown one.
    """
    if amount_usd is None:
        return None
    hundredths = Decimal(repr(amount_usd)) / USD_PER_CREDIT * 100
    whole = hundredths.to_integral_value()
    return float(whole / 100) if abs(hundredths - whole) <= CREDITS_TOLERANCE else None


def _metered(run: RunDocument, row: TaskRow) -> Cost:
    amount, reason = row.total_cost_usd, None
    if amount is None:
        reason = f"the source states no cost, although {run.provider} bills for tokens"
    elif amount == 0:
        amount, reason = None, "the source prints 0 beside tokens that were not reported"
    return Cost(
        basis=CostBasis.METERED,
        amount_usd=amount,
        source="total_cost_usd as the agent reported it",
        missing_reason=reason,
    )


def cost_warnings(run: RunDocument, slug: str, row: TaskRow, usage: Usage | None) -> list[DataWarning]:
    """What a reader must know about the dollars of one task."""
    found = []
    if row.total_cost_usd == 0:
        more = "; the source does so for tasks of several invocations" if run.provider == "endpoint" else ""
        found.append(DataWarning(code="zero-cost-is-unknown", text=f"The source prints a cost of 0{more}."))
    if run.provider == "endpoint" and row.total_cost_usd:
        found.append(
            DataWarning(
                code="notional-price",
                text=f"{row.total_cost_usd:.2f} USD in the source is the agent's list price of 5 / 25 USD "
                "per million input / output tokens; the model ran on its own machine.",
            )
        )
    if row.total_cost_usd and usage is None and run.provider != "kiro":
        found.append(
            DataWarning(
                code="cost-without-tokens", text=f"{row.total_cost_usd} USD stand beside no tokens at all."
            )
        )
    found += _price_warnings(run, slug, row, usage)
    return found


def _price_warnings(run: RunDocument, slug: str, row: TaskRow, usage: Usage | None) -> list[DataWarning]:
    if usage is None or not row.total_cost_usd:
        return []
    found = []
    prices = SOURCE_PRICES.get((run.harness, slug))
    if run.provider == "endpoint":
        prices = AGENT_DEFAULT
    billed = usage.model_copy(
        update={
            "cache_read_tokens": usage.cache_read_tokens or 0,
            "cache_write_tokens": usage.cache_write_tokens or 0,
            "cache_semantics": "disjoint",
        }
    )
    explained = token_cost(billed, prices)
    if explained and row.total_cost_usd > explained * (1 + COST_TOLERANCE):
        found.append(
            DataWarning(
                code="cost-above-tokens",
                text=f"The published tokens explain {explained:.2f} USD of {row.total_cost_usd:.2f} at the "
                f"source's own prices: a factor of {row.total_cost_usd / explained:.2f}. Sub-agents or "
                "earlier sessions may be in the cost and not in the tokens.",
            )
        )
    if run.provider == "bedrock" and prices is None:
        default = token_cost(billed, AGENT_DEFAULT)
        if default is not None and abs(default - row.total_cost_usd) <= CENT_FRACTION:
            found.append(
                DataWarning(
                    code="metered-at-default-price",
                    text="The cost equals 5 / 25 / 0.5 USD per million input / output / cached tokens, the "
                    "price that the source's agents put on models they have no price of.",
                )
            )
    if run.provider == "bedrock" and slug in DIFFERENT_PRICES:
        found.append(
            DataWarning(
                code="price-differs-between-cells",
                text="Published costs of this model follow several prices, in USD per million input / output "
                f"tokens: {DIFFERENT_PRICES[slug]}.",
            )
        )
    return found
