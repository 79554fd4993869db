"""Earlier: what a trial had spent before the runner was killed or stopped, kept until its record holds it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from runner.datasets import SealedCheckout
from runner.datasets.checkout import TRUSTED, WORKSPACE
from runner.datasets.removal import remove
from runner.engine.archive import keep_stream
from runner.engine.desk import Desk
from runner.engine.failure import Failure
from runner.engine.pricing import Reported, with_prices
from runner.harnesses.base import Assignment
from runner.records import Cost, DataWarning, Invocation, InvocationKind, Outcome, Part
from runner.records.base import Moment

KILLED = "runner-killed"
CANCELLED = "cancelled"
NOT_OF_THIS_RUN = frozenset({KILLED, CANCELLED})
"""Stop reasons of invocations that an interruption of the runner ended."""
CHECKOUT = "checkout.json"
BEGUN, DONE, OUTPUT = "begun.json", "done.json", "stdout"


class Done(Part):
    """An invocation with what its record has no place for."""

    invocation: Invocation
    costs: tuple[Cost, ...] = ()
    warnings: tuple[DataWarning, ...] = ()
    outcome: Outcome
    reason: str = ""
    failure: Failure = Failure.OTHER

    @property
    def interrupted(self) -> bool:
        """Whether it ended because the runner did."""
        return self.invocation.stop_reason in NOT_OF_THIS_RUN


class Begun(Part):
    """What is known of an invocation the moment it starts."""

    number: int
    kind: InvocationKind
    started_at: Moment
    command: tuple[str, ...]


EARLIER: TypeAdapter[tuple[Done, ...]] = TypeAdapter(tuple[Done, ...])


def note_begun(scratch: Path, begun: Begun) -> None:
    """Write down that an invocation starts, before it does."""
    _write(scratch / BEGUN, begun.model_dump_json().encode())


def note_done(scratch: Path, done: Done) -> None:
    """Write down how an invocation ended."""
    _write(scratch / DONE, done.model_dump_json().encode())


class Base(Part):
    """The checkout in a scratch folder."""

    base_commit: str
    tree: str
    source_commit: str


@dataclass(frozen=True)
class Recovered:
    """What an interrupted runner left of a trial."""

    done: tuple[Done, ...] = ()
    """Every invocation it began, oldest first; in the record they all come before new ones."""
    own: tuple[Done, ...] = ()
    """Those of ``done`` whose work lies in ``checkout`` and that ended by themselves."""
    checkout: SealedCheckout | None = None
    """The workspace to go on in; None where the trial must begin anew."""


def note_checkout(folder: Path, checkout: SealedCheckout) -> None:
    """Write down what the workspace in ``folder`` is a checkout of, once it is whole."""
    base = Base(base_commit=checkout.base_commit, tree=checkout.tree, source_commit=checkout.source_commit)
    _write(folder / CHECKOUT, base.model_dump_json().encode())


def recover(desk: Desk) -> Recovered:
    """What an interrupted runner left of the trial of ``desk``.

    What was in flight is read from its partial stream and transcript, so that no token that was paid for is
    lost. Where the design had been made, the workspace is kept, so that it is not paid for again: the last
    invocation had ended, or only completed what was there. Else the invocations are kept beside the scratch
    folder until :func:`forget`, and the folder is removed.
    """
    before = _kept(desk.folder)
    known = {done.invocation.started_at for done in before}
    found = [_done_in(scratch, desk) for scratch in desk.folder.glob("invocation-*")]
    own = [done for done in found if done is not None and done.invocation.started_at not in known]
    ordered = sorted([*before, *own], key=lambda done: done.invocation.started_at)
    done = tuple(
        each.model_copy(update={"invocation": each.invocation.model_copy(update={"number": number})})
        for number, each in enumerate(ordered, 1)
    )
    checkout = _checkout(desk.folder)
    ended = tuple(each for each in done if not each.interrupted and each.invocation.started_at not in known)
    if ended and checkout is not None and _worth_keeping(done[-1]):
        return Recovered(done, ended, checkout)
    if done:
        keep(desk.folder, done)
    remove(desk.folder)
    return Recovered(done)


def ended_before(folder: Path) -> list[Done]:
    """Invocations of a trial without a record that are known to have ended, in no order.

    One that was in flight when its runner was killed is not among them: its output is read when the trial is
    taken up again.
    """
    found = {done.invocation.started_at: done for done in _kept(folder)}
    for path in folder.glob(f"invocation-*/{DONE}"):
        with contextlib.suppress(OSError, ValidationError):
            done = Done.model_validate_json(path.read_bytes())
            found[done.invocation.started_at] = done
    return list(found.values())


def keep(folder: Path, done: Iterable[Done]) -> None:
    """Keep invocations for the next runner that takes up the trial of ``folder``."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _write(_beside(folder), EARLIER.dump_json(tuple(done)))


def forget(folder: Path) -> None:
    """The record of the trial is written and holds them all."""
    _beside(folder).unlink(missing_ok=True)


def _worth_keeping(last: Done) -> bool:
    """Whether what is in the workspace was made by invocations that ended, or while completing theirs."""
    return not last.interrupted or last.invocation.kind is InvocationKind.TOP_UP


def _checkout(folder: Path) -> SealedCheckout | None:
    workspace, git_dir = folder / WORKSPACE, folder / TRUSTED
    try:
        base = Base.model_validate_json((folder / CHECKOUT).read_bytes())
    except (OSError, ValidationError):
        return None
    if not workspace.is_dir() or not git_dir.is_dir():
        return None
    return SealedCheckout(workspace, git_dir, base.base_commit, base.tree, base.source_commit)


def _kept(folder: Path) -> list[Done]:
    try:
        return list(EARLIER.validate_json(_beside(folder).read_bytes()))
    except (OSError, ValidationError):
        return []


def _done_in(scratch: Path, desk: Desk) -> Done | None:
    with contextlib.suppress(OSError, ValidationError):
        return Done.model_validate_json((scratch / DONE).read_bytes())
    try:
        begun = Begun.model_validate_json((scratch / BEGUN).read_bytes())
        ended = (scratch / OUTPUT).stat().st_mtime
    except (OSError, ValidationError):
        return None
    done = _in_flight(scratch, begun, datetime.fromtimestamp(ended, UTC), desk)
    note_done(scratch, done)
    return done


def _in_flight(scratch: Path, begun: Begun, ended: datetime, desk: Desk) -> Done:
    """The invocation that ran when the runner died, as far as its output tells."""
    assignment = Assignment(
        prompt="",
        workspace=desk.folder / WORKSPACE,
        artifacts=desk.folder / "artifacts",
        home=scratch / "home",
        endpoint=desk.endpoint,
        limits=desk.settings.limits(),
        installed=desk.installed,
    )
    reading = desk.harness.read(scratch / OUTPUT, assignment)
    ended = max(ended, begun.started_at)
    invocation = Invocation(
        number=begun.number,
        kind=begun.kind,
        started_at=begun.started_at,
        ended_at=ended,
        duration_seconds=round((ended - begun.started_at).total_seconds(), 3),
        command=begun.command,
        stop_reason=KILLED,
        error="the runner was killed while this ran",
        turns=reading.turns,
        retries=reading.retries,
        usage=reading.usage,
        usage_by_model=dict(reading.usage_by_model),
        stream_sha256=keep_stream(scratch / OUTPUT, desk.streams, desk.scanner),
    )
    reported = Reported(reading.costs, reading.usage, reading.usage_by_model, begun.started_at.date())
    return Done(
        invocation=invocation,
        costs=with_prices(reported, desk.settings.prices(), desk.listed),
        warnings=reading.warnings,
        outcome=Outcome.INFRASTRUCTURE,
        reason="the runner was killed",
    )


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.earlier.json")


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all. The kernel keeps it when the runner is killed; only a power cut can lose it."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(data)
    os.replace(partial, path)  # noqa: PTH105 - the name says that it replaces
