"""Shown: how figures are written in reports; what is not known is a dash, never 0."""

from __future__ import annotations

from collections.abc import Mapping

from runner.records.bench_figures import Distribution, QuantileFigure, RateFigure
from runner.records.bench_summary import ClientError

DASH = "\u2014"


def number(value: float | None, digits: int = 1) -> str:
    """A plain number."""
    return DASH if value is None else f"{value:.{digits}f}"


def money(value: float | None) -> str:
    """Dollars with four significant digits."""
    return DASH if value is None else f"${value:.4g}"


def percent(value: float | None) -> str:
    """A share in percent."""
    return DASH if value is None else f"{100 * value:.1f} %"


def rate(figure: RateFigure | None) -> str:
    """``n of m`` with the share and its interval."""
    if figure is None or figure.rate is None:
        return DASH
    low, high = 100 * (figure.low or 0.0), 100 * (figure.high or 0.0)
    return f"{figure.count} of {figure.of}, {100 * figure.rate:.1f} % ({low:.0f} to {high:.0f})"


def share(figure: RateFigure | None) -> str:
    """``n of m``."""
    return DASH if figure is None or not figure.of else f"{figure.count} of {figure.of}"


def quantile(found: Distribution | None, q: float, digits: int = 1) -> str:
    """A percentile with its interval where the sample bounds it."""
    figure: QuantileFigure | None = None if found is None else found.quantile(q)
    if figure is None or figure.value is None:
        return DASH
    if figure.low is None or figure.high is None:
        return number(figure.value, digits)
    return f"{figure.value:.{digits}f} ({figure.low:.{digits}f} to {figure.high:.{digits}f})"


def adjusted(found: Distribution | None, q: float) -> str:
    """A percentile in which failures took for ever."""
    figures = () if found is None else found.adjusted
    figure = next((each for each in figures if abs(each.q - q) < 1e-9), None)
    if figure is None:
        return DASH
    return "never" if figure.infinite else number(figure.value)


def client(found: ClientError) -> str:
    """The client's own error: bias of the TTFT at p50 / p99, then the largest lag of its loop; ms."""
    bias = DASH
    if found.bias_p50_ms is not None:
        bias = f"{found.bias_p50_ms:.2f} / {number(found.bias_p99_ms, 2)}"
    return f"{bias}; {number(found.loop_lag_ms)}"


def counts(values: Mapping[str, int]) -> str:
    """``name x count`` for each."""
    return ", ".join(f"{name} x {count}" for name, count in values.items()) or DASH
