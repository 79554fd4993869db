"""Derivation: how the cost of one trial came about, step by step with every number, as lines to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runner.costs.bases import KnownWay, Pricing, TrialCosts, Way, costs_of, day_of
from runner.costs.disagreement import AGREEMENT_WORDS, CLASSES
from runner.costs.evidence import Evidence, usd_per_credit
from runner.costs.hardware import INPUT_WEIGHT, SECONDS_PER_HOUR, HardwareRate, MissingRate, split_rates
from runner.costs.price_lists import Followed
from runner.costs.price_table import Priced
from runner.costs.reconciliation import TrialReconciliation, reconcile_trial
from runner.costs.token_prices import MILLION
from runner.costs.tokens import token_classes, tokens_processed
from runner.records import CacheSemantics, Cost, CostBasis, Hosting, TrialRecord, Usage

TOKEN_CLASSES = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_tokens": "cache read",
    "cache_write_tokens": "cache write",
}
SEMANTICS = {
    CacheSemantics.DISJOINT: "disjoint: cache counts come on top of the input",
    CacheSemantics.PARTITION: "partition: cache counts are parts of the input",
    CacheSemantics.UNKNOWN: "unknown: nobody told how cache counts relate to the input",
}
SAME = 0.005
"""Two amounts this close, relatively, are one amount: published dollars are rounded to cents."""


@dataclass(frozen=True)
class Step:
    """One part of a derivation: what it is about, and its lines in order."""

    title: str
    lines: tuple[str, ...]


def derivation(trial: TrialRecord, pricing: Pricing, followed: Followed | None = None) -> tuple[Step, ...]:
    """The whole way from token counts and prices to the headline cost of ``trial``.

    Args:
        trial: whose cost is explained.
        pricing: the prices at which it is worked out.
        followed: the price list that the dollars of its agent and model follow, where one was found.
    """
    costs = costs_of(trial, pricing)
    compared = reconcile_trial(Evidence(trial, costs, followed, usd_per_credit(trial, pricing)))
    steps = [
        Step("trial", tuple(_identity(trial))),
        Step("tokens", tuple(_tokens(trial.usage))),
        *(Step(f"way: {each.way.value}", tuple(_way(each, trial, costs, pricing))) for each in costs.ways),
        Step("headline", tuple(_headline(costs))),
        Step("how far the ways agree", tuple(_agreement(compared))),
    ]
    if trial.published is not None:
        steps.append(Step("published figure", tuple(_published(trial, costs, compared, pricing))))
    return tuple(steps)


def _identity(trial: TrialRecord) -> Iterator[str]:
    cell, day = trial.identity.cell, day_of(trial)
    yield "/".join(trial.identity.key)
    yield f"model {cell.model.raw_id} at {cell.provider}, hosting {trial.serving.hosting.value}"
    yield f"day of the run: {day.isoformat() if day else 'not known'}; outcome: {trial.outcome.value}"


def _tokens(usage: Usage | None) -> Iterator[str]:
    if usage is None:
        yield "no token counts are recorded"
        return
    for name, title in TOKEN_CLASSES.items():
        count: int | None = getattr(usage, name)
        source = usage.sources.get(name, "source not stated")
        yield f"{title}: {'not known' if count is None else f'{count:,}'} ({source})"
    decided = usage.semantics_decided_by.value
    yield f"cache counts are {SEMANTICS[usage.cache_semantics]} (decided by {decided})"
    names = ["input_tokens", "output_tokens"]
    if usage.cache_semantics is CacheSemantics.DISJOINT:
        names += ["cache_read_tokens", "cache_write_tokens"]
    counts = [getattr(usage, name) for name in names]
    sum_of = " + ".join("?" if count is None else f"{count:,}" for count in counts)
    total = tokens_processed(usage)
    yield f"tokens processed: {sum_of} = {'not known' if total is None else f'{total:,}'}"


def _way(each: KnownWay, trial: TrialRecord, costs: TrialCosts, pricing: Pricing) -> Iterator[str]:
    match each.way:
        case Way.BOOK if costs.table is not None and each.cost is costs.table.cost:
            for part in costs.table.parts:
                yield from _row(part)
            if len(costs.table.parts) > 1:
                yield f"sum over {len(costs.table.parts)} shares by model"
        case Way.BLENDED | Way.SPLIT:
            yield from _machine(each.way, trial, pricing)
        case Way.CREDITS if each.cost.credits_used is not None and each.cost.amount_usd is not None:
            rate = each.cost.amount_usd / each.cost.credits_used if each.cost.credits_used else 0.0
            yield f"{each.cost.credits_used:g} credits x {rate:g} USD = {dollars(each.cost.amount_usd)}"
            yield from _plans(each.cost.credits_used, trial, pricing)
        case Way.NOTIONAL:
            yield "nobody was billed at this price, so it is never a cost"
        case _:
            pass
    yield f"{_amount(each.cost)}; basis {each.cost.basis.value}, {_day(each.cost)}"
    yield f"source: {each.cost.source}"


def _plans(used: float, trial: TrialRecord, pricing: Pricing) -> Iterator[str]:
    """What the credits cost by each plan that is known on the day, and who says so."""
    day = pricing.day_for(day_of(trial))
    if pricing.plans is None or day is None:
        return
    for plan in pricing.plans.on(trial.identity.cell.provider, day):
        within, beyond = plan.usd_per_credit, plan.overage_usd_per_credit
        more = "" if beyond is None else f", beyond it at {beyond:g} {dollars(used * beyond)}"
        yield (
            f"plan {plan.plan} ({plan.usd_per_month:g} USD for {plan.credits:,} credits, {plan.days()}, "
            f"checked on {plan.checked_on.isoformat()}): at {within:g} {dollars(used * within)}{more}"
        )


def _row(part: Priced) -> Iterator[str]:
    yield from part.answer.steps
    prices, usage = part.answer.token_prices, part.share.usage
    if prices is None or usage is None or part.usd is None:
        yield f"{part.share.model}: not priced: {part.missing_reason or 'the tokens are not known'}"
        return
    fresh, read, write, output = token_classes(usage).whole or (0, 0, 0, 0)
    if usage.cache_semantics is CacheSemantics.PARTITION:
        yield f"fresh input: {usage.input_tokens or 0:,} - {read:,} - {write:,} = {fresh:,}"
    terms = (
        (fresh, prices.input, "fresh input"),
        (output, prices.output, "output"),
        (read, prices.cache_read, "cache read"),
        (write, prices.cache_write, "cache write"),
    )
    for count, price, name in terms:
        if price is not None:
            yield f"{name}: {count:,} x {price:g} / 1,000,000 = {dollars(count * price / MILLION)}"
    yield f"{part.share.model}: sum, to six decimals: {dollars(part.usd)}"


def _machine(way: Way, trial: TrialRecord, pricing: Pricing) -> Iterator[str]:
    rates = pricing.rates
    rate = rates.rate_for(trial.identity.cell.model.slug, trial.serving)
    if isinstance(rate, MissingRate):
        yield f"no rate: {rate.reason}"
        return
    yield from _hourly(rate, pricing)
    level = rate.level
    prompt, output = level.prompt_tokens_per_second or 0.0, level.output_tokens_per_second or 0.0
    yield (
        f"level: concurrency {level.concurrency}, the cheapest of the sweep: {prompt:,.2f} prompt + "
        f"{output:,.2f} output tokens a second"
    )
    tokens = tokens_processed(trial.usage)
    if way is Way.BLENDED:
        yield (
            f"blended: {rate.usd_per_hour:g} / {SECONDS_PER_HOUR} / ({prompt:,.2f} + {output:,.2f}) = "
            f"{rate.usd_per_token:.6e} USD a token"
        )
        if tokens is not None:
            seconds = tokens / (prompt + output)
            yield f"{tokens:,} tokens = {seconds:,.1f} seconds of the machine's share"
            yield f"{tokens:,} x {rate.usd_per_token:.6e} = {dollars(tokens * rate.usd_per_token)}"
        return
    split = split_rates(rate.usd_per_hour, prompt, output)
    yield (
        f"output: {rate.usd_per_hour:g} / {SECONDS_PER_HOUR} / ({output:,.2f} + {INPUT_WEIGHT:g} x "
        f"{prompt:,.2f}) = {split.output_usd:.6e}; input: {INPUT_WEIGHT:g} x output = "
        f"{split.input_usd:.6e} USD a token"
    )
    written = trial.usage.output_tokens if trial.usage else None
    if tokens is not None and written is not None:
        usd = (tokens - written) * split.input_usd + written * split.output_usd
        yield (
            f"{tokens - written:,} x {split.input_usd:.6e} + {written:,} x {split.output_usd:.6e} = "
            f"{dollars(usd)}"
        )


def _hourly(rate: HardwareRate, pricing: Pricing) -> Iterator[str]:
    machine, prices = rate.deployment, pricing.rates.prices
    whole, share = prices.hourly(machine.instance_type, rate.commitment) or 0.0, machine.instance_share or 0.0
    yield f"deployment {machine.name}, sweep {rate.sweep_id}, on {machine.instance_type}"
    yield (
        f"price list of {prices.as_of.isoformat()} (checked on {prices.checked_on.isoformat()}), "
        f"{rate.commitment.value}: {whole:g} USD an hour x share {share:g} of the machine = "
        f"{rate.usd_per_hour:g} USD an hour"
    )
    if rate.hardware_note:
        yield f"mind: {rate.hardware_note}"


def _headline(costs: TrialCosts) -> Iterator[str]:
    yield f"{_amount(costs.headline)}; basis {costs.headline.basis.value}, {_day(costs.headline)}"
    yield f"source: {costs.headline.source}"
    yield f"rule: {costs.rule}"
    for each in costs.ways:
        usd, base = each.cost.amount_usd, costs.headline.amount_usd
        if each.cost is not costs.headline and usd is not None and base:
            yield f"beside it: {each.way.value} {dollars(usd)}, {usd / base:.4f} times the headline"


def _agreement(found: TrialReconciliation) -> Iterator[str]:
    yield AGREEMENT_WORDS[found.agreement]
    for each in found.comparisons:
        ratio = "not known" if each.ratio is None else f"{each.ratio:.4f}"
        names = ", ".join(CLASSES[reason].title for reason in each.explanation.reasons)
        yield f"{each.first.what} / {each.second.what}: {ratio}; {each.words}"
        if names:
            yield f"  {names}: {each.explanation.text}"
    for note in found.notes:
        yield f"{CLASSES[note.reason].title}: {note.text}"


def _published(
    trial: TrialRecord, costs: TrialCosts, found: TrialReconciliation, pricing: Pricing
) -> Iterator[str]:
    """Which way reproduces the published dollars, or the class of why none does."""
    said = trial.published.total_cost_usd if trial.published else None
    if said is None:
        yield "the source publishes no dollars for this trial"
    else:
        yield f"the source publishes {dollars(said)}"
        same = [each for each in costs.ways if said and _close(each.cost.amount_usd, said)]
        for each in same:
            yield f"reproduced by: {each.way.value} ({_amount(each.cost)})"
        if not same and pricing.moved:
            yield "at the prices asked for, which are not those of the run, no way gives this amount"
        elif not same:
            yield "no way to know the cost gives this amount"
    names = [CLASSES[reason].title for reason in found.reasons]
    if names:
        yield f"class: {'; '.join(names)}"
    if trial.serving.hosting is Hosting.SELF_HOSTED:
        yield "a self-hosted model sends no bill: the site shows the hardware-derived amount in its place"
    codes = [warning.code for warning in trial.warnings]
    if codes:
        yield f"warnings of the record: {', '.join(codes)}"


def _close(amount: float | None, said: float) -> bool:
    return amount is not None and abs(amount - said) <= SAME * said


def _amount(cost: Cost) -> str:
    if cost.basis is CostBasis.NONE:
        return "no cost by design"
    return f"not priced: {cost.missing_reason}" if cost.amount_usd is None else dollars(cost.amount_usd)


def _day(cost: Cost) -> str:
    return f"prices of {cost.price_as_of.isoformat()}" if cost.price_as_of else "day of the prices not known"


def dollars(amount: float) -> str:
    """Dollars with all six decimals that a price gives."""
    return f"${amount:,.6f}"
