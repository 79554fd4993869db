"""Standing: where a benchmark or a sweep is now, told from its files, its lock and its runner's words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from runner.engine.eta import Eta
from runner.engine.journal import read_state, writer_is_alive
from runner.engine.lock import is_locked
from runner.engine.places import Places
from runner.engine.progress import dollars, one_line
from runner.engine.status import RunnerStatus, runner_status
from runner.engine.status_text import duration, runner_line
from runner.records import Part
from runner.records.base import Moment
from runner.records.nouns import counted


class Share(Part):
    """How far a part of it is."""

    name: str
    done: int
    planned: int | None
    """None: it decides as it goes."""


class Standing(Part):
    """Where it stands. ``planned`` is ``done`` + ``skipped`` + ``left``, always."""

    kind: Literal["benchmark", "sweep"]
    identifier: str
    about: str
    demonstration: bool
    created_at: Moment
    unit: Literal["trials", "levels"]
    planned: int
    done: int
    skipped: int
    """Left out for good."""
    left: int
    parts: tuple[Share, ...] = ()
    at_work: str | None = None
    """What its runner does now."""
    spent_usd: float | None = None
    """Sum over the requests whose cost is known; None where nothing is paid by the request, or a
    pre-flight is asking."""
    unpriced: int = 0
    """Requests whose cost is unknown."""
    budget_usd: float | None = None
    measured_seconds: float = 0.0
    """How long was measured by now."""
    eta: Eta
    runner: RunnerStatus
    notes: tuple[str, ...] = ()
    folder: str
    resume: str | None
    """The command that goes on, where nobody is at work and something is left."""


def runner_of(places: Places, name: str, now: datetime) -> RunnerStatus:
    """Whoever works under the lock ``name``. One who writes the last files is at work until it lets go."""
    state, locked = read_state(places.state(name)), is_locked(places.lock(name))
    speaks = state is not None and locked and writer_is_alive(state)
    found = runner_status(state, locked, speaks and state is not None and state.ended_at is None, now)
    if speaks and found.state in {"ended", "failed"}:
        return found.model_copy(update={"state": "at work", "phase": "writing the figures", "stopping": ""})
    return found


def standing_lines(standing: Standing, now: datetime) -> Iterator[str]:
    """The same in words, the most wanted first."""
    shown = " (demonstration)" if standing.demonstration else ""
    yield f"{standing.kind} {standing.identifier}{shown}: {one_line(standing.about)}"
    skipped = f", {standing.skipped} skipped" if standing.skipped else ""
    yield f"{standing.planned} {standing.unit} planned: {standing.done} done{skipped}, {standing.left} left"
    yield runner_line(standing.runner, now)
    if standing.at_work is not None:
        yield f"at work on: {standing.at_work}"
    for part in standing.parts:
        of = "as many as it needs" if part.planned is None else f"{part.planned}"
        yield f"  {part.name}: {part.done} of {of}"
    yield f"spent: {_spent(standing)}"
    once = ", once it goes on" if standing.resume else ""
    least = "at least " if standing.eta.at_least else ""
    known = "unknown" if standing.eta.seconds is None else f"{least}{duration(standing.eta.seconds)}{once}"
    yield f"eta: {known} ({standing.eta.basis})"
    for note in standing.notes:
        yield f"note: {one_line(note)}"
    yield f"files: {standing.folder}"
    if standing.resume:
        yield f"go on with: {standing.resume}"


def _spent(standing: Standing) -> str:
    time = f"{duration(standing.measured_seconds)} of measuring"
    if standing.runner.phase == "pre-flight":
        return "unknown while the pre-flight asks; it says it at its end"
    if standing.spent_usd is None:
        return time if standing.kind == "sweep" else f"nothing, the built-in server bills nothing; {time}"
    words = dollars(standing.spent_usd)
    if standing.unpriced:
        least = f"at least {words}" if standing.spent_usd else "unknown"
        words = f"{least}, {counted(standing.unpriced, 'request')} without a price"
    if standing.budget_usd is not None:
        words += f" of {dollars(standing.budget_usd)}"
    return f"{words}; {time}"
