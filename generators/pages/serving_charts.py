"""Serving charts: throughput, cost, latency and queue of a deployment against concurrency."""

from __future__ import annotations

from collections.abc import Callable

from generators.charts.lines import Line, LinesPlan, lines_chart
from generators.pages.charting import Drawn, drawn
from generators.tables.serving import Economics, PricedLevel

MILLION = 1_000_000
ACROSS = "Sessions at once"
Read = Callable[[PricedLevel], float | None]


def level_charts(each: Economics, page: str) -> list[Drawn]:
    """The charts of a deployment's page; one whose figures are all unknown is left out."""
    plans: tuple[tuple[str, str, str, str, tuple[tuple[str, Read], ...]], ...] = (
        ("prompt", "Prompt throughput", "tokens per second", "", (("prompt tokens", _prompt),)),
        ("output", "Output throughput", "tokens per second", "", (("output tokens", _output),)),
        (
            "cost",
            "Cost of a million tokens, hardware-derived",
            "USD per million",
            "$",
            (("blended", _blended), ("read, split", _read), ("written, split", _written)),
        ),
        (
            "latency",
            "Where the time to the first token goes",
            "milliseconds, mean",
            "",
            (
                ("time to first token", lambda p: p.level.ttft_ms_mean),
                ("prefill", lambda p: p.level.prefill_ms_mean),
                ("queue", lambda p: p.level.queue_ms_mean),
            ),
        ),
        (
            "pace",
            "Time per output token",
            "milliseconds, mean",
            "",
            (("time per output token", lambda p: p.level.tpot_ms_mean),),
        ),
        (
            "scheduler",
            "Requests at the server",
            "requests, mean",
            "",
            (
                ("running", lambda p: p.level.requests_running.mean if p.level.requests_running else None),
                ("waiting", lambda p: p.level.requests_waiting.mean if p.level.requests_waiting else None),
            ),
        ),
    )
    found = []
    for name, title, up, prefix, lines in plans:
        shown = tuple(
            Line(label, tuple(read(level) for level in each.levels))
            for label, read in lines
            if any(read(level) is not None for level in each.levels)
        )
        if not shown:
            continue
        plan = LinesPlan(
            places=tuple(float(level.level.concurrency) for level in each.levels),
            lines=shown,
            across=ACROSS,
            up=up,
            prefix=prefix,
            marked=_marked(each),
            rests_on=f"hardware-derived, {each.price_day.isoformat()}" if prefix else "",
        )
        caption = f"Machine prices of {each.price_day.isoformat()}." if prefix else ""
        slug = f"serving-{each.name}-{name}"
        chart = lines_chart(plan, slug=slug, title=title, scope=each.name, caption=caption)
        found.append(drawn(chart, page))
    return found


def _marked(each: Economics) -> tuple[tuple[float, str], ...]:
    cheapest = ((float(each.cheapest.level.concurrency), "cheapest level"),) if each.cheapest else ()
    fastest = ((float(each.fastest.level.concurrency), "fastest level"),) if each.fastest else ()
    return cheapest + fastest


def _prompt(priced: PricedLevel) -> float | None:
    return priced.level.prompt_tokens_per_second


def _output(priced: PricedLevel) -> float | None:
    return priced.level.output_tokens_per_second


def _blended(priced: PricedLevel) -> float | None:
    return None if priced.blended is None else priced.blended * MILLION


def _read(priced: PricedLevel) -> float | None:
    return None if priced.split is None else priced.split.input_usd * MILLION


def _written(priced: PricedLevel) -> float | None:
    return None if priced.split is None else priced.split.output_usd * MILLION
