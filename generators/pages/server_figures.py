"""Server figures: histograms and gauges of the model's server during the invocations of one trial."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages.table import Column, Entry, Table, count_entry, table
from runner.records import ServerWindow, TrialRecord

SHARES = frozenset({"kv_cache_usage_perc"})
"""Gauges that are a share, 1 for all of it."""
SECONDS = "_seconds"


def server_figures_table(record: TrialRecord) -> Table | None:
    """Mean and peak of what the server told of itself, over all its clients; None where it told nothing."""
    rows = [
        [Entry(str(each.number), float(each.number)), *row]
        for each in record.invocations
        if each.server_window is not None
        for row in (*_gauges(each.server_window), *_histograms(each.server_window))
    ]
    if not rows:
        return None
    columns = [
        Column("Invocation", "number"),
        Column("Figure", wide=True),
        Column("Mean", "number"),
        Column("Peak", "number"),
        Column("Samples or observations", "number"),
    ]
    return table("Gauges and histograms of the model's server", columns, rows, sortable=False)


def _gauges(window: ServerWindow) -> Iterator[list[Entry]]:
    for name, gauge in sorted(window.gauges.items()):
        shown = _share if name in SHARES else _plain
        yield [Entry(name, code=True), shown(gauge.mean), shown(gauge.peak), count_entry(gauge.samples)]


def _histograms(window: ServerWindow) -> Iterator[list[Entry]]:
    """Those in which anything was observed; a histogram has no peak."""
    for name, histogram in sorted(window.histograms.items()):
        mean = histogram.mean
        if mean is not None:
            shown = Entry(f"{mean:,.3f} s", mean) if name.endswith(SECONDS) else _plain(mean)
            yield [Entry(name, code=True), shown, Entry("", None), count_entry(histogram.count)]


def _share(value: float) -> Entry:
    return Entry(f"{value:.1%}", value)


def _plain(value: float) -> Entry:
    return Entry(f"{value:,.2f}", value)
