"""Layout: where each record lives below the root of a store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runner.records import (
    BenchManifest,
    BenchSummary,
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
)
from runner.store.component import component

TRIALS = "swe"
PLANS = "plans"
LEDGERS = "ledger"
THROUGHPUT = "throughput"
ENDPOINT = "endpoint"
CORRECTIONS = "corrections"
PROOFS = "judges"
STAGING = ".staging"
AREAS = (TRIALS, PLANS, THROUGHPUT, ENDPOINT, CORRECTIONS, PROOFS)

PRIVATE = "private"
DEMONSTRATION = "demonstration"

TRIAL_FILE = "trial.json"
BENCH_MANIFEST, BENCH_TRIALS, BENCH_SUMMARY = "manifest.json", "trials.jsonl", "summary.json"
"""Files of an endpoint benchmark: what was planned, one line per trial, all figures."""
BESIDE_A_TRIAL = ("judgements", "checks", "integrity")
"""Folders of records that are added to a trial later."""
TRIAL_DEPTH = 7
"""Parts of the path of a trial's folder."""


def trial_folder(identity: TrialIdentity) -> PurePosixPath:
    """``swe/<model>_<provider>[_<effort>]/<harness>/<skill>/<dataset>/<task>/<trial>``."""
    return PurePosixPath(TRIALS, *(component(part) for part in identity.key))


def trial_path(identity: TrialIdentity) -> PurePosixPath:
    """Where the store keeps the record of a trial."""
    return trial_folder(identity) / TRIAL_FILE


def artifact_path(identity: TrialIdentity, name: str) -> PurePosixPath:
    """Where the store keeps an artifact of a trial."""
    return trial_folder(identity) / "artifacts" / component(name)


def plan_path(plan_id: str) -> PurePosixPath:
    """Where the store keeps a plan."""
    return PurePosixPath(PLANS, component(f"{plan_id}.json"))


def ledger_path(plan_id: str) -> PurePosixPath:
    """Where the store keeps the ledger of a plan."""
    return PurePosixPath(LEDGERS, component(f"{plan_id}.jsonl"))


def bench_folder(model: str, run_id: str) -> PurePosixPath:
    """``endpoint/<model>/<run-id>``: where the store keeps an endpoint benchmark."""
    return PurePosixPath(ENDPOINT, component(model), component(run_id))


def proof_ledger(judge: str) -> str:
    """Name of the ledger that lists the proofs of a judge."""
    return f"judge-{judge}"


def record_path(record: Record) -> PurePosixPath:
    """The one place where ``record`` belongs."""
    match record:
        case TrialRecord():
            return trial_path(record.identity)
        case JudgementRecord():
            name = component(f"{record.judge.name}-{record.number}.json")
            return trial_folder(record.trial) / "judgements" / name
        case CheckRecord():
            return trial_folder(record.trial) / "checks" / component(f"{record.name}-{record.number}.json")
        case IntegrityRecord():
            return trial_folder(record.trial) / "integrity" / component(f"scan-{record.number}.json")
        case PlanRecord():
            return plan_path(record.plan_id)
        case ThroughputRecord():
            folder = component(record.deployment.name)
            return PurePosixPath(THROUGHPUT, folder, component(record.sweep_id), "sweep.json")
        case CorrectionRecord():
            return PurePosixPath(CORRECTIONS, component(f"{record.correction_id}.json"))
        case ProofRecord():
            name = component(f"{record.pair}-{record.side}-{record.number}.json")
            return PurePosixPath(PROOFS, component(record.judge.name), component(record.suite), name)
        case BenchManifest():
            return bench_folder(record.model, record.run_id) / BENCH_MANIFEST
        case BenchSummary():
            return bench_folder(record.model, record.run_id) / BENCH_SUMMARY
    raise TypeError(f"no place for a {type(record).__name__}")


def record_type_at(path: PurePosixPath) -> type[Record] | None:
    """Which record type the layout promises at ``path``; None where it promises an artifact or nothing."""
    match path.parts:
        case (area, *_, "judgements", _) if area == TRIALS:
            return JudgementRecord
        case (area, *_, "checks", _) if area == TRIALS:
            return CheckRecord
        case (area, *_, "integrity", _) if area == TRIALS:
            return IntegrityRecord
        case (area, *_, name) if area == TRIALS and name == TRIAL_FILE:
            return TrialRecord
        case (area, _) if area == PLANS:
            return PlanRecord
        case (area, _, _, "sweep.json") if area == THROUGHPUT:
            return ThroughputRecord
        case (area, _) if area == CORRECTIONS:
            return CorrectionRecord
        case (area, _, _, _) if area == PROOFS:
            return ProofRecord
        case (area, _, _, name) if area == ENDPOINT and name == BENCH_MANIFEST:
            return BenchManifest
        case (area, _, _, name) if area == ENDPOINT and name == BENCH_SUMMARY:
            return BenchSummary
    return None


@dataclass(frozen=True)
class StoreRoots:
    """The stores below one results folder: the public one and two that git ignores."""

    public: Path

    @property
    def private(self) -> Path:
        """Results on datasets with ``visibility: private``; no public build reads it."""
        return self.public / PRIVATE

    @property
    def demonstration(self) -> Path:
        """Results of the built-in model server; never compared with real ones."""
        return self.public / DEMONSTRATION

    def existing(self) -> tuple[Path, ...]:
        """Those of the three that are there."""
        return tuple(root for root in (self.public, self.private, self.demonstration) if root.is_dir())
