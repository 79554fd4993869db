"""Earlier: what a trial had spent before the runner was killed or stopped, kept until its record holds it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from runner.datasets.removal import remove
from runner.engine.archive import keep_stream
from runner.engine.desk import Desk
from runner.harnesses.base import Assignment
from runner.records import Cost, DataWarning, Invocation, InvocationKind, Part
from runner.records.base import Moment

KILLED = "runner-killed"
CANCELLED = "cancelled"
NOT_OF_THIS_RUN = frozenset({KILLED, CANCELLED})
"""Stop reasons of invocations that an interruption of the runner ended."""
BEGUN, DONE, OUTPUT = "begun.json", "done.json", "stdout"


class Done(Part):
    """An invocation with what its record has no place for."""

    invocation: Invocation
    costs: tuple[Cost, ...] = ()
    warnings: tuple[DataWarning, ...] = ()


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


def recover(desk: Desk) -> tuple[Done, ...]:
    """Every invocation of this trial that an interrupted runner began, oldest first.

    What was in flight is read from its partial stream and transcript, so that no token that was paid for is
    lost. The list is kept beside the scratch folder until :func:`forget`, and the folder is removed.
    """
    kept = _kept(desk.folder)
    known = {done.invocation.started_at for done in kept}
    for scratch in sorted(desk.folder.glob("invocation-*")):
        done = _done_in(scratch, desk)
        if done is not None and done.invocation.started_at not in known:
            kept.append(done)
    kept.sort(key=lambda done: str(done.invocation.started_at))
    numbered = tuple(
        done.model_copy(update={"invocation": done.invocation.model_copy(update={"number": number})})
        for number, done in enumerate(kept, 1)
    )
    if numbered:
        keep(desk.folder, numbered)
    remove(desk.folder)
    return numbered


def keep(folder: Path, done: Iterable[Done]) -> None:
    """Keep invocations for the next runner that takes up the trial of ``folder``."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _write(_beside(folder), EARLIER.dump_json(tuple(done)))


def forget(folder: Path) -> None:
    """The record of the trial is written and holds them all."""
    _beside(folder).unlink(missing_ok=True)


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
    return _in_flight(scratch, begun, datetime.fromtimestamp(ended, UTC), desk)


def _in_flight(scratch: Path, begun: Begun, ended: datetime, desk: Desk) -> Done:
    """The invocation that ran when the runner died, as far as its output tells."""
    assignment = Assignment(
        prompt="",
        workspace=desk.folder / "workspace",
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
    return Done(invocation=invocation, costs=reading.costs, warnings=reading.warnings)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.earlier.json")


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all. The kernel keeps it when the runner is killed; only a power cut can lose it."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(data)
    os.replace(partial, path)  # noqa: PTH105 - the name says that it replaces
