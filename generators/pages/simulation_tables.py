"""Simulation tables: how intervals, verdicts and memberships did where the truth is known."""

from __future__ import annotations

from generators.pages import words
from generators.pages.table import Column, Entry, Table, table
from generators.statistics.simulation.result import CoverageRow, StatisticsMeasurement, pool

SHOWN = frozenset({("t", "mean score"), ("bootstrap-t", "mean cost"), ("bootstrap-t", "cost difference")})
"""Intervals that pages show although nothing is promised of them, by method and what they are of."""
ENOUGH_POINTS = 100


def worst_shown(measured: StatisticsMeasurement) -> str:
    """The least coverage of the intervals that are shown without a promise; empty where none was measured."""
    found = [row.coverage for row in measured.coverage if (row.method, row.what) in SHOWN]
    return words.percent(min(found)) if found else ""


def widest_miss(measured: StatisticsMeasurement) -> str:
    """How far stated membership is off for boards of one size, at worst, in words; empty without any."""
    # A class of few points is off by chance alone.
    found = [row for row in measured.calibration if row.points >= ENOUGH_POINTS and row.cells]
    if not found:
        return ""
    worst = max(found, key=lambda row: abs(row.stated - row.true))
    return (
        f"{words.percent(worst.stated)} was stated where {words.percent(worst.true)} was true "
        f"({worst.population}, {worst.tasks} tasks, boards of {worst.cells} cells, {worst.points:,} points)"
    )


def criteria_table(measured: StatisticsMeasurement) -> Table:
    """Every promise with the worst figure found for it."""
    rows = []
    for each in measured.criteria:
        worst = Entry("not measured", None, unknown=True) if each.worst is None else _number(each.worst)
        rows.append(
            [
                Entry(each.name),
                _number(each.limit),
                worst,
                Entry(each.where),
                Entry("yes" if each.holds else "no"),
            ]
        )
    columns = [Column("Promise", wide=True), Column("Limit", "number"), Column("Worst found", "number")]
    columns += [Column("Where", wide=True), Column("Holds")]
    return table("What the methods promise", columns, rows, sortable=False)


def coverage_table(measured: StatisticsMeasurement) -> Table:
    """Coverage and mean width of each interval by number of tasks."""
    sizes = sorted({row.tasks for row in measured.coverage})
    grouped: dict[tuple[str, str, str], dict[int, CoverageRow]] = {}
    for row in measured.coverage:
        grouped.setdefault((row.population, row.what, row.method), {})[row.tasks] = row
    rows = []
    for (population, what, method), found in grouped.items():
        promised = any(row.promised for row in found.values())
        entries = []
        for size in sizes:
            at = found.get(size)
            entries.append(
                Entry("not drawn", None, unknown=True)
                if at is None
                else Entry(words.percent(at.coverage), at.coverage, note=f"width {at.mean_width:.1f}")
            )
        shown = "shown, nothing promised" if (method, what) in SHOWN else "for comparison, not shown"
        used = "shown, promised" if promised else shown
        rows.append([Entry(method, note=used), Entry(what), Entry(population), *entries])
    columns = [Column("Interval"), Column("Of"), Column("Population")]
    columns += [Column(f"{size} tasks", "number", "share of 95 % intervals with the truth") for size in sizes]
    return table("Coverage and mean width of nominal 95 % intervals", columns, rows)


def equal_boards_table(measured: StatisticsMeasurement) -> Table:
    """Boards of equal cells that claimed a difference all the same."""
    rows = [
        [
            Entry(row.population),
            Entry(str(row.tasks), float(row.tasks)),
            Entry(str(row.cells), float(row.cells)),
            Entry(f"{row.false_boards:,} of {row.boards:,}", row.share_false),
            Entry(words.percent(row.share_ties), row.share_ties),
        ]
        for row in measured.equal_boards
    ]
    columns = [Column("Population"), Column("Tasks", "number"), Column("Cells", "number")]
    columns += [Column("Boards with a false claim", "number"), Column("Pairs called a tie", "number")]
    return table("Boards of equal cells", columns, rows)


def claims_table(measured: StatisticsMeasurement) -> Table:
    """What was decided on boards of unequal cells, and how much of it wrongly."""
    rows = [
        [
            Entry(row.population),
            Entry(str(row.tasks), float(row.tasks)),
            Entry(f"{row.better:,} of {row.pairs:,}", float(row.better)),
            Entry(f"{row.better_wrong:,}", float(row.better_wrong)),
            Entry(f"{row.ties:,}", float(row.ties)),
            Entry(f"{row.ties_wrong:,}", float(row.ties_wrong)),
        ]
        for row in measured.claims
    ]
    columns = [Column("Population"), Column("Tasks", "number"), Column("Called better", "number")]
    columns += [Column("Of these wrong", "number"), Column("Called a tie", "number")]
    columns += [Column("Of these wrong", "number")]
    return table("Boards of unequal cells", columns, rows)


def calibration_table(measured: StatisticsMeasurement) -> Table:
    """Stated membership beside the share that is truly on the frontier."""
    rows = [
        [
            Entry(row.population),
            Entry(str(row.tasks), float(row.tasks)),
            Entry(f"{words.percent(row.lowest)} to {words.percent(row.highest)}", row.lowest),
            Entry(f"{row.points:,}", float(row.points)),
            Entry(words.percent(row.stated), row.stated),
            Entry(words.percent(row.true), row.true),
        ]
        for row in pool(measured.calibration)
    ]
    columns = [Column("Population"), Column("Tasks", "number"), Column("Stated membership", "number")]
    columns += [Column("Points", "number"), Column("Stated on average", "number")]
    columns += [Column("Truly on the frontier", "number")]
    return table("Calibration of frontier membership", columns, rows)


def source_table(measured: StatisticsMeasurement) -> Table:
    """Where the populations are from."""
    rows = [
        [
            Entry(each.population),
            Entry(f"{each.systems:,}", float(each.systems)),
            Entry(f"{each.tasks:,}", float(each.tasks)),
            Entry(each.source),
        ]
        for each in measured.sources
    ]
    columns = [Column("Population"), Column("Systems", "number"), Column("Tasks", "number")]
    columns += [Column("Source", wide=True)]
    return table("Populations", columns, rows, sortable=False)


def _number(value: float) -> Entry:
    return Entry(f"{value:.3f}", value)
