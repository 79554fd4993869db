"""Docket: which stored trials are to be judged, how often, and which are left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from runner.engine.judging.settings import JudgeSettings
from runner.engine.judging.subject import Refused, subject_of
from runner.engine.judging.trial import wanted_numbers
from runner.engine.places import Places
from runner.engine.stored_trials import nothing_fits, stores_of
from runner.records import TrialIdentity
from runner.store import ResultsStore


@dataclass(frozen=True)
class Entry:
    """One judgement to be made."""

    store: ResultsStore
    trial: TrialIdentity
    number: int


@dataclass(frozen=True)
class Docket:
    """Judgements to be made; trials that have them all; trials that are refused, by reason."""

    entries: tuple[Entry, ...]
    complete: int
    refused: Counter[str]

    @property
    def trials(self) -> int:
        """Trials that are to be judged."""
        return len({(str(entry.store.root), entry.trial.key) for entry in self.entries})


def make_docket(
    settings: JudgeSettings,
    places: Places,
    *,
    path: str | None = None,
    cells: Sequence[str] = (),
    only_missing: bool = False,
    demonstration: bool = False,
) -> Docket:
    """What is left to judge.

    Args:
        settings: the judge.
        path: a store, or a folder in it: only trials below are judged; None means every store.
        cells: words or patterns; a trial is judged when one of them is a part of its cell's path.
        only_missing: leave out trials that any judge has scored by the rubric.
        demonstration: the judge is scripted, so that only demonstrations may be judged.

    Raises:
        UsageError: the path is in no store, or none of the words fits any trial.
    """
    roots, below = stores_of(path, places)
    entries: list[Entry] = []
    refused: Counter[str] = Counter()
    complete, fits = 0, not cells
    for store in map(ResultsStore, roots):
        for stored in store.trials():
            identity = stored.record.identity
            if below is not None and not stored.folder.is_relative_to(below):
                continue
            if cells and not any(_is_in(cell, identity) for cell in cells):
                continue
            fits = True
            try:
                if demonstration and not stored.record.demonstration:
                    raise Refused("a judge with scripted answers may judge demonstrations only")
                subject = subject_of(stored, places.datasets, settings.rubric)
            except Refused as reason:
                refused[str(reason)] += 1
                continue
            numbers = wanted_numbers(
                stored,
                settings.label,
                subject.rubric.identity,
                settings.repeats,
                only_missing=only_missing,
            )
            complete += not numbers
            entries += [Entry(store, identity, number) for number in numbers]
    if not fits:
        raise nothing_fits(cells)
    # The first judgement of every trial comes before the second one of any.
    entries.sort(key=lambda entry: entry.number)
    return Docket(tuple(entries), complete, refused)


def _is_in(cell: str, identity: TrialIdentity) -> bool:
    path = "/".join(identity.key)
    return cell in path or fnmatchcase(path, cell)
