"""Integrity: recomputes every digest and names each file that is missing, extra, altered or misplaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runner.errors import HarnessmarkError
from runner.records import (
    GENESIS,
    ArtifactState,
    LedgerEntry,
    PlanRecord,
    Record,
    TrialRecord,
    chain_value,
    parse_record,
    sha256_of,
)
from runner.store import layout
from runner.store.ledger import read_ledger

RESTORE = "restore it from git"
IGNORED_AT_ROOT = frozenset({layout.PRIVATE, layout.DEMONSTRATION, "README.md", ".gitignore"})


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong in a store."""

    path: str
    problem: str
    detail: str
    remedy: str

    def line(self) -> str:
        """The finding as one line: what is wrong, where, and what to do."""
        return f"{self.problem}: {self.path}: {self.detail}; {self.remedy}"


def verify(root: Path) -> list[Finding]:
    """Everything that is wrong in the store at ``root``, ordered by path; empty when it is whole."""
    return sorted(set(_Verification(root).findings()))


class _Verification:
    """One pass over a store."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.listed: dict[str, LedgerEntry] = {}
        self.present: set[str] = set()
        self.plans: dict[str, PlanRecord] = {}
        self.trials: dict[str, TrialRecord] = {}

    def findings(self) -> Iterator[Finding]:
        yield from self._walk()
        for path in sorted((self.root / layout.LEDGERS).glob("*.jsonl")):
            yield from self._ledger(path)
        yield from self._files()
        yield from self._records()
        yield from self._plans_and_trials()

    def _walk(self) -> Iterator[Finding]:
        """Collect the files of the store; links and unknown places are findings."""
        for folder, names, files in os.walk(self.root):
            relative = PurePosixPath(Path(folder).relative_to(self.root).as_posix())
            if str(relative) == ".":
                names[:] = sorted(set(names) - IGNORED_AT_ROOT)
                files = [name for name in files if name not in IGNORED_AT_ROOT]
            for name in (*names, *files):
                path = relative / name
                if (self.root / path).is_symlink():
                    yield Finding(str(path), "unreadable", "is a link", "replace it by the file it should be")
            for name in files:
                path = relative / name
                top = path.parts[0]
                if top == layout.STAGING or name.startswith(".writing-"):
                    yield Finding(str(path), "unfinished", "left by an interrupted write", "delete it")
                elif top in layout.AREAS:
                    self.present.add(str(path))
                elif top != layout.LEDGERS or len(path.parts) != 2 or not name.endswith(".jsonl"):
                    yield Finding(
                        str(path), "extra", "no record of this store lives here", "move it out of the store"
                    )

    def _ledger(self, path: Path) -> Iterator[Finding]:
        shown = path.relative_to(self.root).as_posix()
        try:
            entries = read_ledger(path)
        except HarnessmarkError as error:
            yield Finding(shown, "unreadable", error.what, RESTORE)
            return
        if not path.read_bytes().endswith(b"\n"):
            yield Finding(shown, "altered", "its last line is cut", RESTORE)
        chain = GENESIS
        for number, entry in enumerate(entries, 1):
            if entry.chain != chain_value(chain, entry.path, entry.sha256, entry.size_bytes):
                yield Finding(
                    shown, "altered", f"line {number} does not follow from the lines before it", RESTORE
                )
            chain = entry.chain
            if entry.path in self.listed:
                yield Finding(shown, "altered", f"line {number} lists {entry.path} a second time", RESTORE)
            self.listed[entry.path] = entry

    def _files(self) -> Iterator[Finding]:
        for path, entry in self.listed.items():
            if path not in self.present:
                yield Finding(path, "missing", "the ledger lists it", RESTORE)
            elif sha256_of((self.root / path).read_bytes()) != entry.sha256:
                yield Finding(path, "altered", "its digest is not the one in the ledger", RESTORE)
        for path in self.present - self.listed.keys():
            yield Finding(path, "extra", "no ledger lists it", "delete it, or restore the ledger from git")

    def _records(self) -> Iterator[Finding]:
        for path in sorted(self.present):
            place = PurePosixPath(path)
            expected = layout.record_type_at(place)
            if expected is None:
                if "artifacts" not in place.parts and place.parts[0] != layout.ENDPOINT:
                    yield Finding(
                        path, "misplaced", "no record of this store lives here", "move it out of the store"
                    )
                continue
            try:
                record: Record = parse_record(expected, (self.root / path).read_bytes(), where=path)
                proper = str(layout.record_path(record))
            except (HarnessmarkError, OSError) as error:
                detail = error.what if isinstance(error, HarnessmarkError) else str(error.strerror)
                yield Finding(path, "unreadable", detail, RESTORE)
                continue
            if proper != path:
                yield Finding(path, "misplaced", f"its identity belongs at {proper}", "move it back")
            if isinstance(record, PlanRecord):
                self.plans[record.plan_id] = record
            if isinstance(record, TrialRecord):
                self.trials[path] = record
                yield from self._artifacts(place.parent, record)

    def _artifacts(self, folder: PurePosixPath, record: TrialRecord) -> Iterator[Finding]:
        for artifact in record.artifacts:
            path = str(folder / "artifacts" / artifact.name)
            if artifact.state is not ArtifactState.PRESENT:
                continue
            if path not in self.present:
                yield Finding(path, "missing", "the trial record lists it", RESTORE)
            elif sha256_of((self.root / path).read_bytes()) != artifact.sha256:
                yield Finding(path, "altered", "its digest is not the one in the trial record", RESTORE)

    def _plans_and_trials(self) -> Iterator[Finding]:
        planned: set[str] = set()
        for plan_id, plan in sorted(self.plans.items()):
            if not (self.root / layout.ledger_path(plan_id)).is_file():
                yield Finding(
                    str(layout.ledger_path(plan_id)), "missing", f"plan {plan_id} has no ledger", RESTORE
                )
            for entry in plan.trials:
                path = str(layout.trial_folder(entry.identity) / layout.TRIAL_FILE)
                planned.add(path)
                if path not in self.present and path not in self.listed:
                    remedy = f"invoke run --resume {plan_id}" if plan.purpose == "run" else RESTORE
                    yield Finding(path, "unfinished", f"plan {plan_id} has no record of this trial", remedy)
        for path, trial in sorted(self.trials.items()):
            if trial.plan_id not in self.plans:
                yield Finding(path, "extra", f"its plan {trial.plan_id} is not in the store", RESTORE)
            elif path not in planned:
                yield Finding(path, "extra", f"plan {trial.plan_id} does not list this trial", RESTORE)
