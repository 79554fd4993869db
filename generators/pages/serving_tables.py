"""Serving tables: deployments beside each other, and the levels of one."""

from __future__ import annotations

from generators.pages import links, words
from generators.pages.table import Column, Entry, Table, count_entry, link_entry, table
from generators.tables.serving import DEFAULT_SHAPE, Economics, PricedLevel
from runner.records import Quantiles, Spread

MILLION = 1_000_000
NOT_PRICED = "not priced"


def deployments_table(swept: tuple[Economics, ...]) -> Table:
    """One row per deployment, at its cheapest level and at its fastest."""
    rows = []
    for each in swept:
        machine, cheapest, fastest = each.sweep.deployment, each.cheapest, each.fastest
        rows.append(
            [
                link_entry(each.name, links.relative(links.SERVING, links.deployment_page(each.name))),
                Entry(machine.instance_type, note=share_text(machine.instance_share)),
                hourly_entry(each),
                count_entry(cheapest.level.concurrency if cheapest else None, "not known"),
                _dollars(cheapest.blended * MILLION if cheapest and cheapest.blended else None),
                _dollars(cheapest.blended_cost(DEFAULT_SHAPE) if cheapest else None),
                _dollars(cheapest.split_cost(DEFAULT_SHAPE) if cheapest else None),
                _milliseconds(cheapest.level.ttft_ms_mean if cheapest else None),
                count_entry(fastest.level.concurrency if fastest else None, "not known"),
                _rate(fastest.level.output_tokens_per_second if fastest else None),
            ]
        )
    columns = [
        Column("Deployment"),
        Column("Machine"),
        Column("USD an hour", "number", "for the share of the machine in use"),
        Column("Cheapest level", "number", "concurrency with the lowest blended rate"),
        Column("USD per million tokens", "number", "blended: tokens of any kind, at the cheapest level"),
        Column("Task, blended", "number", "USD for the task above at the blended rate"),
        Column("Task, split", "number", "USD for the task above at separate rates for input and output"),
        Column("First token there", "number", "mean time to first token at the cheapest level, milliseconds"),
        Column("Fastest level", "number", "concurrency with most output tokens per second"),
        Column("Output tokens a second", "number", "at the fastest level, over all sessions"),
    ]
    return table("Deployments, hardware-derived dollars", columns, rows)


def levels_table(each: Economics) -> Table:
    """Every level of a sweep with all that was measured."""
    rows = [_level_row(level, each) for level in each.levels]
    priced = f"at machine prices of {each.price_day.isoformat()}"
    columns = [
        Column("Sessions at once", "number"),
        Column("Prompt tokens a second", "number"),
        Column("Output tokens a second", "number"),
        Column("USD per million, blended", "number", priced),
        Column("USD per million read", "number", f"split rate, {priced}"),
        Column("USD per million written", "number", f"split rate, {priced}"),
        Column("First token, ms", "number", "mean; quantiles below"),
        Column("Per output token, ms", "number", "mean; quantiles below"),
        Column("Queue, ms", "number", "mean; quantiles below"),
        Column("Prefill, ms", "number", "mean"),
        Column("Running", "number", "mean, peak below"),
        Column("Waiting", "number", "mean, peak below"),
        Column("Cache of keys and values", "number", "mean share in use, peak below"),
        Column("Window, s", "number"),
    ]
    return table(f"Levels of {each.name}, hardware-derived dollars", columns, rows)


def facts_of(each: Economics) -> list[tuple[str, Entry]]:
    """What was swept, when, and where the figures come from."""
    sweep, machine = each.sweep, each.sweep.deployment
    unknown = Entry("not told", unknown=True)
    facts = [
        ("Model", Entry(machine.model)),
        ("Machine", Entry(machine.instance_type, note=share_text(machine.instance_share))),
        ("Tensor parallel size", count_entry(machine.tensor_parallel_size, "not told")),
        ("Precision", Entry(machine.precision) if machine.precision else unknown),
        ("USD an hour", hourly_entry(each)),
        ("Swept", Entry(sweep.sweep_date) if sweep.sweep_date else unknown),
        ("Load", Entry(sweep.workload.description) if sweep.workload else unknown),
    ]
    if each.cheapest is not None:
        facts.append(("Cheapest level", Entry(str(each.cheapest.level.concurrency))))
    if each.fastest is not None:
        facts.append(("Fastest level", Entry(str(each.fastest.level.concurrency))))
    if each.same_as:
        facts.append(("Same sweep", Entry(same_text(each))))
    if sweep.findings is not None and sweep.findings.saturation:
        facts.append(("Saturation", Entry(sweep.findings.saturation)))
    if sweep.source is not None:
        source = sweep.source
        href = f"https://github.com/{source.repository}/blob/{source.commit}/{source.path}"
        facts.append(("Source", Entry(f"{source.repository}, {source.license}", href=href)))
    return facts


def same_text(each: Economics) -> str:
    """Under which other names the same figures stand; empty where they stand once."""
    return f"the very figures of {words.listing(each.same_as)}: one sweep" if each.same_as else ""


def hourly_entry(each: Economics) -> Entry:
    """What the deployment's share of its machine costs an hour, to a tenth of a cent."""
    if each.usd_per_hour is None:
        return Entry(NOT_PRICED, None, note=each.missing, unknown=True)
    note = f"hardware-derived, {each.price_day.isoformat()}"
    return Entry(f"${words.hourly(each.usd_per_hour)}", each.usd_per_hour, note=note)


def share_text(share: float | None) -> str:
    """How much of a machine is used, where that is not all of it."""
    if share is None:
        return "share in use unknown"
    return "" if share == 1 else f"{share:g} of it"


def _level_row(priced: PricedLevel, each: Economics) -> list[Entry]:
    level, split = priced.level, priced.split
    note = ", ".join(
        word
        for word, which in (("cheapest", each.cheapest), ("fastest", each.fastest))
        if which is not None and which.level == level
    )
    return [
        Entry(str(level.concurrency), float(level.concurrency), note=note),
        _rate(level.prompt_tokens_per_second),
        _rate(level.output_tokens_per_second),
        _dollars(priced.blended * MILLION if priced.blended is not None else None),
        _dollars(split.input_usd * MILLION if split is not None else None),
        _dollars(split.output_usd * MILLION if split is not None else None),
        _milliseconds(level.ttft_ms_mean, level.ttft_ms_estimate, level.ttft_ms_upper),
        _milliseconds(level.tpot_ms_mean, level.tpot_ms_estimate, level.tpot_ms_upper),
        _milliseconds(level.queue_ms_mean, level.queue_ms_estimate, level.queue_ms_upper),
        _milliseconds(level.prefill_ms_mean),
        _spread(level.requests_running),
        _spread(level.requests_waiting),
        _spread(level.kv_cache_usage, share=True),
        Entry("not known", unknown=True)
        if level.window_seconds is None
        else Entry(f"{level.window_seconds:,.0f}", level.window_seconds),
    ]


def _dollars(amount: float | None) -> Entry:
    if amount is None:
        return Entry(NOT_PRICED, None, unknown=True)
    return Entry(words.dollars(amount), amount)


def _rate(rate: float | None) -> Entry:
    return Entry("not known", None, unknown=True) if rate is None else Entry(f"{rate:,.1f}", rate)


def _milliseconds(
    mean: float | None, estimate: Quantiles | None = None, upper: Quantiles | None = None
) -> Entry:
    """A mean with its quantiles: estimated inside their buckets, or as the bounds of the buckets."""
    if mean is None:
        return Entry("not known", None, unknown=True)
    shown = []
    for name in ("p50", "p90", "p99"):
        value = getattr(estimate, name) if estimate else None
        bound = getattr(upper, name) if upper else None
        if value is not None:
            shown.append(f"{name} {value:,.0f}")
        elif bound is not None:
            shown.append(f"{name} ≤ {bound:,.0f}")
    return Entry(f"{mean:,.1f}", mean, note=", ".join(shown))


def _spread(spread: Spread | None, *, share: bool = False) -> Entry:
    if spread is None or spread.mean is None:
        return Entry("not known", None, unknown=True)
    peak = f"peak {_gauge(spread.peak, share)}" if spread.peak is not None else ""
    return Entry(_gauge(spread.mean, share), spread.mean, note=peak)


def _gauge(value: float, share: bool) -> str:
    return f"{100 * value:.1f} %" if share else f"{value:.2f}"
