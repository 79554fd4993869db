"""Status: where a plan stands now, told from its records, its lock and what its runner wrote of itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from runner.engine.eta import Eta, estimate
from runner.engine.journal import AtWork, FailedBlock, RunState, read_state, writer_is_alive
from runner.engine.lock import is_locked
from runner.engine.places import Places
from runner.engine.quarantine import Quarantine
from runner.engine.resuming import settings_of
from runner.engine.spending import dollars_billed, spent_on_judging
from runner.engine.tally import Tally, stored_trials
from runner.engine.unjudged import unjudged
from runner.records import JudgementRecord, JudgementStatus, Part, PlannedTrial, PlanRecord
from runner.records.base import Moment
from runner.store import ResultsStore

SILENT_SECONDS = 60.0
"""A runner writes a sign of life every few seconds."""


class InFlight(Part):
    """A trial that is being worked on now."""

    position: int
    trial: str
    since: Moment
    agent: Literal["waiting", "at work", "done"]
    last_sign: Moment


class RunnerStatus(Part):
    """Whether somebody is at work on the plan, and how the last one left."""

    state: Literal["at work", "silent", "ended", "failed", "killed", "none"]
    """``silent``: alive, but without a sign of life for a minute. ``none``: no runner was here."""
    pid: int | None = None
    since: Moment | None = None
    heartbeat: Moment | None = None
    phase: str | None = None
    model: str | None = None
    stopping: str = ""
    ended_at: Moment | None = None
    exit_code: int | None = None
    failure: str | None = None

    @property
    def is_alive(self) -> bool:
        """Whether a process works on the plan."""
        return self.state in {"at work", "silent"}


class Status(Part):
    """Where the plan of a run stands. ``planned`` is ``done`` + ``running`` + ``held`` + ``left``, always."""

    kind: Literal["run"] = "run"
    plan_id: str
    demonstration: bool
    created_at: Moment | None
    planned: int
    done: int
    running: tuple[InFlight, ...]
    held: int
    """Finished, but in quarantine, as they hold what looks like a secret."""
    left: int
    outcomes: dict[str, int]
    resolved: int
    graded: int
    untested: int
    """Done trials whose tasks have no hidden tests: nothing but a judge can tell what they solved."""
    spent_usd: float
    """Sum over the done trials whose cost is known."""
    unpriced: int
    """Done trials that an agent worked on and whose cost is unknown."""
    tokens: int
    """Sum over the done trials, as far as known."""
    judging_usd: float
    """Sum over the judgements of the done trials whose cost is known; beside ``spent_usd``, not in it."""
    judging_unpriced: int
    """Judgements that a judge was asked for and whose cost is unknown."""
    judged: int
    """Done trials with a score at least; one that judges gave no valid answer on has none."""
    judging: int
    to_judge: int
    """Done trials that a judge of the plan has still to score; 0 while a runner is at work, who says it."""
    not_judged: dict[str, str]
    models_failed: tuple[FailedBlock, ...]
    reasons: tuple[str, ...]
    """Why trials did not start."""
    eta: Eta
    runner: RunnerStatus
    log: str | None
    resume: str | None
    """The command that goes on, where nobody is at work and something is left."""


def status_of(plan: PlanRecord, store: ResultsStore, places: Places, now: datetime) -> Status:
    """Where ``plan`` stands.

    What is done is read from the store; that a trial is in flight is believed only while the process that
    says so lives and holds the lock of the plan.
    """
    state = read_state(places.state(plan.plan_id))
    locked = is_locked(places.lock(plan.plan_id))
    speaks = state is not None and locked and writer_is_alive(state) and state.ended_at is None
    tally, done, judged, judgements = Tally(plan), set(), 0, list[JudgementRecord]()
    seconds: dict[tuple[str, ...], list[float]] = {}
    for position, stored in stored_trials(plan, store):
        record = stored.record
        tally.add(record, stored.checks)
        done.add(position)
        judgements += stored.judgements
        judged += any(each.status is not JudgementStatus.INVALID for each in stored.judgements)
        if record.duration_seconds is not None:
            seconds.setdefault(record.identity.cell.key, []).append(record.duration_seconds)
    quarantine = Quarantine(places.quarantine)
    held = {
        position
        for position in set(range(len(plan.trials))) - done
        if quarantine.holds(plan.plan_id, position)
    }
    at_work = {each.position: each for each in state.running} if state is not None and speaks else {}
    running = {position: each for position, each in at_work.items() if position not in done | held}
    left = [position for position in range(len(plan.trials)) if position not in done | held | running.keys()]
    runner = runner_status(state, locked, speaks, now)
    to_judge = 0 if runner.is_alive else unjudged(plan, store, places)
    goes_on = bool(left or held or to_judge) and not runner.is_alive
    summary = tally.summary()
    log = places.log(plan.plan_id)
    return Status(
        plan_id=plan.plan_id,
        demonstration=plan.demonstration,
        created_at=plan.created_at,
        planned=summary.planned,
        done=len(done),
        running=tuple(_in_flight(plan.trials[each.position], each) for each in running.values()),
        held=len(held),
        left=len(left),
        outcomes=dict(summary.outcomes),
        resolved=summary.resolved,
        graded=summary.graded,
        untested=summary.untested,
        spent_usd=summary.spent_usd,
        unpriced=summary.unpriced,
        tokens=summary.tokens,
        judging_usd=spent_on_judging(judgements).usd,
        judging_unpriced=sum(map(_is_unpriced, judgements)),
        judged=judged,
        judging=state.judging if state is not None and speaks else 0,
        to_judge=to_judge,
        not_judged={} if state is None else state.not_judged,
        models_failed=() if state is None else state.failed,
        reasons=() if state is None else state.reasons,
        eta=_eta(plan, state, seconds, left, running, now),
        runner=runner,
        log=os.path.relpath(log, places.root) if log.is_file() else None,
        resume=f"invoke run --resume {plan.plan_id}" if goes_on else None,
    )


def _is_unpriced(judgement: JudgementRecord) -> bool:
    """Whether a judge was asked and what that cost is not known."""
    asked = bool(judgement.attempts) and not judgement.demonstration
    return asked and dollars_billed(judgement.costs) is None


def trial_name(planned: PlannedTrial) -> str:
    """Who works on what, in a few words."""
    identity = planned.identity
    cell = identity.cell
    return f"{cell.served_model} {cell.harness} {cell.skill} {identity.task} #{identity.trial}"


def _in_flight(planned: PlannedTrial, each: AtWork) -> InFlight:
    return InFlight(
        position=each.position,
        trial=trial_name(planned),
        since=each.since,
        agent=each.agent,
        last_sign=each.sign,
    )


def runner_status(state: RunState | None, locked: bool, speaks: bool, now: datetime) -> RunnerStatus:
    """Who is at work. A lock without a word of its holder is that of a runner which has just begun.

    Args:
        state: what a runner said of itself, whenever that was.
        locked: whether somebody holds the lock.
        speaks: whether the one who holds it is the one who said that, and has not said that it ended.
        now: the time.
    """
    if locked and not speaks and (state is None or not writer_is_alive(state)):
        return RunnerStatus(state="at work", phase="starting")
    if state is None:
        return RunnerStatus(state="none")
    told = {
        "pid": state.pid,
        "since": state.begun_at,
        "heartbeat": state.heartbeat,
        "phase": state.phase,
        "model": state.model,
        "stopping": state.stopping,
        "ended_at": state.ended_at,
        "exit_code": state.exit_code,
        "failure": state.failure,
    }
    if speaks:
        silent = (now - state.heartbeat).total_seconds() > SILENT_SECONDS
        return RunnerStatus.model_validate({"state": "silent" if silent else "at work", **told})
    if state.ended_at is None:
        return RunnerStatus.model_validate({"state": "killed", **told})
    return RunnerStatus.model_validate({"state": "failed" if state.failure else "ended", **told})


def _eta(
    plan: PlanRecord,
    state: RunState | None,
    seconds: Mapping[tuple[str, ...], list[float]],
    left: list[int],
    running: Mapping[int, AtWork],
    now: datetime,
) -> Eta:
    concurrency = settings_of(plan)[0].concurrency if state is None else state.concurrency
    begun = [
        (plan.trials[position].identity.cell.key, _worked(each, now)) for position, each in running.items()
    ]
    waiting = [plan.trials[position].identity.cell.key for position in left]
    return estimate(seconds, waiting, begun, concurrency)


def _worked(each: AtWork, now: datetime) -> float:
    """Seconds that the agent of a trial has been at work; without end where only grading is left."""
    if each.agent == "done":
        return float("inf")
    return 0.0 if each.agent_since is None else (now - each.agent_since).total_seconds()
