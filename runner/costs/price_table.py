"""Price table: what tokens cost at the rows of the price book of one day, model by model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from runner.costs.price_book import PriceAnswer, PriceBook, PriceQuestion
from runner.costs.token_prices import token_cost
from runner.records import CacheSemantics, Cost, CostBasis, TrialRecord, Usage

BOOK = "price book"
"""How the source text of every cost from the price book begins."""


@dataclass(frozen=True)
class Share:
    """The tokens of one model in a trial; None where they are not known."""

    model: str
    usage: Usage | None


@dataclass(frozen=True)
class Priced:
    """One share with the row that prices it; ``usd`` is None where either is unknown."""

    share: Share
    answer: PriceAnswer
    usd: float | None
    missing_reason: str | None


@dataclass(frozen=True)
class TableCost:
    """A price-table cost and the look-ups it rests on.

    ``found`` is False where the book holds no row for one of the models at all.
    """

    cost: Cost
    parts: tuple[Priced, ...]

    @property
    def found(self) -> bool:
        """Whether the book has a row for every model, whatever it prices."""
        return bool(self.parts) and all(part.answer.row is not None for part in self.parts)


def shares_of(trial: TrialRecord) -> tuple[Share, ...]:
    """The tokens of a trial by model, so that each is priced by its own row.

    Where an invocation names several models, as with subagents, each invocation's shares are taken; one
    name alone stands for the model that the trial was asked of, whatever the harness calls it.
    """
    main = trial.identity.cell.model.raw_id
    if not any(len(each.usage_by_model) > 1 for each in trial.invocations):
        return (Share(main, trial.usage),)
    return tuple(
        share for each in trial.invocations for share in split_by_model(main, each.usage, each.usage_by_model)
    )


def split_by_model(main: str, usage: Usage | None, by_model: Mapping[str, Usage]) -> tuple[Share, ...]:
    """The tokens of one invocation by model; without several names all of them are those of ``main``."""
    if len(by_model) > 1:
        return tuple(Share(name, own) for name, own in by_model.items())
    return (Share(main, usage),)


def table_cost(
    shares: Sequence[Share], provider: str, day: date, book: PriceBook, note: str = ""
) -> TableCost:
    """Tokens times the rows of ``day``, each share by its own row; one unknown share makes it unknown.

    Args:
        shares: tokens by model.
        provider: hosting path that bills them.
        day: day whose prices are wanted.
        book: where they are looked up.
        note: what to add to the source text.
    """
    parts = tuple(_priced(share, provider, day, book) for share in shares)
    reasons = list(dict.fromkeys(part.missing_reason for part in parts if part.missing_reason))
    known = [part.usd for part in parts if part.usd is not None]
    whole = bool(parts) and len(known) == len(parts)
    rows = list(dict.fromkeys(_named(part.answer) for part in parts if part.answer.row is not None))
    source = f"{BOOK}: {'; '.join(rows)}" if rows else f"{BOOK}: no row for {provider}"
    return TableCost(
        Cost(
            basis=CostBasis.PRICE_TABLE,
            # Six decimals are what one price gives (specification 5.5); a sum keeps them.
            amount_usd=round(sum(known), 6) if whole else None,
            source=f"{source}; {note}" if note else source,
            price_as_of=day,
            missing_reason=None if whole else "; ".join(reasons) or "the tokens are not known",
        ),
        parts,
    )


def why_unpriced(usage: Usage | None, answer: PriceAnswer) -> str | None:
    """Why tokens at this row have no known cost, in words; None where they have one."""
    if answer.row is None or answer.token_prices is None:
        return answer.missing_reason or "the price book has no row"
    if answer.row.prices.per_request:
        return "requests are billed beside their tokens, and their number is not known"
    if token_cost(usage, answer.token_prices) is not None:
        return None
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return "the tokens are not known"
    if usage.cache_semantics is CacheSemantics.UNKNOWN:
        return "how the cache counts relate to the input is not known"
    if usage.cache_read_tokens is None or usage.cache_write_tokens is None:
        return "how many tokens were cached is not known"
    return "tokens were cached, and the row has no price for a class of them"


def _priced(share: Share, provider: str, day: date, book: PriceBook) -> Priced:
    answer = book.lookup(PriceQuestion(provider=provider, model=share.model, on=day))
    reason = why_unpriced(share.usage, answer)
    usd = None if reason else token_cost(share.usage, answer.token_prices)
    return Priced(share, answer, usd, reason)


def _named(answer: PriceAnswer) -> str:
    row = answer.row
    if row is None:
        return ""
    return (
        f"row {row.provider} {row.model} ({row.region_class}, {row.service_tier}), {row.days()}, "
        f"checked on {row.checked_on.isoformat()}"
    )
