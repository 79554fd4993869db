"""ResultsStore: reads and writes one store of results on disk."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from runner.errors import OverwriteError, RecordError, SecretFound
from runner.records import (
    CheckRecord,
    CorrectionRecord,
    IntegrityRecord,
    JudgementRecord,
    PlanRecord,
    ProofRecord,
    Record,
    ThroughputRecord,
    TrialIdentity,
    TrialRecord,
    parse_record,
    sha256_of,
)
from runner.secrets import Scanner
from runner.store import layout
from runner.store.atomic import publish_folder, remove_interrupted, write_once
from runner.store.component import below, component
from runner.store.correcting import corrected, corrections_by_path
from runner.store.ledger import Ledger

RecordType = TypeVar("RecordType", bound=Record)


@dataclass(frozen=True)
class StoredTrial:
    """A trial with everything that is kept beside it."""

    record: TrialRecord
    """As it reads today: with every correction made."""
    judgements: tuple[JudgementRecord, ...]
    checks: tuple[CheckRecord, ...]
    folder: Path
    scans: tuple[IntegrityRecord, ...] = ()
    """Oldest first."""
    corrections: tuple[CorrectionRecord, ...] = ()
    """What ``record`` was corrected by, oldest first."""

    def artifact(self, name: str) -> bytes | None:
        """Content of an artifact, or None where the store does not hold it."""
        path = self.folder / "artifacts" / component(name)
        linked = path.is_symlink() or path.parent.is_symlink()
        return path.read_bytes() if path.is_file() and not linked else None


class ResultsStore:
    """A store below ``root``. Writing is atomic and never overwrites; reading validates every record.

    Args:
        root: folder of the store.
        scanner: looks for secrets in every file before it is written; knows those of this machine.
    """

    def __init__(self, root: Path, *, scanner: Scanner | None = None) -> None:
        self.root = root
        self._scanner = scanner or Scanner()
        self._ledgers: dict[str, Ledger] = {}

    def write_plan(self, plan: PlanRecord) -> None:
        """Write a plan and begin its ledger."""
        self._write(plan.plan_id, layout.record_path(plan), plan.to_bytes())

    def write_trial(
        self,
        trial: TrialRecord,
        *,
        checks: Sequence[CheckRecord] = (),
        judgements: Sequence[JudgementRecord] = (),
        scans: Sequence[IntegrityRecord] = (),
        artifacts: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write a trial with all that belongs to it in one step: the whole folder appears, or nothing.

        A folder that holds the same bytes already is listed in the ledger if it was not, and left alone.

        Raises:
            OverwriteError: the folder exists with other content.
            SecretFound: one of the files holds a secret; nothing is written.
        """
        target = layout.trial_folder(trial.identity)
        files: dict[PurePosixPath, bytes] = {}
        for name, data in sorted((artifacts or {}).items()):
            files[layout.artifact_path(trial.identity, name)] = data
        for record in (*checks, *scans, *judgements, trial):
            files[layout.record_path(record)] = record.to_bytes()
        self._require_no_secret(files)
        if not self._published(trial.plan_id, target, files):
            self._require_same(target, files)
        self._ledger(trial.plan_id).append_all(files)

    def write_judgement(self, plan_id: str, judgement: JudgementRecord) -> None:
        """Add a judgement to a trial that is in the store."""
        self._write(plan_id, layout.record_path(judgement), judgement.to_bytes())

    def has_judgement(self, judgement: JudgementRecord) -> bool:
        """Whether a judgement of that number by that judge is beside the trial."""
        return (self.root / layout.record_path(judgement)).is_file()

    def settle(self) -> None:
        """List records beside trials, and corrections, that a killed process wrote and could not list.

        What it had half written is removed. Other processes may be writing meanwhile.
        """
        for name in layout.BESIDE_A_TRIAL:
            for folder in (self.root / layout.TRIALS).glob(f"{'*/' * (layout.TRIAL_DEPTH - 1)}{name}"):
                remove_interrupted(folder, self._list)
        remove_interrupted(self.root / layout.CORRECTIONS, self._list)

    def write_check(self, plan_id: str, check: CheckRecord) -> None:
        """Add a check to a trial that is in the store."""
        self._write(plan_id, layout.record_path(check), check.to_bytes())

    def write_scan(self, plan_id: str, scan: IntegrityRecord) -> None:
        """Add a scan to a trial that is in the store."""
        self._write(plan_id, layout.record_path(scan), scan.to_bytes())

    def write_correction(self, plan_id: str, correction: CorrectionRecord) -> None:
        """Write a correction; ``plan_id`` names the plan whose ledger lists the corrected record."""
        self._write(plan_id, layout.record_path(correction), correction.to_bytes())

    def digest_of(self, identity: TrialIdentity) -> str:
        """Digest of a trial's record as it was written, whatever was corrected since."""
        return sha256_of((self.root / layout.trial_path(identity)).read_bytes())

    def write_proof(self, proof: ProofRecord) -> None:
        """Write how a judge scored a case of a suite; each judge has a ledger of its own."""
        self._write(layout.proof_ledger(proof.judge.name), layout.record_path(proof), proof.to_bytes())

    def clear_proofs(self, judge: str) -> None:
        """List proofs of a judge that a killed process could not list; remove what it had half written."""
        ledger = layout.proof_ledger(judge)
        for folder in (self.root / layout.PROOFS / component(judge)).glob("*"):
            remove_interrupted(
                folder, lambda path, data: self._ledger(ledger).append(self._place(path), data)
            )

    def proofs(self) -> Iterator[ProofRecord]:
        """All scorings of cases of suites, in order of their paths."""
        for path in sorted((self.root / layout.PROOFS).glob("*/*/*.json")):
            yield self._read_file(ProofRecord, path)

    def write_throughput(self, plan_id: str, sweep: ThroughputRecord) -> None:
        """Write a sweep; ``plan_id`` names the plan whose ledger lists it."""
        self._write(plan_id, layout.record_path(sweep), sweep.to_bytes())

    def has_trial(self, identity: TrialIdentity) -> bool:
        """Whether a finished record of this trial is in the store."""
        return (self.root / layout.trial_path(identity)).is_file()

    def adopt(self, plan: PlanRecord) -> None:
        """List in the ledger what a crash kept out of it: the plan, and trials whose record is not listed.

        Only what a trial record stands for is taken, so that a file somebody put there stays a finding.
        """
        self._write(plan.plan_id, layout.record_path(plan), plan.to_bytes())
        ledger = self._ledger(plan.plan_id)
        for planned in plan.trials:
            identity = planned.identity
            # The record of a trial is listed last: where it is, all the rest is.
            if self.has_trial(identity) and layout.trial_path(identity) not in ledger:
                for path in self._belonging(identity):
                    ledger.append(path, (self.root / path).read_bytes())

    def damaged(self, plan: PlanRecord) -> list[TrialIdentity]:
        """Trials of ``plan`` that were finished once and have no record now; they cannot be run again."""
        ledger = self._ledger(plan.plan_id)
        return [
            planned.identity
            for planned in plan.trials
            if not self.has_trial(planned.identity)
            and (
                layout.trial_path(planned.identity) in ledger
                or (self.root / layout.trial_folder(planned.identity)).exists()
            )
        ]

    def clear_interrupted(self, plan: PlanRecord) -> None:
        """Remove what interrupted writes for ``plan`` left behind; other plans' writes may be going on."""
        shutil.rmtree(self._staging(plan.plan_id), ignore_errors=True)
        remove_interrupted(self.root / layout.PLANS)
        remove_interrupted(self.root / layout.CORRECTIONS, self._list)
        for planned in plan.trials:
            folder = self.root / layout.trial_folder(planned.identity)
            for name in layout.BESIDE_A_TRIAL:
                remove_interrupted(folder / name, self._list)

    def plan(self, plan_id: str) -> PlanRecord:
        """The plan of that id."""
        return self.read(PlanRecord, layout.plan_path(plan_id))

    def plans(self) -> Iterator[PlanRecord]:
        """All plans in order of their ids."""
        for path in sorted((self.root / layout.PLANS).glob("*.json")):
            yield self.read(PlanRecord, PurePosixPath(path.relative_to(self.root).as_posix()))

    def trial(self, identity: TrialIdentity) -> StoredTrial:
        """One trial with everything kept beside it."""
        return self._stored(self.root / layout.trial_path(identity), corrections_by_path(self.root))

    def trials(self) -> Iterator[StoredTrial]:
        """All trials in order of their paths."""
        corrections = corrections_by_path(self.root)
        for path in sorted((self.root / layout.TRIALS).glob(f"*/*/*/*/*/*/{layout.TRIAL_FILE}")):
            yield self._stored(path, corrections)

    def trial_keys(self) -> Iterator[tuple[str, ...]]:
        """Key (as in ``TrialIdentity.key``) of every folder that has or had a trial, whole or not."""
        for path in (self.root / layout.TRIALS).glob("*/*/*/*/*/*"):
            if re.fullmatch(r"[1-9]\d{0,8}", path.name):
                yield path.relative_to(self.root / layout.TRIALS).parts

    def sweeps(self) -> Iterator[ThroughputRecord]:
        """All throughput sweeps in order of their paths."""
        for path in sorted((self.root / layout.THROUGHPUT).glob("*/*/sweep.json")):
            yield self._read_file(ThroughputRecord, path)

    def read(self, expected: type[RecordType], path: PurePosixPath) -> RecordType:
        """The record at ``path`` below the root."""
        return self._read_file(expected, self.root / path)

    def _stored(self, path: Path, corrections: Mapping[str, Sequence[CorrectionRecord]]) -> StoredTrial:
        folder, data = path.parent, path.read_bytes()
        own = tuple(corrections.get(path.relative_to(self.root).as_posix(), ()))
        scans = self._read_all(IntegrityRecord, folder / "integrity")
        return StoredTrial(
            record=corrected(parse_record(TrialRecord, data, where=str(path)), data, own),
            judgements=tuple(self._read_all(JudgementRecord, folder / "judgements")),
            checks=tuple(self._read_all(CheckRecord, folder / "checks")),
            folder=folder,
            scans=tuple(sorted(scans, key=lambda scan: scan.number)),
            corrections=own,
        )

    def _read_all(self, expected: type[RecordType], folder: Path) -> Iterator[RecordType]:
        for path in sorted(folder.glob("*.json")):
            yield self._read_file(expected, path)

    def _read_file(self, expected: type[RecordType], path: Path) -> RecordType:
        return parse_record(expected, path.read_bytes(), where=str(path))

    def _ledger(self, plan_id: str) -> Ledger:
        if plan_id not in self._ledgers:
            self._ledgers[plan_id] = Ledger(self.root / layout.ledger_path(plan_id))
        return self._ledgers[plan_id]

    def _write(self, plan_id: str, path: PurePosixPath, data: bytes) -> None:
        self._require_no_secret({path: data})
        write_once(self.root / path, data, lambda: self._ledger(plan_id).append(path, data))

    def _place(self, path: Path) -> PurePosixPath:
        return PurePosixPath(path.relative_to(self.root).as_posix())

    def _list(self, path: Path, data: bytes) -> None:
        """List a record beside a trial, or a correction of one, in the ledger of the trial's plan."""
        place = self._place(path)
        with contextlib.suppress(RecordError):
            if place.parts[0] == layout.CORRECTIONS:
                trial = PurePosixPath(parse_record(CorrectionRecord, data, where=str(path)).path)
            else:
                trial = place.parent.parent / layout.TRIAL_FILE
            self._ledger(self.read(TrialRecord, trial).plan_id).append(place, data)

    def _staging(self, plan_id: str) -> Path:
        return below(self.root / layout.STAGING, plan_id)

    def _published(self, plan_id: str, target: PurePosixPath, files: Mapping[PurePosixPath, bytes]) -> bool:
        """Whether the folder was made; False where something is there already."""
        if not (self.root / target).exists():
            contents = {str(path.relative_to(target)): data for path, data in files.items()}
            with contextlib.suppress(OverwriteError):
                publish_folder(self.root / target, contents, staging=self._staging(plan_id))
                return True
        return False

    def _belonging(self, identity: TrialIdentity) -> list[PurePosixPath]:
        """Files that the record of a trial stands for, the record itself last."""
        stored = self.trial(identity)
        paths = [
            layout.artifact_path(identity, artifact.name)
            for artifact in stored.record.artifacts
            if stored.artifact(artifact.name) is not None
        ]
        return paths + [
            layout.record_path(record)
            for record in (*stored.checks, *stored.scans, *stored.judgements, stored.record)
        ]

    def _require_no_secret(self, files: Mapping[PurePosixPath, bytes]) -> None:
        found = [f"{path}: {hit.line()}" for path, data in files.items() for hit in self._scanner.find(data)]
        if found:
            shown = found[:10] + ([f"and {len(found) - 10} more"] if len(found) > 10 else [])
            raise SecretFound(
                "a file to be written holds what looks like a secret",
                where="\n         ".join(shown),
                remedy="if it is one: revoke it. If it is none: add the digest to datasets/not-secret.txt",
            )

    def _require_same(self, target: PurePosixPath, files: Mapping[PurePosixPath, bytes]) -> None:
        for path, data in files.items():
            present = self.root / path
            if not present.is_file() or present.read_bytes() != data:
                raise OverwriteError(
                    "a trial with this number exists with other content",
                    where=str(self.root / target),
                    remedy="use the next trial number; a finished trial is never changed",
                )
