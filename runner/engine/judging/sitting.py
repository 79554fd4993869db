"""Sitting: one hearing of a judge while it goes on, each step on disk before the next one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from runner.datasets import SealedCheckout, remove, seal
from runner.engine.archive import keep_stream
from runner.engine.judging.bench import Bench
from runner.engine.judging.journal import Begun, Done, Journal
from runner.engine.judging.recording import Hearing
from runner.engine.masking import Mask
from runner.engine.pricing import Reported, with_prices
from runner.errors import EndpointError, RepositoryError
from runner.harnesses.endpoint import Endpoint
from runner.judges.base import Reply
from runner.judges.brief import Brief, Case, draw, make_brief
from runner.judges.fencing import visible
from runner.judges.hearing import JudgeFailed, Ruling, hear
from runner.judges.rubric import Rubric
from runner.records import Cost, CostBasis, JudgementAttempt, sha256_of

MAX_FAULT = 500
SCRIPTED = Cost(basis=CostBasis.NONE, amount_usd=0.0, source="the built-in model server bills nothing")
UNPRICED = Cost(
    basis=CostBasis.PRICE_TABLE,
    amount_usd=None,
    source="tokens times the prices given for this judge",
    missing_reason="no prices of the judge's model were given",
)


class Matter(Protocol):
    """What a judge is asked about: a stored trial, or a case that was made to try judges out."""

    @property
    def case(self) -> Case:
        """What was handed in."""

    @property
    def rubric(self) -> Rubric:
        """By what it is scored, with its artifacts in the order in which they are shown."""

    @property
    def dataset_path(self) -> Path:
        """File beside which the task's repository is looked for."""

    @property
    def where(self) -> str:
        """What it is called in messages."""

    @property
    def scenario(self) -> str:
        """What the built-in model server is told of it: ``<cassettes>/<task>``."""


@dataclass
class Sitting:
    """One hearing while it goes on."""

    bench: Bench
    subject: Matter
    journal: Journal
    number: int
    done: list[Done] = field(default_factory=list)
    checkout: SealedCheckout | None = None

    def hold(self) -> Hearing:
        """How it went.

        Raises:
            EndpointError: the judge failed.
        """
        case, rubric = self.subject.case, self.subject.rubric
        sealing = self.journal.sealing() or self.journal.keep_sealing(draw(case))
        asked, _ = rubric.parts(case.files)
        if not asked:
            return self._hearing(make_brief(case, rubric, sealing, workspace=None), None)
        workspace = self._checked_out() if self.bench.reads_repository else None
        brief = make_brief(case, rubric, sealing, workspace=str(workspace) if workspace else None)
        endpoint = self._endpoint()
        self._recover(brief, endpoint, workspace)

        def ask(_number: int, prompt: str) -> Reply:
            """Ask the judge once more."""
            return self._ask(brief, prompt, endpoint, workspace)

        answers = [(each.answer, each.cut) for each in self._answered()]
        try:
            ruling = hear(brief, ask, self._told, answers)
        except JudgeFailed as failed:
            reason = self.bench.mask(endpoint, self.journal.folder).text(str(failed))
            raise EndpointError(
                f"the judge gave no answer: {reason}",
                where=self.subject.where,
                remedy="judge again; what it has answered so far is kept",
            ) from None
        return self._hearing(brief, ruling)

    def _endpoint(self) -> Endpoint:
        return self.bench.endpoint(f"judge-{self.journal.folder.name}", self.subject.scenario)

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
        # Not by the wall clock: one that was set back would make a time that no record takes.
        since = time.monotonic()
        reply = self.bench.ask(brief, prompt, endpoint, self.journal.scratch(number), workspace)
        if reply.answer is not None:
            # A lone surrogate, which JSON can spell, is no text that can be kept.
            reply = replace(reply, answer=reply.answer.encode("utf-8", "replace").decode())
        seconds = time.monotonic() - since
        self.done.append(self._done(number, begun, reply, round(seconds, 3)))
        # On disk before anything else is done: this is what was paid for.
        self.journal.end(self.done[-1])
        return reply

    def _done(self, number: int, begun: Begun, reply: Reply, seconds: float | None) -> Done:
        bench = self.bench
        mask = self.mask()
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
            costs=self._costs(reply, begun),
            faults=() if answered else (mask.text(reply.error or "", MAX_FAULT),),
            interrupted=not answered,
        )
        return Done(
            attempt=attempt,
            answer=reply.answer,
            cut=reply.cut,
            files_read=reply.files_read,
            warnings=reply.warnings,
        )

    def _answered(self) -> list[Done]:
        """Attempts that brought an answer, in order."""
        return [each for each in self.done if not each.attempt.interrupted]

    def _costs(self, reply: Reply, begun: Begun) -> tuple[Cost, ...]:
        if self.bench.demonstration:
            return (SCRIPTED,)
        reported = Reported(reply.costs, reply.usage, {}, begun.started_at.date())
        return with_prices(reported, self.bench.settings.prices(), self.bench.listed) or (UNPRICED,)

    def _told(self, number: int, faults: tuple[str, ...]) -> None:
        """Note what was wrong with an answer; an earlier runner may have died before it could."""
        answered = self._answered()[number - 1]
        mask = self.mask()
        shown = tuple(mask.text(visible(fault), MAX_FAULT) for fault in faults)
        if shown == answered.attempt.faults:
            return
        attempt = answered.attempt.model_copy(update={"faults": shown})
        place = attempt.number - 1
        self.done[place] = answered.model_copy(update={"attempt": attempt})
        self.journal.end(self.done[place])

    def mask(self) -> Mask:
        """What must not appear in a record of it."""
        return self.bench.mask(self._endpoint(), self.journal.folder)

    def _hearing(self, brief: Brief, ruling: Ruling | None) -> Hearing:
        return Hearing(brief, ruling, tuple(self.done), self.checkout, self.number)
