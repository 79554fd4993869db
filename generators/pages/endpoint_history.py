"""Endpoint history: how far the figures of one mapping lie apart from run to run."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from generators.pages.endpoint_words import BY_NAME, Measure
from generators.pages.table import Column, Entry, Table, table
from generators.tables.endpoint_runs import EndpointRun

WATCHED = ("ttft_ms", "latency_ms", "output_tps")
Key = tuple[str, str]
"""Mapping and profile: what makes the figures of two runs answers to the same questions."""


def of_one_methodology(runs: Sequence[EndpointRun]) -> tuple[EndpointRun, ...]:
    """The runs whose figures have the newest definitions; those of older ones are compared with none."""
    newest = max((run.summary.methodology for run in runs), default=0)
    return tuple(run for run in runs if run.summary.methodology == newest)


def spread_table(runs: Sequence[EndpointRun]) -> Table | None:
    """Lowest, middle and highest median of each mapping over its runs; None where nothing was repeated.

    Only runs of one profile and one methodology are put together. Hosted models are slower at some times of
    the day and of the week than at others: one run is one moment.
    """
    rows = []
    for (label, profile), values in sorted(_medians(of_one_methodology(runs)).items()):
        repeated = {name: found for name, found in values.items() if len(found) > 1}
        if repeated:
            entries = [_entry(repeated.get(name, []), BY_NAME[name]) for name in WATCHED]
            rows.append([Entry(label), Entry(profile), *entries])
    if not rows:
        return None
    columns = [Column("Mapping"), Column("Profile")]
    columns += [
        Column(
            f"{BY_NAME[name].title}, p50",
            "number",
            "lowest to highest median of the runs, how many times as much that is, and the middle one",
        )
        for name in WATCHED
    ]
    return table(f"Spread from run to run of {runs[0].model}", columns, rows)


def _medians(runs: Iterable[EndpointRun]) -> dict[Key, dict[str, list[float]]]:
    found: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for target in run.summary.targets:
            for name in WATCHED:
                measured = target.measures.get(name)
                median = None if measured is None else measured.quantile(0.5)
                if median is not None and median.value is not None:
                    found[(run.label(target.target), run.profile)][name].append(median.value)
    return found


def _entry(values: Sequence[float], measure: Measure) -> Entry:
    if len(values) < 2:
        return Entry("not repeated", None, unknown=True)
    low, high = min(values), max(values)
    times = f"{high / low:.2f} times; " if low > 0 else ""
    middle = statistics.median(values)
    return Entry(
        f"{measure.text(low)} to {measure.text(high)}",
        high / low if low > 0 else None,
        note=f"{times}middle {measure.text(middle)}; {len(values):,} runs",
    )
