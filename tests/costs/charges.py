"""Charges: trials whose recorded dollars are made to disagree in one known way with their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from runner.costs.bases import Pricing, costs_of
from runner.costs.evidence import Evidence
from runner.costs.hardware import HardwareRates
from runner.costs.instances import load_instance_prices
from runner.costs.price_book import PriceBook
from runner.costs.price_lists import Followed, followed_list, known_lists
from runner.costs.price_row import PriceRow, RegionClass, RowPrices
from runner.costs.reconciliation import TrialReconciliation, reconcile_trial
from runner.costs.token_prices import token_cost
from runner.records import (
    CacheSemantics,
    Cost,
    CostBasis,
    Hosting,
    Invocation,
    SemanticsDecision,
    ServerWindow,
    Serving,
    TrialIdentity,
    TrialRecord,
    Usage,
)
from tests import examples

ROOT = Path(__file__).resolve().parents[2]
RAW_ID, OTHER_ID = "us.vendor.model-a", "us.vendor.model-b"
REGIONAL = RowPrices(input=2.2, output=11, cache_read=0.22, cache_write=2.75)
GLOBAL = RowPrices(input=2, output=10, cache_read=0.2, cache_write=2.5)
OTHER = RowPrices(input=7, output=31, cache_read=0.9, cache_write=8)


def row(model: str, prices: RowPrices, region: RegionClass, start: date = date(2026, 1, 1)) -> PriceRow:
    """A row of the book at bedrock."""
    return PriceRow(
        provider="bedrock",
        model=model,
        region_class=region,
        prices=prices,
        effective_from=start,
        source="a price page",
        checked_on=date(2026, 1, 15),
    )


BOOK = PriceBook(
    [
        row("vendor.model-a", REGIONAL, RegionClass.REGIONAL),
        row("vendor.model-a", GLOBAL, RegionClass.GLOBAL),
        row("vendor.model-b", OTHER, RegionClass.REGIONAL),
    ]
)


def pricing(book: PriceBook = BOOK, usd_per_credit: float | None = None) -> Pricing:
    """Prices of the book and of the example sweep."""
    prices = load_instance_prices(ROOT / "datasets" / "prices" / "instances.yaml")
    return Pricing(book, HardwareRates([examples.sweep()], prices), None, usd_per_credit)


def tokens(
    fresh: int = 40_000,
    output: int = 9_000,
    read: int | None = 800_000,
    write: int | None = 30_000,
    semantics: CacheSemantics = CacheSemantics.DISJOINT,
) -> Usage:
    """Counts as an agent reports them."""
    return Usage(
        input_tokens=fresh,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_semantics=semantics,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )


def priced(usage: Usage, prices: RowPrices) -> float:
    """Tokens x a row."""
    found = token_cost(usage, row("m", prices, RegionClass.ANY).token_prices)
    assert found is not None
    return found


def trial(
    amount: float | None,
    usage: Usage | None,
    *,
    basis: CostBasis = CostBasis.METERED,
    hosting: Hosting = Hosting.CLOUD,
    provider: str = "bedrock",
    skill: str = "fix",
    credits_used: float | None = None,
    invocations: Sequence[Invocation] = (),
    **changes: object,
) -> TrialRecord:
    """A trial with one recorded cost."""
    cell = examples.cell("model-a", provider=provider, skill=skill)
    cell = cell.model_copy(update={"model": cell.model.model_copy(update={"raw_id": RAW_ID})})
    reason = None if amount is not None else "not told"
    cost = Cost(
        basis=basis, amount_usd=amount, source="the agent", missing_reason=reason, credits_used=credits_used
    )
    update: dict[str, object] = {
        "usage": usage,
        "costs": (cost,),
        "serving": Serving(hosting=hosting),
        "invocations": tuple(invocations),
        **changes,
    }
    return examples.trial(TrialIdentity(cell=cell, task="fix-typo", trial=1)).model_copy(update=update)


def evidence(record: TrialRecord, followed: Followed | None = None, at: Pricing | None = None) -> Evidence:
    """Everything that is known about the cost of ``record``."""
    at = at or pricing()
    return Evidence(record, costs_of(record, at), followed, at.usd_per_credit)


def followed_by(*records: TrialRecord) -> Followed | None:
    """The list that these trials of one agent follow."""
    charges = [charge for record in records for charge in evidence(record).charges]
    return followed_list(charges, known_lists(BOOK, "bedrock", RAW_ID))


def reconciled(
    record: TrialRecord, followed: Followed | None = None, at: Pricing | None = None
) -> TrialReconciliation:
    """What the comparison finds."""
    return reconcile_trial(evidence(record, followed, at))


def window(prompt: int | None, generated: int | None, *, shared: bool = False) -> ServerWindow:
    """What a server counted."""
    return ServerWindow(
        shared=shared,
        shared_because="others used it" if shared else None,
        agents_at_once=1,
        seconds=10.0,
        prompt_tokens=prompt,
        generation_tokens=generated,
    )
