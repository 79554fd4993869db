"""Typed, versioned records: the only shapes that cross a file or a process."""

from runner.records.base import Part, Record, sha256_of
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_summary import BenchSummary
from runner.records.bench_trial import BenchTrial
from runner.records.check import BaseRun, CheckPurpose, CheckRecord, CheckStatus, TestOutcomes
from runner.records.correction import CorrectionRecord
from runner.records.cost import Cost, CostBasis
from runner.records.identity import CellIdentity, Fingerprint, Hosting, ModelName, TrialIdentity
from runner.records.integrity import RULES, IntegrityFinding, IntegrityRecord, Scanned, Severity
from runner.records.judgement import (
    CRITERIA,
    ArtifactScore,
    Judge,
    JudgementAttempt,
    JudgementRecord,
    JudgementStatus,
    SeenPart,
)
from runner.records.ledger import GENESIS, LedgerEntry, chain_value
from runner.records.outcome import Outcome, Standing
from runner.records.plan import PlannedTrial, PlanRecord
from runner.records.proof import CHANGED, REFERENCE, ProofRecord
from runner.records.reference import (
    AccountingReport,
    AccountingRow,
    Definition,
    HarnessReference,
    ProviderReference,
)
from runner.records.schema import json_schemas
from runner.records.server_window import ServerWindow, WindowGauge, WindowHistogram
from runner.records.throughput import (
    Deployment,
    Level,
    LoadSession,
    Quantiles,
    SessionShape,
    Spread,
    SweepFindings,
    ThroughputRecord,
    Workload,
)
from runner.records.trial import (
    Artifact,
    ArtifactState,
    Invocation,
    InvocationKind,
    Limits,
    PublishedFigures,
    Serving,
    Source,
    TrialRecord,
)
from runner.records.upgrade import KINDS, parse_record
from runner.records.usage import CacheSemantics, SemanticsDecision, Usage
from runner.records.variable import VariableName, require_variable_name
from runner.records.warning import CODES, DataWarning

__all__ = [
    "CHANGED",
    "CODES",
    "CRITERIA",
    "GENESIS",
    "KINDS",
    "REFERENCE",
    "RULES",
    "AccountingReport",
    "AccountingRow",
    "Artifact",
    "ArtifactScore",
    "ArtifactState",
    "BaseRun",
    "BenchManifest",
    "BenchSummary",
    "BenchTrial",
    "CacheSemantics",
    "CellIdentity",
    "CheckPurpose",
    "CheckRecord",
    "CheckStatus",
    "CorrectionRecord",
    "Cost",
    "CostBasis",
    "DataWarning",
    "Definition",
    "Deployment",
    "Fingerprint",
    "HarnessReference",
    "Hosting",
    "IntegrityFinding",
    "IntegrityRecord",
    "Invocation",
    "InvocationKind",
    "Judge",
    "JudgementAttempt",
    "JudgementRecord",
    "JudgementStatus",
    "LedgerEntry",
    "Level",
    "Limits",
    "LoadSession",
    "ModelName",
    "Outcome",
    "Part",
    "PlanRecord",
    "PlannedTrial",
    "ProofRecord",
    "ProviderReference",
    "PublishedFigures",
    "Quantiles",
    "Record",
    "Scanned",
    "SeenPart",
    "SemanticsDecision",
    "ServerWindow",
    "Serving",
    "SessionShape",
    "Severity",
    "Source",
    "Spread",
    "Standing",
    "SweepFindings",
    "TestOutcomes",
    "ThroughputRecord",
    "TrialIdentity",
    "TrialRecord",
    "Usage",
    "VariableName",
    "WindowGauge",
    "WindowHistogram",
    "Workload",
    "chain_value",
    "json_schemas",
    "parse_record",
    "require_variable_name",
    "sha256_of",
]
