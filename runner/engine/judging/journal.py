"""Journal: what is known of a judgement while it is made, so that a killed runner pays for nothing twice."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from runner.datasets import remove
from runner.judges.brief import Sealing
from runner.records import DataWarning, JudgementAttempt, JudgementRecord, Part, Record
from runner.records.base import Moment

RecordType = TypeVar("RecordType", bound=Record)

SEALING, BEGUN, DONE, FINISHED = "sealing.json", "begun.json", "done.json", "finished.json"


class _Sealing(Part):
    candidate: str
    nonce: str


class Begun(Part):
    """An attempt that was started."""

    started_at: Moment
    prompt_sha256: str


class Done(Part):
    """An attempt that ended: what the record will say of it, and what the judge said."""

    attempt: JudgementAttempt
    answer: str | None = None
    cut: str | None = None
    """Why the answer ended early, where it did: the next question says so."""
    files_read: tuple[str, ...] = ()
    warnings: tuple[DataWarning, ...] = ()


@dataclass(frozen=True)
class Journal:
    """One judgement in the making, in a folder of its own."""

    folder: Path

    @classmethod
    def of(cls, root: Path, *facts: str) -> Journal:
        """The journal of the judgement that ``facts`` describe: other facts, another journal."""
        return cls(root / hashlib.sha256("\0".join(facts).encode()).hexdigest()[:24])

    @classmethod
    def all_in(cls, root: Path) -> list[Journal]:
        """Every journal below ``root``."""
        return [cls(path) for path in sorted(root.glob("*")) if re.fullmatch(r"[0-9a-f]{24}", path.name)]

    @property
    def lock(self) -> Path:
        """Lock file beside the journal: one process at a time makes the judgement."""
        return self.folder.with_name(f"{self.folder.name}.lock")

    def sealing(self) -> Sealing | None:
        """What was drawn for this judgement; None where nothing was."""
        with contextlib.suppress(OSError, ValidationError):
            found = _Sealing.model_validate_json((self.folder / SEALING).read_bytes())
            return Sealing(found.candidate, found.nonce)
        return None

    def keep_sealing(self, sealing: Sealing) -> Sealing:
        """Keep what was drawn."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self.folder / SEALING, _Sealing(candidate=sealing.candidate, nonce=sealing.nonce))
        return sealing

    def scratch(self, number: int) -> Path:
        """Folder of one attempt."""
        return self.folder / f"attempt-{number}"

    def begin(self, number: int, prompt_sha256: str) -> None:
        """Note that an attempt starts now."""
        remove(self.scratch(number))
        self.scratch(number).mkdir(parents=True)
        _write(self.scratch(number) / BEGUN, Begun(started_at=datetime.now(UTC), prompt_sha256=prompt_sha256))

    def end(self, done: Done) -> None:
        """Note how an attempt ended."""
        _write(self.scratch(done.attempt.number) / DONE, done)

    def attempts(self) -> Iterator[tuple[Begun, Done | None]]:
        """Attempts in order; one without an end was going on when its runner was killed."""
        number = 1
        while (self.scratch(number) / BEGUN).is_file():
            begun = Begun.model_validate_json((self.scratch(number) / BEGUN).read_bytes())
            done: Done | None = None
            with contextlib.suppress(OSError, ValidationError):
                done = Done.model_validate_json((self.scratch(number) / DONE).read_bytes())
            yield begun, done
            number += 1

    def finish(self, record: Record) -> None:
        """Keep the finished record until the store has it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self.folder / FINISHED, record)

    def finished(self) -> JudgementRecord | None:
        """The finished judgement that the store may not have yet."""
        return self.finished_as(JudgementRecord)

    def finished_as(self, expected: type[RecordType]) -> RecordType | None:
        """The finished record of that type that the store may not have yet."""
        with contextlib.suppress(OSError, ValidationError):
            return expected.model_validate_json((self.folder / FINISHED).read_bytes())
        return None

    def clear(self) -> None:
        """The store has the record: nothing of the making is needed any more.

        The record goes last: who finds it knows that the rest is of no use.
        """
        for path in list(self.folder.glob("*")):
            if path.name != FINISHED:
                remove(path)
        remove(self.folder)


def _write(path: Path, content: Part) -> None:
    """Whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(content.model_dump_json(), encoding="utf-8")
    os.replace(partial, path)  # noqa: PTH105 - the name says that it replaces
