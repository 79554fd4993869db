"""Result: what a simulation found, as it is stored and shown, and whether it keeps what is promised."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from runner.errors import ConfigurationError
from runner.records.base import Part

LEAST_COVERAGE = 0.93
MOST_FALSE = 0.05
MOST_MISCALIBRATION = 0.08
FEWEST_POINTS = 50
"""A range of stated probability with fewer points than this says too little to be judged."""
CALIBRATED_TASKS = 20
"""From this many tasks on, membership has to be calibrated."""


class CoverageRow(Part):
    """Coverage and width of one interval at one number of tasks."""

    population: str
    what: str
    method: str
    promised: bool
    """Whether it has to cover; rows without stand for comparison."""
    tasks: int
    draws: int
    coverage: float
    mean_width: float
    """In points, or in dollars for costs."""
    reference_width: float | None
    """Mean width of the adjusted paired interval on the same samples; None where it does not apply."""


class EqualBoardsRow(Part):
    """Boards of equal cells, and how many of them claimed a difference."""

    population: str
    tasks: int
    cells: int
    boards: int
    false_boards: int
    share_false: float
    share_ties: float
    """Share of pairs that were called a tie, which is right."""


class ClaimsRow(Part):
    """Boards of unequal cells: pairs that were decided, and how many of them wrongly."""

    population: str
    tasks: int
    cells: int
    pairs: int
    better: int
    better_wrong: int
    ties: int
    ties_wrong: int


class CalibrationRow(Part):
    """Points whose stated membership lies in one range, and how many are truly on the frontier."""

    population: str
    tasks: int
    cells: int
    """Cells of each board; 0 where boards of several sizes are pooled."""
    lowest: float
    highest: float
    points: int
    stated: float
    """Mean stated probability."""
    true: float
    """Share that is on the true frontier."""


class Source(Part):
    """Where a population is from."""

    population: str
    systems: int
    tasks: int
    source: str


class Criterion(Part):
    """One promise, the worst figure found for it, and where."""

    name: str
    limit: float
    worst: float | None
    """None where nothing measured bears on it."""
    where: str
    holds: bool


class StatisticsMeasurement(Part):
    """All rows of a simulation, and what made them."""

    taken_on: date
    version: str
    seed: int
    sources: tuple[Source, ...]
    coverage: tuple[CoverageRow, ...]
    equal_boards: tuple[EqualBoardsRow, ...]
    claims: tuple[ClaimsRow, ...]
    calibration: tuple[CalibrationRow, ...]

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Every promise with the worst figure found."""
        return (
            self._covers(),
            self._narrow(),
            self._few_false(),
            self._calibrated(),
        )

    @property
    def holds(self) -> bool:
        """Whether every promise is kept."""
        return all(criterion.holds for criterion in self.criteria)

    def _covers(self) -> Criterion:
        rows = [row for row in self.coverage if row.promised]
        worst = min(rows, key=lambda row: row.coverage, default=None)
        return Criterion(
            name="95 % intervals of rates and paired results cover",
            limit=LEAST_COVERAGE,
            worst=worst.coverage if worst else None,
            where=_at(worst.population, f"{worst.what}, {worst.method}", worst.tasks) if worst else "",
            holds=worst is not None and worst.coverage >= LEAST_COVERAGE,
        )

    def _narrow(self) -> Criterion:
        rows = [
            (row.mean_width / row.reference_width, row)
            for row in self.coverage
            if row.promised and row.reference_width
        ]
        ratio, worst = max(rows, key=lambda pair: pair[0], default=(None, None))
        return Criterion(
            name="width beside the adjusted paired interval",
            limit=1.0,
            worst=ratio,
            where=_at(worst.population, f"{worst.what}, {worst.method}", worst.tasks) if worst else "",
            holds=ratio is not None and ratio <= 1.0 + 1e-9,
        )

    def _few_false(self) -> Criterion:
        worst = max(self.equal_boards, key=lambda row: row.share_false, default=None)
        return Criterion(
            name="boards of equal cells that claim a difference",
            limit=MOST_FALSE,
            worst=worst.share_false if worst else None,
            where=_at(worst.population, f"{worst.boards} boards", worst.tasks) if worst else "",
            holds=worst is not None and worst.share_false <= MOST_FALSE,
        )

    def _calibrated(self) -> Criterion:
        pooled = [
            row
            for row in pool(self.calibration)
            if row.points >= FEWEST_POINTS and row.tasks >= CALIBRATED_TASKS
        ]
        worst = max(pooled, key=lambda row: abs(row.stated - row.true), default=None)
        off = abs(worst.stated - worst.true) if worst else None
        where = f"{worst.population}: stated {worst.stated:.2f}, {worst.tasks} tasks" if worst else ""
        return Criterion(
            name="stated membership beside the true share",
            limit=MOST_MISCALIBRATION,
            worst=off,
            where=where,
            holds=off is not None and off <= MOST_MISCALIBRATION,
        )


def pool(rows: Iterable[CalibrationRow]) -> list[CalibrationRow]:
    """Rows of boards of all sizes together, by population, number of tasks and range; ``cells`` is 0."""
    grouped: dict[tuple[str, int, float, float], list[CalibrationRow]] = {}
    for row in rows:
        grouped.setdefault((row.population, row.tasks, row.lowest, row.highest), []).append(row)
    pooled = []
    for (population, tasks, lowest, highest), members in grouped.items():
        points = sum(row.points for row in members)
        pooled.append(
            CalibrationRow(
                population=population,
                tasks=tasks,
                cells=0,
                lowest=lowest,
                highest=highest,
                points=points,
                stated=sum(row.stated * row.points for row in members) / points,
                true=sum(row.true * row.points for row in members) / points,
            )
        )
    return pooled


def read_measurement(path: Path) -> StatisticsMeasurement | None:
    """The stored result; None where there is none.

    Raises:
        ConfigurationError: the file holds something else.
    """
    if not path.is_file():
        return None
    try:
        return StatisticsMeasurement.model_validate_json(path.read_bytes(), strict=False)
    except ValidationError as error:
        raise ConfigurationError(
            f"is no result of a simulation: {error}",
            where=path.name,
            remedy="write it again: invoke measure statistics",
        ) from None


def write_measurement(path: Path, measurement: StatisticsMeasurement) -> None:
    """Store a result for the site to show."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(measurement.model_dump_json(indent=1) + "\n", encoding="utf-8")


def merged(kept: StatisticsMeasurement | None, now: StatisticsMeasurement) -> StatisticsMeasurement:
    """``now`` with the rows of populations that were measured before and not now, in the order they had."""
    if kept is None:
        return now
    fresh = {source.population for source in now.sources}
    order = list(dict.fromkeys(source.population for source in (*kept.sources, *now.sources)))

    def rows(name: str) -> tuple[Part, ...]:
        """Of one table: what was kept and what is new."""
        both = (*(row for row in getattr(kept, name) if row.population not in fresh), *getattr(now, name))
        return tuple(sorted(both, key=lambda row: order.index(row.population)))

    tables = ("sources", "coverage", "equal_boards", "claims", "calibration")
    return now.model_copy(update={name: rows(name) for name in tables})


def _at(population: str, what: str, tasks: int) -> str:
    return f"{population}: {what}, {tasks} tasks"
