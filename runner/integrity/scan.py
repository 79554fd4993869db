"""Scan: everything that a trial left behind, looked through for help that its agent must not have."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.datasets import Task
from runner.integrity.actions import actions_of
from runner.integrity.edits import edits_of
from runner.integrity.ground import Ground
from runner.integrity.likeness import ALIKE, likeness, severity_of
from runner.integrity.reach import Barrier, reached
from runner.records import IntegrityFinding, Limits, Scanned, Severity, TrialRecord

RULES_VERSION = "1"
"""Raised whenever a rule changes what it finds."""
MAX_FINDINGS = 100
MAX_STREAM_BYTES = 512 * 1024 * 1024
MAX_EVIDENCE = 300
NETWORK_OPEN = "network-open"
"""Warning of a trial whose agent had this machine's network."""
OVERTIME = 300.0
"""Seconds that ending an agent may take beyond its limit."""


@dataclass(frozen=True)
class Evidence:
    """What is looked through."""

    record: TrialRecord
    task: Task
    ground: Ground
    patch: bytes | None
    """None: it is not kept."""
    reference: bytes | None
    """The reference solution."""
    streams: Path
    """Folder of compressed event streams, by digest."""
    trace: Callable[[str], str | None] = lambda line: line
    """A line of the stream as its harness shows it."""
    mask: Callable[[str], str] = str
    """Takes secrets and folders of this machine out of what is quoted."""
    planned: Limits | None = None
    """What the plan set as limits; None where it does not tell for every trial."""


@dataclass(frozen=True)
class Scan:
    """What was found, and what there was to look at."""

    findings: tuple[IntegrityFinding, ...]
    scanned: Scanned
    left_out: int = 0


def scan_trial(evidence: Evidence) -> Scan:
    """Look through one trial.

    The rule of severity: ``void`` where the agent had, or could have had, what it must not have, or did what
    the dataset forbids in so many words; ``note`` where its isolation made that impossible, or where an
    innocent agent may have done the same.
    """
    found = _Found(evidence)
    found.look()
    findings = found.findings
    scanned = Scanned(
        streams=found.streams,
        streams_missing=found.missing,
        actions=found.actions,
        patch_bytes=None if evidence.patch is None else len(evidence.patch),
        similarity=found.similarity,
    )
    # What voids a trial is never what is left out.
    ordered = sorted(findings, key=lambda each: each.severity is not Severity.VOID)
    return Scan(tuple(ordered[:MAX_FINDINGS]), scanned, max(len(ordered) - MAX_FINDINGS, 0))


def lines_of(path: Path) -> Iterator[str]:
    """Lines of a compressed stream as far as it can be read."""
    taken = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as stream:
            for line in stream:
                taken += len(line)
                if taken > MAX_STREAM_BYTES:
                    return
                yield line
    except (OSError, EOFError, zlib.error):
        return


@dataclass
class _Found:
    evidence: Evidence
    streams: int = 0
    missing: int = 0
    actions: int = 0
    similarity: float | None = None
    findings: list[IntegrityFinding] = field(default_factory=list)
    _known: set[tuple[str, str, str]] = field(default_factory=set)

    def look(self) -> None:
        """Read every stream that is there, the patch and the limits."""
        for invocation in self.evidence.record.invocations:
            digest = invocation.stream_sha256
            path = None if digest is None else self.evidence.streams / f"{digest}.jsonl.gz"
            if digest is None or path is None or not path.is_file():
                self.missing += 1
                continue
            self.streams += 1
            self._stream(path, invocation.number, digest)
        if self.evidence.patch:
            self._patch(self.evidence.patch)
        self._limits()

    def _stream(self, path: Path, invocation: int, digest: str) -> None:
        evidence = self.evidence
        barrier, canary = _barrier(evidence.record), evidence.task.canary
        where = {"invocation": invocation, "stream_sha256": digest}
        said = "".join(_prompt(evidence.task).split())
        for action in actions_of(lines_of(path), evidence.trace):
            self.actions += 1
            if said and any("".join(each.split()) in said for each in action.commands if each.strip()):
                # Printed with the prompt: the words of the task, not of the agent.
                continue
            for each in reached(action, evidence.ground, evidence.task, barrier):
                words = _around(each.words, next((c for c in action.everything() if each.words in c), ""))
                self._add(each.rule, each.severity, each.text, words, line=action.line, **where)
        if canary:
            for number, line in enumerate(lines_of(path), 1):
                if canary in line:
                    text = "the dataset's mark was read or written by the agent"
                    self._add("canary", Severity.VOID, text, canary, line=number, **where)
                    break

    def _patch(self, patch: bytes) -> None:
        evidence = self.evidence
        for edit in edits_of(patch, evidence.task):
            self._add(edit.rule, edit.severity, edit.text, edit.words, path=edit.path[:300])
        if evidence.task.canary and evidence.task.canary.encode() in patch:
            text = "the dataset's mark stands in the patch"
            self._add("canary", Severity.VOID, text, evidence.task.canary)
        if evidence.reference is not None:
            self.similarity = likeness(patch, evidence.reference)
            if self.similarity is not None and self.similarity >= ALIKE:
                text = f"{self.similarity:.0%} of the changed lines are those of the reference solution"
                self._add("reference-copied", severity_of(self.similarity, evidence.reference), text)

    def _limits(self) -> None:
        record, planned = self.evidence.record, self.evidence.planned
        if planned is not None and record.limits != planned:
            text = "the record holds other limits than its plan"
            self._add("limits", Severity.VOID, text, f"{planned!r} became {record.limits!r}")
        limit = record.limits.timeout_seconds
        for each in record.invocations:
            if limit is not None and each.duration_seconds > limit + OVERTIME:
                text = f"it ran {each.duration_seconds:.0f} seconds, longer than its limit of {limit:.0f}"
                self._add("limits", Severity.NOTE, text, invocation=each.number)

    def _add(self, rule: str, severity: Severity, text: str, words: str = "", **where: object) -> None:
        """Keep a finding; the same words found again are one finding."""
        shown = self.evidence.mask(" ".join(words.split())[:MAX_EVIDENCE])[:600]
        known = (rule, text, shown)
        if known in self._known:
            return
        self._known.add(known)
        finding = {
            "rule": rule,
            "severity": severity,
            "text": self.evidence.mask(text)[:500],
            "evidence": shown,
        }
        self.findings.append(IntegrityFinding.model_validate({**finding, **where}))


def _barrier(record: TrialRecord) -> Barrier:
    """What kept the agent from things; an unknown isolation kept it from nothing."""
    confined = record.isolation in {"sandbox", "container"}
    return Barrier(confined, confined and all(each.code != NETWORK_OPEN for each in record.warnings))


def _prompt(task: Task) -> str:
    return f"{task.problem_statement or ''}\n{task.clarifying_answers or ''}"


def _around(words: str, whole: str) -> str:
    """``words`` with what stands around them."""
    place = whole.find(words)
    if place < 0 or len(whole) <= MAX_EVIDENCE:
        return whole if place >= 0 else words
    start = max(place - (MAX_EVIDENCE - min(len(words), MAX_EVIDENCE)) // 2, 0)
    return whole[start : start + MAX_EVIDENCE]
