"""ImportReport: what became of every file that an importer was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

Progress = Callable[[int, int, str], None]
"""Called after each file with the number done, the number of all, and the file's name."""


class FileStatus(StrEnum):
    """How the import of one file ended."""

    IMPORTED = "imported"
    UNCHANGED = "unchanged"
    """All its records were in the store already, byte for byte."""
    SKIPPED = "skipped"
    """Not something this importer turns into records."""
    FAILED = "failed"


@dataclass(frozen=True)
class FileReport:
    """One file. ``faults`` holds one line per fault, each with the key it was found at."""

    path: Path
    status: FileStatus
    plan_id: str = ""
    trials: int = 0
    judgements: int = 0
    sweeps: int = 0
    warnings: int = 0
    faults: tuple[str, ...] = ()
    reason: str = ""

    def line(self) -> str:
        """The file in one line; the faults follow it, one a line."""
        match self.status:
            case FileStatus.FAILED:
                return "\n".join((f"failed: {self.path}", *(f"  {fault}" for fault in self.faults)))
            case FileStatus.SKIPPED:
                return f"skipped: {self.path}: {self.reason}"
        return f"{self.status.value}: {self.path}: {self.trials} trials, {self.sweeps} sweeps"


@dataclass(frozen=True)
class ImportReport:
    """All files of one import, in the order they were read."""

    files: tuple[FileReport, ...]

    def with_status(self, status: FileStatus) -> tuple[FileReport, ...]:
        """The files that ended in ``status``."""
        return tuple(file for file in self.files if file.status is status)

    @property
    def failed(self) -> tuple[FileReport, ...]:
        """Files that could not be read or written, each with its faults."""
        return self.with_status(FileStatus.FAILED)

    @property
    def ok(self) -> bool:
        """Whether every file was imported, unchanged or skipped on purpose."""
        return not self.failed

    def summary(self) -> str:
        """Counts in one line."""
        counts = ", ".join(
            f"{len(self.with_status(status))} {status.value}"
            for status in FileStatus
            if self.with_status(status)
        )
        trials = sum(file.trials for file in self.files)
        judgements = sum(file.judgements for file in self.files)
        sweeps = sum(file.sweeps for file in self.files)
        return f"{counts or 'no files'}: {trials} trials, {judgements} judgements, {sweeps} sweeps"
