"""Attempt: runs one planned trial from a sealed checkout to records in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.datasets import SealedCheckout, seal_task
from runner.datasets.checking import CheckStopped
from runner.datasets.removal import remove
from runner.engine.auditing import Surroundings, audit
from runner.engine.checkpoint import PATCH, go_back
from runner.engine.desk import Desk
from runner.engine.earlier import (
    Done,
    Recovered,
    forget,
    note_checkout,
    recover,
)
from runner.engine.grading import Grading, grade, resolved
from runner.engine.invoking import NotStarted, Pass, found_again, invoke, replace_artifacts
from runner.engine.recording import infrastructure_record, not_started_record, trial_record
from runner.engine.repair import Allowance, next_repair
from runner.engine.spending import Budget, Spent, dollars_billed, tokens_used
from runner.errors import HarnessmarkError
from runner.records import CheckRecord, IntegrityRecord, InvocationKind, Limits, Outcome, TrialRecord

__all__ = ["Attempt", "Desk", "attempt"]


@dataclass(frozen=True)
class Attempt:
    """A finished trial, ready to be written."""

    trial: TrialRecord
    checks: tuple[CheckRecord, ...]
    artifacts: Mapping[str, bytes]
    scans: tuple[IntegrityRecord, ...] = ()

    @property
    def resolved(self) -> bool | None:
        """Whether every check passed; None where there is nothing to tell."""
        return resolved(self.checks)

    @property
    def counted(self) -> TrialRecord:
        """The trial as it reads once what was found of it is said: void where it had forbidden help."""
        if not any(scan.voids for scan in self.scans):
            return self.trial
        return self.trial.model_copy(update={"outcome": Outcome.CHEATING})


def attempt(desk: Desk) -> Attempt:
    """Run the trial of ``desk``: checkout, invocations, artifacts, patch, checks.

    A harness or model that fails ends in an outcome, not in an exception; so does a checkout that cannot
    be made (``infrastructure``). What an interrupted runner had spent on this trial is part of its record,
    and where it had finished the design, the trial goes on from there. The scratch folder stays until the
    record is written: :func:`clear` removes it.
    """
    recovered = recover(desk)
    done = list(recovered.done)
    try:
        checkout = _taken_up(desk, recovered) or _new_checkout(desk)
        last = _invoke_until_done(desk, checkout, done, recovered)
        record = trial_record(desk, checkout, done, last)
        checks: tuple[CheckRecord, ...] = ()
        scans: tuple[IntegrityRecord, ...] = ()
        if last.done.outcome is not Outcome.CANCELLED:
            grading = Grading(
                desk.task,
                desk.dataset_path,
                desk.repositories,
                desk.folder / "grading",
                mask=lambda text: desk.mask().text(text, limit=len(text)),
                wrap=desk.isolation.check_wrap(),
                stopped=desk.cancelled.is_set,
                checkout=checkout,
                level=desk.isolation.level.value,
            )
            patch = last.artifacts.get(PATCH, b"")
            checks = grade(desk.planned.identity, patch, grading)
            scans = (audit(record, desk.task, desk.dataset_path, patch, _surroundings(desk)),)
        return Attempt(record, checks, last.artifacts, scans)
    except (NotStarted, CheckStopped):
        return Attempt(not_started_record(desk, done), (), {})
    except (HarnessmarkError, OSError) as error:
        # Read anew: an invocation whose artifacts could not be collected has spent something all the same.
        return Attempt(infrastructure_record(desk, recover(desk).done, str(error)), (), {})


def clear(folder: Path) -> None:
    """Remove the scratch folder of a trial whose record is written, and what was kept beside it."""
    forget(folder)
    remove(folder)


def _surroundings(desk: Desk) -> Surroundings:
    return Surroundings(
        desk.project,
        desk.folder,
        desk.streams,
        desk.installed,
        trace=desk.harness.trace,
        mask=desk.mask().text,
    )


def _taken_up(desk: Desk, recovered: Recovered) -> SealedCheckout | None:
    """The workspace that an interrupted runner left, as it was when its last agent had ended."""
    if recovered.checkout is not None and recovered.done[-1].interrupted:
        go_back(desk, recovered.done[-1].invocation.number, recovered.checkout)
    return recovered.checkout


def _new_checkout(desk: Desk) -> SealedCheckout:
    desk.folder.mkdir(parents=True)
    checkout = seal_task(desk.task, desk.folder, dataset_path=desk.dataset_path, cache=desk.repositories)
    note_checkout(desk.folder, checkout)
    return checkout


def _invoke_until_done(desk: Desk, checkout: SealedCheckout, done: list[Done], recovered: Recovered) -> Pass:
    """Invoke until the trial is complete or nothing is left to try; ``done`` grows by each invocation."""
    whole = Allowance(desk.settings.max_topups, desk.settings.max_retries)
    last = found_again(desk, checkout, recovered.own[-1]) if recovered.own else None
    first = True
    while True:
        left = whole.less(each.invocation.kind for each in done if not each.interrupted)
        kind = _next_kind(desk, done, last, left)
        if kind is None and last is not None:
            return last
        if last is not None and kind is not None:
            anew = kind is InvocationKind.RETRY
            replace_artifacts(desk, last.artifacts, len(done), anew=anew)
        kind = kind or (InvocationKind.RETRY if done else InvocationKind.FIRST)
        last = invoke(desk, checkout, kind, len(done) + 1, _limits_left(desk, done), first=first)
        done.append(last.done)
        first = False


def _next_kind(
    desk: Desk, done: Sequence[Done], last: Pass | None, allowance: Allowance
) -> InvocationKind | None:
    """The kind of repair that follows ``last``; None where none does, or nothing was invoked yet."""
    if last is None or trial_budget(desk).used_up(spent_on(done)) is not None:
        return None
    return next_repair(last.done.outcome, last.artifacts, desk.skill.artifacts, last.done.failure, allowance)


def trial_budget(desk: Desk) -> Budget:
    """What all invocations of the trial may spend together."""
    settings = desk.settings
    return Budget(settings.max_cost_usd, settings.max_trial_tokens, settings.max_trial_seconds)


def spent_on(done: Sequence[Done]) -> Spent:
    """What the invocations of a trial have spent, at least."""
    return Spent(
        usd=sum(dollars_billed(each.costs) or 0.0 for each in done),
        tokens=sum(tokens_used(each.invocation.usage) for each in done),
        seconds=sum(each.invocation.duration_seconds for each in done),
    )


def _limits_left(desk: Desk, done: Sequence[Done]) -> Limits:
    """The limits of the next invocation: its own, or what the trial's budget leaves where that is less."""
    limits, budget, spent = desk.settings.limits(), trial_budget(desk), spent_on(done)
    seconds, tokens = limits.timeout_seconds, limits.max_tokens
    if budget.seconds is not None:
        left = max(budget.seconds - spent.seconds, 1.0)
        seconds = left if seconds is None else min(seconds, left)
    if budget.tokens is not None:
        remaining = max(budget.tokens - spent.tokens, 1)
        tokens = remaining if tokens is None else min(tokens, remaining)
    usd = None if budget.usd is None else max(budget.usd - spent.usd, 0.0)
    return limits.model_copy(update={"timeout_seconds": seconds, "max_tokens": tokens, "max_cost_usd": usd})
