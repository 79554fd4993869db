"""Endpoint entries: rates, percentiles and money of endpoint benchmarks, with n of m and interval."""

from __future__ import annotations

from generators.pages import words
from generators.pages.endpoint_words import UNSURE, Measure, milliseconds, rests_on, tally
from generators.pages.table import Entry
from generators.statistics.summarised import summarised_interval
from runner.records.bench_figures import Distribution, Money, PairedDifference, RateFigure
from runner.records.bench_manifest import BenchCalibration, BenchTarget
from runner.records.bench_summary import ClientError

LAST = 1e15
"""Where a wait without end sorts."""
NOT_MEASURED = Entry("not measured", None, unknown=True)


def rate_entry(figure: RateFigure | None, *, count_first: bool = False) -> Entry:
    """A rate with its counts and Wilson's interval; unknown where it is of nothing."""
    if figure is None or figure.rate is None:
        return Entry("not known", None, note="of none", unknown=True)
    counted = f"{figure.count:,} of {figure.of:,}"
    shown = counted if count_first else words.percent(figure.rate)
    note = words.percent(figure.rate) if count_first else counted
    return Entry(shown, figure.rate, note=f"{note}; {interval(figure.low, figure.high)}")


def interval(low: float | None, high: float | None) -> str:
    """The ends of an interval of a share."""
    if low is None or high is None:
        return "no interval"
    return f"{100 * low:.0f} to {100 * high:.0f} %"


def quantile_entry(found: Distribution | None, q: float, measure: Measure) -> Entry:
    """A percentile with its interval and n of m; one that the sample cannot carry says so."""
    if found is None or not found.tally.used:
        note = "" if found is None else counted(found)
        return Entry("not measured", None, note=note, unknown=True)
    figure = found.quantile(q)
    if figure is None or figure.value is None:
        return Entry(UNSURE, None, note=counted(found), unknown=True)
    span = _span(figure.low, figure.high, measure)
    return Entry(measure.text(figure.value), figure.value, note=f"{span}; {counted(found)}")


def _span(low: float | None, high: float | None, measure: Measure) -> str:
    """An interval; where the sample bounds one side only, that side."""
    if low is None or high is None:
        if low is None and high is None:
            return "no interval"
        return f"at most {measure.text(high)}" if high is not None else f"at least {measure.text(low or 0.0)}"
    ends = measure.text(low), measure.text(high)
    unit = ends[1].rpartition(" ")[2]
    return f"{ends[0].removesuffix(' ' + unit)} to {ends[1]}"


def mean_entry(found: Distribution | None, measure: Measure) -> Entry:
    """A mean with its interval and n of m, such as turns of a task."""
    if found is None or found.mean is None:
        return NOT_MEASURED
    sure = summarised_interval(found.tally.used, found.mean, found.standard_deviation)
    few = "fewer than 2 values" if found.tally.used < 2 else "all alike"
    if sure is not None and found.minimum is not None and found.minimum >= 0:
        # None of these figures can be negative.
        sure = max(sure[0], 0.0), sure[1]
    ends = f"no interval: {few}" if sure is None else f"95 %: {_span(*sure, measure)}"
    return Entry(measure.text(found.mean), found.mean, note=f"{ends}; {counted(found)}")


def adjusted_entry(found: Distribution, q: float, measure: Measure) -> Entry:
    """A percentile with failures counted as infinite waits."""
    figure = next((each for each in found.adjusted if abs(each.q - q) < 1e-9), None)
    if figure is None:
        return Entry("not defined", None, unknown=True)
    if figure.infinite:
        return Entry("a failure", LAST, note="the wait never ends")
    return NOT_MEASURED if figure.value is None else Entry(measure.text(figure.value), figure.value)


def counted(found: Distribution) -> str:
    """``44 of 48``."""
    return f"{found.tally.used:,} of {found.tally.attempted:,}"


def dollars_entry(amount: float | None, money: Money, target: BenchTarget, *, of: str = "") -> Entry:
    """An amount with its basis and day of prices; an unknown one says what is missing."""
    if amount is None:
        if target.price.missing_reason is not None:
            return Entry(words.NOT_PRICED, None, note=target.price.missing_reason, unknown=True)
        why = tally(dict(money.unknown)) or "none was solved"
        if money.unknown:
            why += f"; at least {words.dollars(money.known_usd)} by {rests_on(target)}"
        return Entry("not known", None, note=why, unknown=True)
    return Entry(
        words.dollars(amount), amount, note="; ".join(part for part in (of, rests_on(target)) if part)
    )


def difference_entry(found: PairedDifference, measure: Measure | None) -> Entry:
    """A paired difference with its interval."""
    if found.difference is None:
        return Entry("not known", None, note="no pair", unknown=True)
    ends = "no interval"
    if found.low is not None and found.high is not None:
        first, last = signed(found.low, measure), signed(found.high, measure)
        unit = last.rpartition(" ")[2]
        ends = f"{first.removesuffix(' ' + unit)} to {last}"
    return Entry(signed(found.difference, measure), found.difference, note=ends)


def signed(value: float, measure: Measure | None) -> str:
    """A difference with its sign; without a measure it is one of shares, in points."""
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    size = abs(value)
    return sign + (f"{100 * size:.0f} points" if measure is None else measure.text(size))


def bias_entry(value: float | None, limit: float | None = None) -> Entry:
    """A bias of the client in milliseconds, marked where it is above its limit."""
    if value is None:
        return NOT_MEASURED
    over = limit is not None and abs(value) > limit
    note = "" if limit is None else f"limit {milliseconds(limit)}{', exceeded' if over else ''}"
    return Entry(milliseconds(value), value, note=note)


def client_entry(client: ClientError, calibration: BenchCalibration | None) -> Entry:
    """The client's own error beside a figure: calibrated bias, then floor, lag and processes."""
    notes = []
    if calibration is not None and calibration.floor_ms is not None:
        notes.append(f"floor {milliseconds(calibration.floor_ms)}")
    if client.loop_lag_ms is not None:
        notes.append(f"lag {milliseconds(client.loop_lag_ms)}")
    if client.workers > 1:
        notes.append(words.counted(client.workers, "process", "processes"))
    note = "; ".join(notes)
    if client.bias_p50_ms is None or client.bias_p99_ms is None:
        return Entry("not calibrated", None, note=note, unknown=True)
    text = f"{milliseconds(client.bias_p50_ms)} / {milliseconds(client.bias_p99_ms)}"
    return Entry(text, client.bias_p50_ms, note=note)
