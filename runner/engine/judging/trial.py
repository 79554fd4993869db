"""Judging a trial: from a stored trial to a judgement beside it, resumable at any moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.datasets import SealedCheckout, remove, seal
from runner.engine.archive import keep_stream
from runner.engine.folding import fold_costs, fold_usage
from runner.engine.judging.bench import Bench
from runner.engine.judging.journal import Begun, Done, Journal
from runner.engine.judging.subject import Refused, Subject, subject_of
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.pricing import with_given_prices
from runner.errors import EndpointError, RepositoryError, UsageError
from runner.harnesses.endpoint import Endpoint
from runner.judges.base import DIRECT, Reply
from runner.judges.brief import Brief, draw, make_brief
from runner.judges.fencing import visible
from runner.judges.hearing import JudgeFailed, Ruling, hear
from runner.records import (
    CRITERIA,
    ArtifactScore,
    Cost,
    CostBasis,
    DataWarning,
    Judge,
    JudgementAttempt,
    JudgementRecord,
    JudgementStatus,
    TrialIdentity,
    sha256_of,
)
from runner.records.judgement import MAX_NOTE
from runner.store import ResultsStore, StoredTrial

MAX_REASON, MAX_FAULT = 2000, 500
ZERO = ArtifactScore(**dict.fromkeys(CRITERIA, 0), total=0)
SCRIPTED = Cost(basis=CostBasis.NONE, amount_usd=0.0, source="the built-in model server bills nothing")
UNPRICED = Cost(
    basis=CostBasis.PRICE_TABLE,
    amount_usd=None,
    source="tokens times the prices given for this judge",
    missing_reason="no prices of the judge's model were given",
)


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
    journal = _journal(bench, subject, number)
    with locked(journal.lock, wait=False, holder="another judge of this trial"):
        store.clear_judgements(identity)
        finished = journal.finished()
        if finished is None:
            finished = _Sitting(bench, subject, journal, number).hold()
            journal.finish(finished)
        store.write_judgement(stored.record.plan_id, finished)
        journal.clear()
    return Judged(finished)


def journals(places: Places) -> Path:
    """Folder of the journals of a project."""
    return places.artifacts / "judging"


def settle(places: Places, store: ResultsStore) -> int:
    """Bring finished judgements into ``store`` that a killed runner could not, or not wholly; how many."""
    settled = 0
    for journal in Journal.all_in(journals(places)):
        record = journal.finished()
        if record is None or not store.has_trial(record.trial):
            continue
        try:
            with locked(journal.lock, wait=False, holder="a judge"):
                stored = store.trial(record.trial)
                if record.trial_sha256 == stored.record.digest() and journal.finished() is not None:
                    store.clear_judgements(record.trial)
                    store.write_judgement(stored.record.plan_id, record)
                    journal.clear()
                    settled += 1
        except UsageError:
            # Its maker is alive and about to do the same.
            continue
    return settled


def _journal(bench: Bench, subject: Subject, number: int) -> Journal:
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


@dataclass
class _Sitting:
    """One judgement while it is made."""

    bench: Bench
    subject: Subject
    journal: Journal
    number: int
    done: list[Done] = field(default_factory=list)
    checkout: SealedCheckout | None = None

    def hold(self) -> JudgementRecord:
        """The record of the judgement.

        Raises:
            EndpointError: the judge failed.
        """
        case, rubric = self.subject.case, self.subject.rubric
        sealing = self.journal.sealing() or self.journal.keep_sealing(draw(case))
        asked, _ = rubric.parts(case.files)
        if not asked:
            return self._record(make_brief(case, rubric, sealing, workspace=None), None)
        workspace = self._checked_out() if self.bench.reads_repository else None
        brief = make_brief(case, rubric, sealing, workspace=str(workspace) if workspace else None)
        endpoint = self._endpoint()
        self._recover(brief, endpoint, workspace)

        def ask(_number: int, prompt: str) -> Reply:
            return self._ask(brief, prompt, endpoint, workspace)

        answers = [each.answer for each in self.done if not each.attempt.interrupted]
        try:
            ruling = hear(brief, ask, self._told, answers)
        except JudgeFailed as failed:
            reason = self.bench.mask(endpoint, self.journal.folder).text(str(failed))
            raise EndpointError(
                f"the judge gave no answer: {reason}",
                where="/".join(self.subject.stored.record.identity.key),
                remedy="judge again; what it has answered so far is kept",
            ) from None
        return self._record(brief, ruling)

    def _endpoint(self) -> Endpoint:
        identity = self.subject.stored.record.identity
        scenario = f"judge-{identity.cell.dataset}/{identity.task}"
        return self.bench.endpoint(f"judge-{self.journal.folder.name}", scenario)

    def _checked_out(self) -> Path:
        """A checkout for this judgement alone, as the agent found it."""
        folder, case = self.journal.folder, self.subject.case
        for name in ("repository", "trusted.git"):
            remove(folder / name)
        try:
            self.checkout = seal(
                case.task.repo,
                case.task.ref,
                beside=self.subject.dataset_path.parent,
                cache=self.bench.places.repositories,
                workspace=folder / "repository",
                git_dir=folder / "trusted.git",
            )
        except RepositoryError as error:
            raise EndpointError(
                f"the judge cannot be given the repository: {error.what}",
                where=error.where,
                remedy=error.remedy,
            ) from None
        return self.checkout.workspace

    def _recover(self, brief: Brief, endpoint: Endpoint, workspace: Path | None) -> None:
        """What an earlier runner got to know; an attempt that it died in counts with what it had used."""
        for number, (begun, done) in enumerate(self.journal.attempts(), 1):
            if done is None:
                question = self.bench.question(brief, "", endpoint, self.journal.scratch(number), workspace)
                reply = self.bench.judge.left_behind(question)
                done = self._done(number, begun, reply, None)
                self.journal.end(done)
            self.done.append(done)

    def _ask(self, brief: Brief, prompt: str, endpoint: Endpoint, workspace: Path | None) -> Reply:
        number = len(self.done) + 1
        digest = sha256_of(prompt.encode())
        self.journal.begin(number, digest)
        begun, _ = list(self.journal.attempts())[-1]
        reply = self.bench.ask(brief, prompt, endpoint, self.journal.scratch(number), workspace)
        if reply.answer is not None:
            # A lone surrogate, which JSON can spell, is no text that can be kept.
            reply = replace(reply, answer=reply.answer.encode("utf-8", "replace").decode())
        seconds = (datetime.now(UTC) - begun.started_at).total_seconds()
        self.done.append(self._done(number, begun, reply, round(seconds, 3)))
        # On disk before anything else is done: this is what was paid for.
        self.journal.end(self.done[-1])
        return reply

    def _done(self, number: int, begun: Begun, reply: Reply, seconds: float | None) -> Done:
        bench = self.bench
        mask = bench.mask(self._endpoint(), self.journal.folder)
        stream = None
        if reply.stream is not None:
            stream = keep_stream(reply.stream, bench.places.streams, bench.scanner)
        answered = reply.error is None
        attempt = JudgementAttempt(
            number=number,
            started_at=begun.started_at,
            duration_seconds=seconds,
            prompt_sha256=begun.prompt_sha256,
            answer_sha256=sha256_of((reply.answer or "").encode("utf-8", "replace")) if answered else None,
            stream_sha256=stream,
            requests_seen=reply.requests_seen,
            usage=reply.usage,
            costs=self._costs(reply),
            faults=() if answered else (mask.text(reply.error or "", MAX_FAULT),),
            interrupted=not answered,
        )
        return Done(
            attempt=attempt, answer=reply.answer, files_read=reply.files_read, warnings=reply.warnings
        )

    def _costs(self, reply: Reply) -> tuple[Cost, ...]:
        if self.bench.demonstration:
            return (SCRIPTED,)
        return with_given_prices(reply.costs, reply.usage, self.bench.settings.prices()) or (UNPRICED,)

    def _told(self, _number: int, faults: tuple[str, ...]) -> None:
        """Note what was wrong with the last answer."""
        last = self.done[-1]
        mask = self.bench.mask(self._endpoint(), self.journal.folder)
        shown = tuple(mask.text(visible(fault), MAX_FAULT) for fault in faults)
        attempt = last.attempt.model_copy(update={"faults": shown})
        self.done[-1] = last.model_copy(update={"attempt": attempt})
        self.journal.end(self.done[-1])

    def _record(self, brief: Brief, ruling: Ruling | None) -> JudgementRecord:
        record, bench = self.subject.stored.record, self.bench
        attempts = tuple(each.attempt for each in self.done)
        read = tuple(dict.fromkeys(name for each in self.done for name in each.files_read))
        durations = [attempt.duration_seconds for attempt in attempts]
        known = [seconds for seconds in durations if seconds is not None]
        return JudgementRecord(
            trial=record.identity,
            number=self.number,
            judge=self._judge(read, asked=bool(attempts)),
            rubric=self.subject.rubric.identity,
            rubric_sha256=self.subject.rubric.digest,
            demonstration=bench.demonstration,
            missing=brief.missing,
            candidate=brief.sealing.candidate,
            seen=brief.seen if attempts else (),
            repository_tree=None if self.checkout is None else self.checkout.tree,
            files_read=read,
            attempts=attempts,
            usage=fold_usage(attempts),
            costs=fold_costs([attempt.costs for attempt in attempts]),
            duration_seconds=round(sum(known), 3) if known and len(known) == len(durations) else None,
            isolation=bench.isolation.level.value if attempts and bench.reads_repository else None,
            warnings=self._warnings(brief, read, asked=bool(attempts)),
            judged_at=datetime.now(UTC),
            trial_sha256=record.digest(),
            **self._scores(brief, ruling),
        )

    def _scores(self, brief: Brief, ruling: Ruling | None) -> dict[str, Any]:
        zeros = dict.fromkeys(brief.missing, ZERO)
        if ruling is None:
            status = JudgementStatus.ZERO_BY_MISSING_ARTIFACTS
            return {"status": status, "scores": zeros, "task_score": 0.0}
        mask = self.bench.mask(self._endpoint(), self.journal.folder)
        if ruling.scores is None:
            reason = f"no valid answer: {'; '.join(ruling.faults)}"
            return {
                "status": JudgementStatus.INVALID,
                "invalid_reason": mask.text(visible(reason), MAX_REASON),
            }
        given: Mapping[str, ArtifactScore] = {**ruling.scores.scores, **zeros}
        # In the order of the rubric, whatever the order of the answer.
        scores = {each.name: given[each.name] for each in self.subject.rubric.artifacts}
        notes = {name: mask.text(visible(text), MAX_NOTE) for name, text in ruling.scores.notes.items()}
        return {
            "status": JudgementStatus.SCORED,
            "scores": scores,
            "task_score": round(sum(score.total for score in scores.values()) / len(scores), 4),
            "notes": notes,
            "verdict": mask.text(visible(ruling.scores.verdict), MAX_NOTE),
        }

    def _judge(self, read: tuple[str, ...], *, asked: bool) -> Judge:
        bench, settings = self.bench, self.bench.settings
        grounded = None if not asked else bool(read) and bench.judge.method != DIRECT
        return Judge(
            name=settings.label,
            kind=settings.judge,
            model=settings.model,
            provider=bench.provider.name,
            method=bench.judge.method,
            version=bench.version,
            repository_grounded=grounded,
            reasoning_effort=settings.effort,
        )

    def _warnings(self, brief: Brief, read: tuple[str, ...], *, asked: bool) -> tuple[DataWarning, ...]:
        found = [warning for each in self.done for warning in each.warnings]
        if asked and self.bench.reads_repository and not read:
            text = "no output of the judge's tools holds a line of a file of the repository"
            found.append(DataWarning(code="judge-not-grounded", text=text))
        for part in brief.seen if asked else ():
            if part.cut_characters:
                text = f"{part.name}: {part.cut_characters} characters were not shown"
                found.append(DataWarning(code="artifact-cut", text=text))
        return tuple(dict.fromkeys(found))


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
    first = max(taken, default=0) + 1
    return list(range(first, first + max(repeats - len(own), 0)))
