"""Integrity: recomputes every digest and names each file that is missing, extra, altered or misplaced."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from runner.errors import HarnessmarkError
from runner.records import (
    GENESIS,
    ArtifactState,
    CorrectionRecord,
    LedgerEntry,
    PlannedTrial,
    PlanRecord,
    Record,
    TrialRecord,
    chain_value,
    parse_record,
    sha256_of,
)
from runner.secrets import Scanner
from runner.store import layout
from runner.store.atomic import WRITING
from runner.store.bench_integrity import bench_findings
from runner.store.finding import RESTORE, Finding
from runner.store.ledger import ledger_lines

CLEARED = "the command that was interrupted, given again, clears it and lists what it had written"
IGNORED_AT_ROOT = frozenset({layout.PRIVATE, layout.DEMONSTRATION, "README.md", ".gitignore"})


def verify(root: Path, scanner: Scanner | None = None) -> list[Finding]:
    """Everything that is wrong in the store at ``root``, ordered by path; empty when it is whole.

    Args:
        root: folder of the store.
        scanner: looks for secrets in every file; one that knows this machine's secrets finds them too.
    """
    return sorted(set(_Verification(root, scanner or Scanner()).findings()))


def record_path(planned: PlannedTrial) -> str:
    """Where the record of a planned trial belongs."""
    return str(layout.trial_path(planned.identity))


def record_is_planned(path: str, plan: PlanRecord) -> bool:
    """Whether ``path`` is where ``plan`` expects the record of a trial."""
    return any(record_path(planned) == path for planned in plan.trials)


class _Verification:
    """One pass over a store."""

    def __init__(self, root: Path, scanner: Scanner) -> None:
        self.root = root
        self.scanner = scanner
        self.listed: dict[str, LedgerEntry] = {}
        self.present: set[str] = set()
        """Plain files in places where records and artifacts live."""
        self.unreadable: set[str] = set()
        self.broken_ledgers: set[str] = set()
        """Plans whose ledger is missing or damaged: what it would list is no finding of its own."""
        self.plans: dict[str, PlanRecord] = {}
        self.trials: dict[str, TrialRecord] = {}
        self.corrections: dict[str, CorrectionRecord] = {}

    def findings(self) -> Iterator[Finding]:
        """Everything that is wrong, in the order in which it is looked for."""
        yield from self._walk()
        for path in sorted((self.root / layout.LEDGERS).glob("*.jsonl")):
            yield from self._ledger(path)
        yield from self._records()
        yield from self._plans_and_trials()
        yield from self._corrected()
        yield from self._files()
        yield from bench_findings(self.root, self.present)
        yield from self._secrets()

    def _walk(self) -> Iterator[Finding]:
        """Collect the files of the store; links, devices and unknown places are findings."""
        closed: list[OSError] = []
        for folder, names, files in os.walk(self.root, onerror=closed.append):
            relative = PurePosixPath(Path(folder).relative_to(self.root).as_posix())
            if str(relative) == ".":
                names[:] = sorted(set(names) - IGNORED_AT_ROOT)
                files = [name for name in files if name not in IGNORED_AT_ROOT]
            for name in (*names, *files):
                path = relative / name
                mode = (self.root / path).lstat().st_mode
                if stat.S_ISREG(mode):
                    yield from self._file(path)
                elif not stat.S_ISDIR(mode):
                    self.unreadable.add(str(path))
                    what = "is a link" if stat.S_ISLNK(mode) else "is no plain file"
                    yield Finding(str(path), "unreadable", what, "replace it by the file it should be")
        for error in closed:
            shown = Path(error.filename).relative_to(self.root).as_posix()
            yield Finding(shown, "unreadable", str(error.strerror), "check its rights")

    def _file(self, path: PurePosixPath) -> Iterator[Finding]:
        top = path.parts[0]
        if top == layout.STAGING or path.name.startswith(WRITING):
            yield Finding(str(path), "unfinished", "left by an interrupted write", CLEARED)
        elif top in layout.AREAS:
            self.present.add(str(path))
        elif top != layout.LEDGERS or len(path.parts) != 2 or path.suffix != ".jsonl":
            yield Finding(
                str(path), "extra", "no record of this store lives here", "move it out of the store"
            )

    def _bytes(self, path: str) -> bytes | None:
        """Content of a plain file; None where it cannot be read, which :meth:`_records` reports."""
        try:
            return (self.root / path).read_bytes()
        except OSError:
            self.unreadable.add(path)
            return None

    def _ledger(self, path: Path) -> Iterator[Finding]:
        shown = path.relative_to(self.root).as_posix()
        data = None if shown in self.unreadable else self._bytes(shown)
        if data is None:
            self.broken_ledgers.add(path.stem)
            yield Finding(shown, "unreadable", "it cannot be read", RESTORE)
            return
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            remedy = f"invoke run --resume {path.stem} lists again what it stood for, or {RESTORE}"
            yield Finding(shown, "altered", "its last line is cut", remedy)
        chain: str | None = GENESIS
        for number, entry in enumerate(ledger_lines(whole), 1):
            if entry is None:
                self.broken_ledgers.add(path.stem)
                chain = None
                yield Finding(shown, "altered", f"line {number} is not a ledger entry", RESTORE)
                continue
            if chain and entry.chain != chain_value(chain, entry.path, entry.sha256, entry.size_bytes):
                yield Finding(
                    shown, "altered", f"line {number} does not follow from the lines before it", RESTORE
                )
            chain = entry.chain
            if entry.path in self.listed:
                yield Finding(shown, "altered", f"line {number} lists {entry.path} a second time", RESTORE)
            self.listed[entry.path] = entry

    def _files(self) -> Iterator[Finding]:
        for path, entry in self.listed.items():
            if path in self.unreadable:
                continue
            if path not in self.present:
                yield Finding(path, "missing", "the ledger lists it", RESTORE)
            elif (data := self._bytes(path)) is None:
                yield Finding(path, "unreadable", "it cannot be read", "check its rights")
            elif sha256_of(data) != entry.sha256:
                yield Finding(path, "altered", "its digest is not the one in the ledger", RESTORE)
        for path in self.present - self.listed.keys():
            if path.startswith(f"{layout.ENDPOINT}/"):
                continue
            plan_id = self._plan_of(PurePosixPath(path))
            if plan_id in self.broken_ledgers:
                continue
            plan = self.plans.get(plan_id)
            remedy = "delete it, or restore the ledger from git"
            if path.startswith(f"{layout.PROOFS}/"):
                remedy = f"invoke judge-proof lists it if it was killed; else {remedy}"
            if plan is not None and plan.purpose == "run" and self._is_interrupted(path, plan):
                remedy = f"invoke run --resume {plan_id} lists it"
            yield Finding(path, "extra", "no ledger lists it", remedy)

    def _secrets(self) -> Iterator[Finding]:
        for path in sorted(self.present - self.unreadable):
            for hit in self.scanner.find(self._bytes(path) or b""):
                remedy = "revoke it, then take it out of the history of the repository as well"
                yield Finding(path, "secret", hit.line(), remedy)

    def _plan_of(self, path: PurePosixPath) -> str:
        """Id of the plan whose ledger should list ``path``; empty where that cannot be told."""
        if path.parts[0] == layout.PLANS:
            return path.stem
        if path.parts[0] == layout.PROOFS and len(path.parts) > 1:
            return layout.proof_ledger(path.parts[1])
        trial = self.trials.get(str(PurePosixPath(*path.parts[: layout.TRIAL_DEPTH], layout.TRIAL_FILE)))
        return "" if trial is None else trial.plan_id

    def _is_interrupted(self, path: str, plan: PlanRecord) -> bool:
        """Whether a run that was killed before it wrote to the ledger can have left ``path``."""
        if path == str(layout.plan_path(plan.plan_id)):
            return True
        record = str(PurePosixPath(*PurePosixPath(path).parts[: layout.TRIAL_DEPTH], layout.TRIAL_FILE))
        return record not in self.listed and record_is_planned(record, plan)

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
            data = self._bytes(path)
            if data is None:
                yield Finding(path, "unreadable", "it cannot be read", "check its rights")
                continue
            try:
                record: Record = parse_record(expected, data, where=path)
                proper = str(layout.record_path(record))
            except HarnessmarkError as error:
                yield Finding(path, "unreadable", error.what, RESTORE)
                continue
            if proper != path:
                yield Finding(path, "misplaced", f"its identity belongs at {proper}", "move it back")
            if isinstance(record, CorrectionRecord):
                self.corrections[path] = record
            if isinstance(record, PlanRecord):
                self.plans[record.plan_id] = record
            if isinstance(record, TrialRecord):
                self.trials[path] = record
                yield from self._artifacts(place.parent, record)

    def _artifacts(self, folder: PurePosixPath, record: TrialRecord) -> Iterator[Finding]:
        for artifact in record.artifacts:
            path = str(folder / "artifacts" / artifact.name)
            if artifact.state is not ArtifactState.PRESENT or path in self.unreadable:
                continue
            if path not in self.present:
                yield Finding(path, "missing", "the trial record lists it", RESTORE)
            elif (data := self._bytes(path)) is None:
                yield Finding(path, "unreadable", "it cannot be read", "check its rights")
            elif sha256_of(data) != artifact.sha256:
                yield Finding(path, "altered", "its digest is not the one in the trial record", RESTORE)

    def _corrected(self) -> Iterator[Finding]:
        for path, correction in self.corrections.items():
            if correction.path not in self.present:
                yield Finding(
                    path, "misplaced", f"it corrects {correction.path}, which is not there", RESTORE
                )
            elif sha256_of(self._bytes(correction.path) or b"") != correction.record_sha256:
                yield Finding(path, "altered", f"it was made for other content of {correction.path}", RESTORE)

    def _plans_and_trials(self) -> Iterator[Finding]:
        planned: set[str] = set()
        for plan_id, plan in sorted(self.plans.items()):
            ledger = str(layout.ledger_path(plan_id))
            if not (self.root / ledger).exists():
                self.broken_ledgers.add(plan_id)
                begun = any(record_path(each) in self.present for each in plan.trials)
                remedy = RESTORE if begun or plan.purpose != "run" else f"invoke run --resume {plan_id}"
                yield Finding(ledger, "missing", f"plan {plan_id} has no ledger", remedy)
            for entry in plan.trials:
                path = record_path(entry)
                planned.add(path)
                if path not in self.present and path not in self.listed:
                    remedy = f"invoke run --resume {plan_id}" if plan.purpose == "run" else RESTORE
                    yield Finding(path, "unfinished", f"plan {plan_id} has no record of this trial", remedy)
        for path, trial in sorted(self.trials.items()):
            if trial.plan_id not in self.plans:
                yield Finding(path, "extra", f"its plan {trial.plan_id} is not in the store", RESTORE)
            elif path not in planned:
                yield Finding(path, "extra", f"plan {trial.plan_id} does not list this trial", RESTORE)
