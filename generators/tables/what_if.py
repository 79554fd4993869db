"""What if: the raw numbers behind the costs of a board, so that a reader's browser can price them anew.

Each trial carries its ways to know the cost in the order of the headline rule, its tokens by model, and its
deployment. Nothing here is rounded, and no dollar is scaled: the browser starts from these as Python does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from generators.escape.html import Json
from generators.tables.boards import Board
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from runner.costs.bases import Pricing, Way, day_of
from runner.costs.credit_plans import CreditPlans
from runner.costs.hardware import INPUT_WEIGHT, HardwareRates
from runner.costs.instances import InstancePrices
from runner.costs.price_book import PriceQuestion
from runner.costs.tokens import token_classes, tokens_processed
from runner.records import Hosting

DERIVED = frozenset({Way.BOOK, Way.BLENDED, Way.SPLIT, Way.NOTIONAL, Way.NONE})
"""Ways that are worked out anew, or that are never a cost."""


@dataclass
class PriceTables:
    """The prices that the trials of one export need: by provider and model, day by day."""

    pricing: Pricing
    keys: dict[tuple[str, str], int] = field(default_factory=dict)

    def key(self, provider: str, model: str) -> int:
        """The number under which the prices of a model stand."""
        return self.keys.setdefault((provider, model), len(self.keys))

    def export(self) -> Json:
        """The prices of each model as stretches of days; a stretch without a price is left out."""
        return [self._stretches(provider, model) for provider, model in self.keys]

    def _stretches(self, provider: str, model: str) -> Json:
        book = self.pricing.book
        edges = set()
        for row in book.history(provider, model):
            edges.add(row.effective_from)
            if row.effective_to is not None:
                edges.add(row.effective_to + timedelta(days=1))
        found: list[Json] = []
        starts = sorted(edges)
        for number, start in enumerate(starts):
            answer = book.lookup(PriceQuestion(provider=provider, model=model, on=start))
            until = starts[number + 1] - timedelta(days=1) if number + 1 < len(starts) else None
            prices = answer.token_prices
            if prices is None or answer.row is None or answer.row.prices.per_request:
                continue
            found.append(
                {
                    "from": start.isoformat(),
                    "to": until.isoformat() if until is not None else None,
                    "input": prices.input,
                    "output": prices.output,
                    "cache_read": prices.cache_read,
                    "cache_write": prices.cache_write,
                }
            )
        return found


def board_export(
    board: Board, pricing: Pricing, links: Mapping[str, str], said: Mapping[str, Mapping[str, str]]
) -> dict[str, Json]:
    """Everything that the costs of a board follow from.

    Args:
        board: the cells that are compared.
        pricing: price book and hardware rates of the build.
        links: address of each cell's page, by the parts of its key joined by ``/``.
        said: texts about each cell that go with its numbers, by the same key.
    """
    tables = PriceTables(pricing)
    cells = [
        {**_cell(cell, pricing, tables, links), **said["/".join(cell.key)]}
        for cell in board.cells
        if cell.sample.graded
    ]
    names = {_deployment(trial, pricing) for cell in board.cells for trial in cell.sample.graded}
    return {
        "dataset": board.dataset,
        "price_date": pricing.price_date.isoformat() if pricing.price_date is not None else None,
        "commitment": pricing.rates.commitment.value,
        "credit_plan": pricing.plan.name if pricing.plan is not None else None,
        "credit_plans": plans_export(pricing.plans),
        "machines_as_of": pricing.rates.prices.as_of.isoformat(),
        "input_weight": INPUT_WEIGHT,
        "cells": cells,
        "prices": tables.export(),
        "deployments": {name: deployment_export(name, pricing.rates) for name in sorted(filter(None, names))},
    }


def plans_export(plans: CreditPlans | None) -> Json:
    """The price of a credit by the name of each choice of a plan, as stretches of days."""
    return [
        {
            "name": choice.name,
            "provider": plan.provider,
            "words": f"plan {plan.plan}{', beyond its credits' if choice.overage else ''}, {plan.days()}",
            "from": plan.effective_from.isoformat(),
            "to": plan.effective_to.isoformat() if plan.effective_to is not None else None,
            "usd": plan.price(overage=choice.overage),
        }
        for choice in (plans.choices() if plans is not None else ())
        for plan in (plans.plans if plans is not None else ())
        if (plan.provider, plan.plan) == (choice.provider, choice.plan)
    ]


def deployment_export(name: str, rates: HardwareRates) -> Json:
    """Machine prices, share and raw throughputs of one deployment; None where it has no sweep."""
    sweep = rates.sweep_of(name)
    if sweep is None:
        return None
    machine = sweep.deployment
    return {
        "name": name,
        "share": machine.instance_share,
        "gpus": gpus_in_use(machine.instance_type, machine.instance_share, rates.prices),
        "usd_per_hour": hourly_prices(machine.instance_type, rates.prices),
        "levels": [
            {
                "concurrency": level.concurrency,
                "prompt": level.prompt_tokens_per_second,
                "output": level.output_tokens_per_second,
                "ttft_ms": level.ttft_ms_mean,
                "tpot_ms": level.tpot_ms_mean,
            }
            for level in sorted(sweep.levels, key=lambda level: level.concurrency)
        ],
    }


def hourly_prices(instance_type: str, prices: InstancePrices) -> dict[str, float]:
    """US dollars an hour of a whole machine by commitment; empty where the list does not have it."""
    listed = prices.instances.get(instance_type)
    return {} if listed is None else {kind.value: usd for kind, usd in sorted(listed.usd_per_hour.items())}


def gpus_in_use(instance_type: str, share: float | None, prices: InstancePrices) -> float | None:
    """Accelerators that a deployment uses; None where the list does not tell, or the share is unknown."""
    listed = prices.instances.get(instance_type)
    return None if listed is None or share is None else listed.gpus * share


def _cell(cell: Cell, pricing: Pricing, tables: PriceTables, links: Mapping[str, str]) -> dict[str, Json]:
    score, cost = cell.figures["mean_score"], cell.figures["cost_per_task"]
    identity = cell.identity
    return {
        "name": identity.model.slug + (f" ({identity.effort})" if identity.effort else ""),
        "harness": identity.harness,
        "href": links["/".join(cell.key)],
        "hosting": cell.hosting.value,
        "score": score.amount,
        "n": score.n,
        "m": score.m,
        "cost": cost.amount,
        "cost_n": cost.n,
        "cost_m": cost.m,
        "basis": cell.basis.value if cell.basis is not None else None,
        "trials": [_trial(trial, pricing, tables) for trial in cell.sample.graded],
    }


def _trial(trial: TrialFacts, pricing: Pricing, tables: PriceTables) -> dict[str, Json]:
    record = trial.record
    provider = record.identity.cell.provider
    table = trial.costs.table
    shares = [part.share for part in table.parts] if table is not None else []
    return {
        "provider": provider,
        "day": (pricing.day_for(day_of(record)) or date.min).isoformat(),
        "ways": list(_recorded(trial)),
        "shares": [
            {"prices": tables.key(provider, share.model), **token_classes(share.usage)._asdict()}
            for share in shares
        ],
        "tokens": tokens_processed(record.usage),
        "output": record.usage.output_tokens if record.usage is not None else None,
        "deployment": _deployment(trial, pricing),
    }


def _deployment(trial: TrialFacts, pricing: Pricing) -> str | None:
    """The deployment whose sweep prices a trial on rented machines; None for every other trial."""
    if trial.record.serving.hosting is not Hosting.SELF_HOSTED:
        return None
    return pricing.rates.default_deployment(trial.record.identity.cell.model.slug)


def _recorded(trial: TrialFacts) -> Iterable[Json]:
    """What the record says of itself: bills, credits and prices that came with the run."""
    table = trial.costs.table
    for each in trial.costs.ways:
        at_the_time = each.way is Way.BOOK and (table is None or each.cost is not table.cost)
        if each.way not in DERIVED or at_the_time:
            yield {
                "way": each.way.value,
                "basis": each.cost.basis.value,
                "usd": each.cost.amount_usd,
                "credits": each.cost.credits_used,
            }
