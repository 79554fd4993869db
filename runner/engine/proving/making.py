"""Making a proof: one side of a pair put to a judge, resumable at any moment, never asked twice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.engine.judging.bench import Bench
from runner.engine.judging.journal import Journal
from runner.engine.judging.recording import heard
from runner.engine.judging.sitting import Sitting
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.proving.docket import Entry
from runner.errors import UsageError
from runner.judges.brief import Case
from runner.judges.rubric import Rubric
from runner.records import CHANGED, ProofRecord
from runner.store import ResultsStore


@dataclass(frozen=True)
class ProofMatter:
    """A side of a pair as a judge is asked about it."""

    entry: Entry
    scored_by: Rubric

    @property
    def case(self) -> Case:
        """The submission."""
        return self.entry.pair.case(self.entry.side)

    @property
    def rubric(self) -> Rubric:
        """In the order that the side asks for."""
        return self.entry.pair.rubric(self.entry.side, self.scored_by)

    @property
    def dataset_path(self) -> Path:
        """Of the dataset that the tasks are from."""
        return self.entry.suite.dataset_path

    @property
    def where(self) -> str:
        """In messages."""
        return self.entry.name

    @property
    def scenario(self) -> str:
        """As for a trial of the same task."""
        return f"judge-{self.entry.suite.dataset}/{self.entry.pair.task.id}"


def make_proof(bench: Bench, store: ResultsStore, entry: Entry, rubric: Rubric) -> ProofRecord:
    """Have the judge score a side of a pair, and write it down.

    Raises:
        EndpointError: the judge failed; what it has answered so far is kept.
        StoreError: the record cannot be written.
        UsageError: another process is at work on it.
    """
    matter = ProofMatter(entry, rubric)
    journal = _journal(bench, entry, rubric)
    with locked(journal.lock, wait=False, holder="another trial of this judge"):
        finished = journal.finished_as(ProofRecord)
        if finished is None:
            sitting = Sitting(bench, matter, journal, entry.number)
            hearing = sitting.hold()
            finished = ProofRecord(
                suite=entry.suite.name,
                suite_version=entry.suite.version,
                suite_sha256=entry.suite.digest,
                pair=entry.pair.id,
                category=entry.pair.category,
                side="changed" if entry.side == CHANGED else "reference",
                dataset=entry.suite.dataset,
                task=entry.pair.task.id,
                shown_sha256=entry.pair.digest(entry.side),
                **heard(bench, rubric, hearing, sitting.mask()),
            )
            journal.finish(finished)
        store.write_proof(finished)
        journal.clear()
    return finished


def settle_proofs(places: Places, store: ResultsStore, judge: str, *, demonstration: bool) -> int:
    """Bring into ``store`` what a killed runner had finished and could not write, or not wholly; how many."""
    store.clear_proofs(judge)
    settled = 0
    for journal in Journal.all_in(journals(places)):
        record = journal.finished_as(ProofRecord)
        if record is None or record.judge.name != judge or record.demonstration is not demonstration:
            continue
        try:
            with locked(journal.lock, wait=False, holder="a trial of a judge"):
                if journal.finished_as(ProofRecord) is not None:
                    store.write_proof(record)
                    journal.clear()
                    settled += 1
        except UsageError:
            # Its maker is alive and about to do the same.
            continue
    return settled


def journals(places: Places) -> Path:
    """Folder of the journals of a project."""
    return places.artifacts / "proving"


def _journal(bench: Bench, entry: Entry, rubric: Rubric) -> Journal:
    """Another one as soon as anything that shapes the answer differs."""
    return Journal.of(
        journals(bench.places),
        entry.suite.digest,
        entry.pair.id,
        entry.side,
        entry.pair.digest(entry.side),
        rubric.digest,
        bench.version,
        bench.settings.model_dump_json(exclude={"repeats", "timeout_seconds", "isolation"}),
        str(entry.number),
    )
