"""Works: everything that a runner may be at work on: runs of a plan, benchmarks, sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from runner.engine.bench.announcing import announcements
from runner.engine.bench.standing import bench_name, bench_standing
from runner.engine.places import Places
from runner.engine.resuming import all_plans, is_unfinished
from runner.engine.standing import Standing
from runner.engine.status import Status, status_of
from runner.engine.sweeps.keeper import ORDER, SweepFolder
from runner.engine.sweeps.standing import begun_at, sweep_standing
from runner.errors import HarnessmarkError, UsageError
from runner.records import BenchManifest, Part, PlanRecord
from runner.store import ResultsStore
from runner.store.bench_run import BenchRun, find_runs


class Unreadable(Part):
    """One whose files cannot be read."""

    kind: Literal["run", "benchmark", "sweep"]
    identifier: str
    why: str


EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Work:
    """One of them.

    Args:
        identifier: what a user calls it.
        name: of its lock and of the file in which its runner says that it lives.
        created_at: when it was asked for.
        look: where it stands at a time.
        is_unfinished: whether something of it is left.
    """

    kind: Literal["run", "benchmark", "sweep"]
    identifier: str
    name: str
    created_at: datetime
    look: Callable[[datetime], Status | Standing]
    is_unfinished: Callable[[], bool]

    def unfinished(self, now: datetime) -> Status | Standing | Unreadable | None:
        """Where it stands, if something of it is left; what is damaged may be."""
        try:
            return self.look(now) if self.is_unfinished() else None
        except HarnessmarkError as error:
            where = f" ({error.where})" if error.where else ""
            return Unreadable(kind=self.kind, identifier=self.identifier, why=f"{error.what}{where}")


def all_works(places: Places) -> list[Work]:
    """Every one of the project, the newest first."""
    found = [*_runs(places), *_benchmarks(places), *_sweeps(places)]
    return sorted(found, key=lambda work: (work.created_at, work.identifier), reverse=True)


def find_work(identifier: str | None, places: Places) -> Work:
    """The one with that id, or the newest.

    Raises:
        UsageError: there is none.
    """
    works = all_works(places)
    if identifier is None and works:
        return works[0]
    for work in works:
        if work.identifier == identifier:
            return work
    known = ", ".join(work.identifier for work in works) or "none"
    if identifier is None:
        raise UsageError("there is no plan yet, nor a benchmark or a sweep", remedy="start one: invoke run")
    raise UsageError(f"there is no plan {identifier}, nor a benchmark or a sweep", remedy=f"known: {known}")


def _runs(places: Places) -> Iterator[Work]:
    for plan, store in all_plans(places):
        yield _run(plan, store, places)


def _run(plan: PlanRecord, store: ResultsStore, places: Places) -> Work:
    return Work(
        kind="run",
        identifier=plan.plan_id,
        name=plan.plan_id,
        created_at=plan.created_at or EARLIEST,
        look=lambda now: status_of(plan, store, places, now),
        is_unfinished=lambda: is_unfinished(plan, store, places),
    )


def _benchmarks(places: Places) -> Iterator[Work]:
    for root in places.roots().existing():
        for run in find_runs(root):
            yield _benchmark(run, places)
    for run, manifest in announcements(places):
        yield _benchmark(run, places, manifest)


def _benchmark(run: BenchRun, places: Places, prepared: BenchManifest | None = None) -> Work:
    def look(now: datetime) -> Standing:
        """Where the benchmark stands at the time ``now``."""
        return bench_standing(run, places, now, prepared)

    def is_unfinished() -> bool:
        """Whether it still runs, or can be resumed."""
        if prepared is not None:
            return True
        summary = run.summary()
        if summary is not None and summary.ended == "complete":
            return False
        standing = look(datetime.now(UTC))
        return standing.runner.is_alive or standing.resume is not None

    return Work(
        kind="benchmark",
        identifier=run.run_id,
        name=bench_name(run.run_id),
        created_at=_planned_at(run) if prepared is None else prepared.created_at,
        look=look,
        is_unfinished=is_unfinished,
    )


def _planned_at(run: BenchRun) -> datetime:
    """When it was planned: its id begins with that, and else the clock of the file system."""
    try:
        return datetime.strptime(run.run_id.partition("-")[0], "%Y%m%dt%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(run.manifest_path.stat().st_mtime, UTC)


def _sweeps(places: Places) -> Iterator[Work]:
    for path in sorted((places.artifacts / "sweeps").glob(f"*/{ORDER}")):
        yield _sweep(SweepFolder(path.parent), places)


def _sweep(folder: SweepFolder, places: Places) -> Work:
    return Work(
        kind="sweep",
        identifier=folder.sweep_id,
        name=folder.sweep_id,
        created_at=begun_at(folder),
        look=lambda now: sweep_standing(folder, places, now),
        is_unfinished=lambda: not folder.done,
    )
