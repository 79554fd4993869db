"""Load tables: the levels of each load, with knee and search, and what speaks against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.endpoint.reports import shown
from runner.endpoint.reports.table import CLIENT, Head, Table
from runner.records.bench_summary import LoadCurve


def load_tables(curves: Sequence[LoadCurve], labels: dict[str, str]) -> Iterator[Table]:
    """One table for each load at each target."""
    for curve in curves:
        rows = tuple(
            (
                f"{point.level:g} {point.unit}",
                shown.share(point.succeeded),
                shown.number(point.window_seconds, 2),
                shown.number(point.offered_per_second, 2),
                shown.number(point.requests_per_second, 2),
                shown.number(point.output_tokens_per_second),
                shown.quantile(point.measures.get("ttft_ms"), 0.5),
                shown.quantile(point.measures.get("latency_ms"), 0.5),
                shown.quantile(point.measures.get("scheduled_latency_ms"), 0.9),
                shown.quantile(point.lateness_ms, 0.9),
                shown.number(point.degradation, 2),
                shown.number(point.goodput_per_second, 2),
                str(point.client.workers),
                shown.client(point.client),
            )
            for point in curve.points
        )
        head: Head = (
            "Level",
            "Good ends",
            "Steady seconds",
            "Offered/s",
            "Requests/s",
            "Tokens/s",
            "TTFT p50 ms",
        )
        head += ("Latency p50 ms", "From schedule p90 ms", "Sent late p90 ms", "Degradation", "Goodput/s")
        head += ("Processes", CLIENT)
        loop = "closed loop: who waits does not ask" if curve.closed_loop else "open loop: planned arrivals"
        yield Table(f"Load: {curve.group} at {labels[curve.target]}", head, rows, f"{loop}. {_ends(curve)}")


def _ends(curve: LoadCurve) -> str:
    parts = []
    if curve.knee is not None:
        knee = curve.knee
        parts.append(
            f"Knee: {knee.missing_reason}."
            if knee.level is None
            else f"Knee at {knee.level:g} ({shown.number(knee.low, 0)} to {shown.number(knee.high, 0)})."
        )
    if curve.saturation_level is not None:
        parts.append(f"Saturated from {curve.saturation_level:g}.")
    if curve.goodput is not None:
        best = curve.goodput.best_level
        parts.append(
            f"Limits are kept up to {best:g}." if best is not None else f"{curve.goodput.missing_reason}."
        )
    return " ".join(parts)


def load_flags(curves: Sequence[LoadCurve], labels: dict[str, str]) -> Iterator[str]:
    """Why figures of single levels are not to be trusted, and what a search could not decide."""
    for curve in curves:
        name = f"{labels[curve.target]}, {curve.group}"
        for point in curve.points:
            yield from (f"{name} {point.level:g}: {flag}" for flag in point.flags)
        for stage, why in () if curve.goodput is None else curve.goodput.undecided.items():
            yield f"{name} {stage.rpartition('@')[2]}: undecided whether the limits are kept: {why}"
