"""Keeper: a sweep on disk while it is not whole: its order, its finished levels, its scrapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from runner.engine.sweeps.order import SweepOrder
from runner.errors import StoreError, UsageError
from runner.records import Deployment, Level, Part, Workload
from runner.store.atomic import remove_interrupted, write_once
from runner.store.component import below

AnyPart = TypeVar("AnyPart", bound=Part)
ORDER, ABOUT, LEVELS, DATABASE = "order.json", "about.json", "levels", "metrics.duckdb"
ENDING, DONE = "ending", "done"
"""Its record is being made; it is in the store."""


class SweepAbout(Part):
    """What a sweep is about, as it was when its first level began."""

    deployment: Deployment
    workload: Workload
    demonstration: bool
    private: bool


@dataclass(frozen=True)
class SweepFolder:
    """The folder of one sweep; each file in it is written once and whole."""

    path: Path

    @property
    def sweep_id(self) -> str:
        """Name of the sweep."""
        return self.path.name

    @property
    def database(self) -> Path:
        """What its collector writes."""
        return self.path / DATABASE

    @property
    def done(self) -> bool:
        """Whether its record is in the store."""
        return (self.path / DONE).exists()

    def has_begun(self) -> bool:
        """Whether it can be gone on with."""
        return (self.path / ORDER).exists()

    def begin(self, order: SweepOrder, about: SweepAbout) -> None:
        """Keep the order of a new sweep and what it is about; one that was begun keeps its own."""
        self._clear()
        for name, part in ((ABOUT, about), (ORDER, order)):
            if not (self.path / name).exists():
                write_once(self.path / name, part.model_dump_json(indent=2).encode())

    def order(self) -> SweepOrder:
        """The order it was begun with.

        Raises:
            StoreError: it cannot be read.
        """
        return self._read(SweepOrder, ORDER)

    def about(self) -> SweepAbout:
        """What it is about.

        Raises:
            StoreError: it cannot be read.
        """
        return self._read(SweepAbout, ABOUT)

    def _read(self, expected: type[AnyPart], name: str) -> AnyPart:
        try:
            return expected.model_validate_json((self.path / name).read_bytes())
        except (OSError, ValidationError) as error:
            raise StoreError(
                f"this sweep cannot be read: {type(error).__name__}",
                where=str(self.path / name),
                remedy="start a new one: invoke sweep",
            ) from None

    def _clear(self) -> None:
        """Remove what writes left behind that a kill interrupted."""
        for folder in (self.path, self.path / LEVELS):
            remove_interrupted(folder)

    def finished(self) -> dict[int, Level]:
        """The levels that are measured, by concurrency.

        Raises:
            StoreError: one cannot be read.
        """
        found: dict[int, Level] = {}
        for path in sorted((self.path / LEVELS).glob("*.json")):
            try:
                level = Level.model_validate_json(path.read_bytes())
            except (OSError, ValidationError) as error:
                raise StoreError(
                    f"a measured level cannot be read: {type(error).__name__}",
                    where=str(path),
                    remedy="move the file away: the level is measured again then",
                ) from None
            found[level.concurrency] = level
        return found

    def keep(self, level: Level) -> None:
        """Keep a finished level."""
        write_once(self.path / LEVELS / f"{level.concurrency}.json", level.model_dump_json(indent=2).encode())

    def is_ending(self) -> bool:
        """Whether nothing is left but its record, which needs no server.

        Raises:
            StoreError: the order or a level cannot be read.
        """
        if (self.path / ENDING).exists():
            return True
        return self.has_begun() and self.finished().keys() >= set(self.order().levels)

    def note_ending(self) -> None:
        """Note that its record is made: a level that were measured after this would be in none."""
        write_once(self.path / ENDING, b"")

    def close(self) -> None:
        """Note that the record is in the store."""
        self._clear()
        write_once(self.path / DONE, b"")


def find_sweep(folder: Path, sweep_id: str | None) -> SweepFolder:
    """The sweep of that id, or the newest that is not done.

    Raises:
        UsageError: there is none; the known ones are named.
    """
    known = sorted((each.parent for each in folder.glob(f"*/{ORDER}")), key=lambda each: each.name)
    if sweep_id is not None:
        if any(each.name == sweep_id for each in known):
            return SweepFolder(below(folder, sweep_id))
        raise UsageError(
            f"there is no sweep {sweep_id}",
            remedy=f"known sweeps: {', '.join(each.name for each in known) or 'none'}",
        )
    open_ = [each for each in map(SweepFolder, known) if not each.done]
    if not open_:
        raise UsageError("no sweep is left unfinished", remedy="start one: invoke sweep")
    return open_[-1]
