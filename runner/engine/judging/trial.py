"""Judging a trial: from a stored trial to a judgement beside it, resumable at any moment."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass
from pathlib import Path

from runner.engine.judging.bench import Bench
from runner.engine.judging.journal import Journal
from runner.engine.judging.recording import judgement_record
from runner.engine.judging.sitting import Sitting
from runner.engine.judging.subject import Refused, Subject, subject_of
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.errors import OverwriteError, SecretFound, UsageError
from runner.records import JudgementRecord, JudgementStatus, TrialIdentity
from runner.store import ResultsStore, StoredTrial


@dataclass(frozen=True)
class Judged:
    """What came of one trial: a judgement that is in the store now, or why there is none."""

    record: JudgementRecord | None
    refused: str | None = None


def judge_trial(bench: Bench, store: ResultsStore, identity: TrialIdentity, number: int) -> Judged:
    """Make judgement ``number`` of a stored trial and write it; one that is there is left alone.

    A runner that was killed on the way left its journal: answers that were paid for are not asked for again.

    Raises:
        EndpointError: the judge failed; the trial stays without this judgement.
        StoreError: the judgement cannot be written.
        UsageError: another process is at work on this judgement.
    """
    stored = store.trial(identity)
    try:
        subject = subject_of(stored, bench.places.datasets, bench.settings.rubric)
        if bench.demonstration and not stored.record.demonstration:
            raise Refused("a judge with scripted answers may judge demonstrations only")
    except Refused as refused:
        return Judged(None, str(refused))
    present = [each for each in stored.judgements if each.judge.name == bench.settings.label]
    for judgement in present:
        if judgement.number == number:
            return Judged(judgement)
    journal = journal_of(bench, subject, number)
    with locked(journal.lock, wait=False, holder="another judge of this trial"):
        finished = journal.finished()
        if finished is None:
            sitting = Sitting(bench, subject, journal, number)
            finished = judgement_record(bench, subject, sitting.hold(), sitting.mask())
            journal.finish(finished)
        store.write_judgement(stored.record.plan_id, finished)
        journal.clear()
    return Judged(finished)


def journals(places: Places) -> Path:
    """Folder of the journals of a project."""
    return places.artifacts / "judging"


def settle(places: Places, store: ResultsStore) -> int:
    """Bring finished judgements into ``store`` that a killed runner could not, or not wholly; how many.

    One that cannot be written, as it holds a secret, keeps no other trial from being judged: it is said when
    its own trial is.
    """
    store.settle()
    settled = 0
    for journal in Journal.all_in(journals(places)):
        record = journal.finished()
        if record is None or not store.has_trial(record.trial):
            continue
        try:
            with locked(journal.lock, wait=False, holder="a judge"):
                settled += _settle_one(store, journal)
        except (UsageError, SecretFound):
            # Its maker is alive and about to do the same; or what it holds may not be in the store.
            continue
    return settled


def _settle_one(store: ResultsStore, journal: Journal) -> bool:
    """Bring a finished judgement into ``store`` that is about the trial as it reads today, or is there."""
    record = journal.finished()
    if record is None:
        return False
    trial = store.trial(record.trial).record
    if record.trial_sha256 != trial.digest() and not store.has_judgement(record):
        return False
    written = False
    # Another one of this number was written meanwhile: this one came too late.
    with contextlib.suppress(OverwriteError):
        store.write_judgement(trial.plan_id, record)
        written = True
    journal.clear()
    return written


def journal_of(bench: Bench, subject: Subject, number: int) -> Journal:
    """The journal of this judgement: another one as soon as anything that shapes the answer differs."""
    settings = bench.settings
    return Journal.of(
        journals(bench.places),
        *subject.stored.record.identity.key,
        subject.stored.record.digest(),
        subject.case.task.digest(),
        subject.rubric.digest,
        bench.version,
        settings.model_dump_json(exclude={"repeats", "timeout_seconds", "isolation"}),
        str(number),
    )


def wanted_numbers(
    stored: StoredTrial, label: str, rubric: str, repeats: int, *, only_missing: bool
) -> list[int]:
    """Numbers of the judgements that are still to be made of a trial.

    Args:
        label: name of the judge; another judge's judgements have numbers of their own.
        rubric: identity of the rubric; judgements by another one do not count.
        repeats: how many judgements of this judge there are to be.
        only_missing: leave a trial alone that any judge has scored by this rubric; answers that were not
            valid do not count, so such a trial is judged again.
    """
    by_rubric = [each for each in stored.judgements if each.rubric == rubric]
    if only_missing:
        by_rubric = [each for each in by_rubric if each.status is not JudgementStatus.INVALID]
        if by_rubric:
            return []
    own = [each for each in by_rubric if each.judge.name == label]
    taken = {each.number for each in stored.judgements if each.judge.name == label}
    # A number that failed comes first again: its journal holds what was paid for.
    free = (number for number in itertools.count(1) if number not in taken)
    return list(itertools.islice(free, max(repeats - len(own), 0)))
