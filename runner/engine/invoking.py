"""Invoking: one start of the harness inside a trial, from its assignment to what it left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from runner.datasets import SealedCheckout, make_patch, remove
from runner.engine.archive import keep_stream
from runner.engine.checkpoint import PATCH, keep_checkpoint
from runner.engine.configuration import configuration_digest
from runner.engine.desk import Desk
from runner.engine.earlier import CANCELLED, OUTPUT, Begun, Done, note_begun, note_done
from runner.engine.failure import failure_of
from runner.engine.isolation import warnings_of, way_to
from runner.engine.outcome import decide_outcome, incomplete
from runner.engine.pricing import Reported, with_prices
from runner.engine.prompt_reconciliation import prompt_warning
from runner.engine.server_window import Window
from runner.engine.stall import Stall
from runner.engine.supervision import Finished, supervise
from runner.errors import ChangeRefused
from runner.harnesses.base import Assignment, Reading
from runner.harnesses.endpoint import Endpoint
from runner.records import Invocation, InvocationKind, Limits, Outcome, ServerWindow

MAX_ARTIFACT_BYTES = 4 * 1024 * 1024
NOT_SEEN_MATTERS = frozenset(Outcome) - {Outcome.CANCELLED, Outcome.CHEATING}


class NotStarted(Exception):
    """A trial was made ready, but no agent is to start any more."""


@dataclass(frozen=True)
class Pass:
    """One invocation and the artifacts that are there after it."""

    done: Done
    artifacts: Mapping[str, bytes]


@dataclass(frozen=True)
class Collected:
    """What an agent left behind."""

    artifacts: Mapping[str, bytes]
    refused: str = ""
    """Why its change is no patch, where it is none."""


@dataclass(frozen=True)
class _Ended:
    """How the child ended, what it said, and what was seen of it."""

    finished: Finished
    reading: Reading
    repeating: bool
    requests_seen: int | None
    unanswered: str | None
    configuration: str | None
    window: ServerWindow | None


def invoke(
    desk: Desk,
    checkout: SealedCheckout,
    kind: InvocationKind,
    number: int,
    limits: Limits,
    *,
    first: bool = False,
) -> Pass:
    """Start the harness once and wait for its end; what it spent is on disk before this returns.

    Args:
        kind: a top-up is told which artifacts are there already.
        number: of this invocation in its trial, from 1.
        limits: what is left for this invocation.
        first: the trial may still be left for later when an agent could start.

    Raises:
        NotStarted: it is left for later; nothing was spent.
    """
    scratch, artifacts = desk.folder / f"invocation-{number}", desk.folder / "artifacts"
    # A runner that was killed before its agent started may have made the folder.
    remove(scratch)
    (scratch / "home").mkdir(parents=True)
    artifacts.mkdir(exist_ok=True)
    present: Mapping[str, bytes] = {}
    if kind is InvocationKind.TOP_UP:
        present = collect(desk, checkout).artifacts
        keep_checkpoint(scratch, present)
    mask, stall = desk.mask(), Stall(desk.settings.max_repeats, desk.cancelled)
    window = Window(desk.counters, gauges=desk.gauges)
    with way_to(desk.endpoint, desk.isolation) as way:
        assignment = _assignment(desk, checkout, tuple(present), scratch / "home", way.endpoint, limits)
        launch = desk.harness.launch(assignment)
        command = tuple(mask.text(part) for part in launch.command)
        configuration = configuration_digest(launch, way.endpoint, str(desk.folder))
        places = {"workspace": checkout.workspace, "artifacts": artifacts, "home": scratch / "home"}
        inside = desk.isolation.wrap(launch, **places, gateway=way.gateway)
        with desk.slot:
            if first and not desk.may_start():
                raise NotStarted
            begun = datetime.now(UTC)
            note_begun(scratch, Begun(number=number, kind=kind, started_at=begun, command=command))
            with window.open(desk.crowd):
                finished = supervise(
                    inside,
                    stdout=scratch / OUTPUT,
                    timeout_seconds=limits.timeout_seconds,
                    idle_seconds=desk.settings.idle_seconds,
                    activity=_noticing(desk, way.activity),
                    cancelled=stall,
                    on_line=_listener(desk, stall),
                )
        seen, unanswered = way.requests_seen(), way.unanswered()
    reading = desk.harness.read(scratch / OUTPUT, assignment)
    reading = replace(reading, warnings=(*warnings_of(launch), *reading.warnings))
    ended = _Ended(finished, reading, stall.repeating, seen, unanswered, configuration, window.record(seen))
    done = _done(desk, scratch, ended, kind, number, command)
    # On disk before anything else is done: this is what was paid for.
    note_done(scratch, done)
    collected = collect(desk, checkout)
    missing = [name for name in desk.skill.artifacts if name not in collected.artifacts]
    outcome, reason = _outcome(desk, ended, missing)
    if outcome is Outcome.INCOMPLETE and collected.refused:
        reason = f"{reason} ({collected.refused})"
    done = done.model_copy(update={"outcome": outcome, "reason": mask.text(reason)})
    note_done(scratch, done)
    return Pass(done, collected.artifacts)


def found_again(desk: Desk, checkout: SealedCheckout, done: Done) -> Pass:
    """An invocation of an earlier runner, with the artifacts that are there now.

    What it had spent was written down before its artifacts were looked at; a runner that was killed in
    between has called it complete without a look.
    """
    collected = collect(desk, checkout)
    missing = [name for name in desk.skill.artifacts if name not in collected.artifacts]
    if done.outcome is Outcome.COMPLETED and missing:
        reason = incomplete(missing) + (f" ({collected.refused})" if collected.refused else "")
        done = done.model_copy(update={"outcome": Outcome.INCOMPLETE, "reason": desk.mask().text(reason)})
    return Pass(done, collected.artifacts)


def _assignment(
    desk: Desk,
    checkout: SealedCheckout,
    present: tuple[str, ...],
    home: Path,
    endpoint: Endpoint,
    limits: Limits,
) -> Assignment:
    artifacts = desk.folder / "artifacts"
    return Assignment(
        prompt=desk.skill.prompt(
            desk.task, artifacts=artifacts, workspace=checkout.workspace, present=present
        ),
        workspace=checkout.workspace,
        artifacts=artifacts,
        home=home,
        endpoint=endpoint,
        limits=limits,
        installed=desk.installed,
    )


def collect(desk: Desk, checkout: SealedCheckout) -> Collected:
    """What an agent left: the patch made by us, the rest as it lies there.

    The agent is not trusted: links are not followed, and a file above the size limit counts as missing; so
    does a patch of a change that cannot be one, which is the agent's doing and not a failure of ours.
    """
    found: dict[str, bytes] = {}
    refused = ""
    folder = desk.folder / "artifacts"
    if folder.is_symlink():
        # An agent that put a link in its place would have us read whatever it points at.
        return Collected(found)
    for name in desk.skill.artifacts:
        path = folder / name
        if name == PATCH:
            try:
                data = make_patch(checkout)
            except ChangeRefused as error:
                data, refused = b"", error.what
        elif path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_ARTIFACT_BYTES:
            data = path.read_bytes()
        else:
            continue
        if data.strip():
            found[name] = data
    return Collected(found, refused)


def replace_artifacts(desk: Desk, left: Mapping[str, bytes], number: int, *, anew: bool) -> None:
    """Keep what invocation ``number`` left outside the store; ``anew`` clears the folder for a new start."""
    if desk.replaced is not None and left:
        folder = desk.replaced / f"invocation-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in left.items():
            (folder / name).write_bytes(data)
    if anew:
        remove(desk.folder / "artifacts")


def _listener(desk: Desk, stall: Stall) -> Callable[[str], None]:
    def hear(line: str) -> None:
        """Pass a line of the agent on to the watch for stalls and to the desk."""
        stall.hear(line)
        if desk.on_line is not None:
            desk.on_line(line)

    return hear


def _noticing(desk: Desk, activity: Callable[[], int] | None) -> Callable[[], int] | None:
    """``activity``, passed on when it has changed."""
    if activity is None:
        return None
    ask, last = activity, 0

    def notice() -> int:
        """Ask for the activity, and tell the desk when it is another than before."""
        nonlocal last
        now = ask()
        if now != last and desk.on_traffic is not None:
            desk.on_traffic()
        last = now
        return now

    return notice


def _outcome(desk: Desk, ended: _Ended, missing: list[str]) -> tuple[Outcome, str]:
    if ended.repeating and not desk.cancelled.is_set():
        return Outcome.BUDGET, f"no progress: {desk.settings.max_repeats} times the same one or two actions"
    outcome, reason = decide_outcome(ended.finished, ended.reading, missing)
    if ended.requests_seen == 0 and outcome in NOT_SEEN_MATTERS:
        return Outcome.INFRASTRUCTURE, f"the model's endpoint saw no request ({outcome.value}: {reason})"
    # An agent may wait for a server that is gone until its time is up.
    if ended.unanswered is not None and outcome in NOT_SEEN_MATTERS:
        text = f"the model's endpoint was not to be reached: {ended.unanswered} ({outcome.value}: {reason})"
        return Outcome.INFRASTRUCTURE, text[:1000]
    return outcome, reason


def _done(
    desk: Desk, scratch: Path, ended: _Ended, kind: InvocationKind, number: int, command: tuple[str, ...]
) -> Done:
    finished, reading, mask = ended.finished, ended.reading, desk.mask()
    invocation = Invocation(
        number=number,
        kind=kind,
        started_at=finished.started_at,
        ended_at=finished.ended_at,
        duration_seconds=finished.duration_seconds,
        command=command,
        exit_code=finished.exit_code,
        stop_reason=mask.text(_stop_reason(ended)),
        error=None if reading.error is None else mask.text(reading.error),
        turns=reading.turns,
        retries=reading.retries,
        usage=reading.usage,
        usage_by_model=dict(reading.usage_by_model),
        requests_seen=ended.requests_seen,
        configuration_sha256=ended.configuration,
        stream_sha256=keep_stream(scratch / OUTPUT, desk.streams, desk.scanner),
        server_window=ended.window,
    )
    outcome, reason = _outcome(desk, ended, [])
    doubt = prompt_warning(ended.window, reading.usage)
    reported = Reported(reading.costs, reading.usage, reading.usage_by_model, finished.started_at.date())
    return Done(
        invocation=invocation,
        costs=with_prices(reported, desk.settings.prices(), desk.listed),
        warnings=(*reading.warnings, *([doubt] if doubt else [])),
        outcome=outcome,
        reason=mask.text(reason),
        failure=failure_of(reading.error, reading.stop_reason),
    )


def _stop_reason(ended: _Ended) -> str:
    if ended.repeating:
        return "no-progress"
    return CANCELLED if ended.finished.cancelled else ended.reading.stop_reason
