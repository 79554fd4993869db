"""Rig: a trial whose agent did what a test says, ready to be scanned."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from runner.datasets import Task
from runner.integrity import Evidence, Ground, Scan, scan_trial
from runner.records import DataWarning, Limits, Severity, TrialRecord, sha256_of
from tests import examples

PROJECT, HOME = "/srv/project", "/home/someone"
SCRATCH = f"{PROJECT}/.artifacts/work/run-1/3"
GROUND = Ground(PROJECT, SCRATCH, HOME, (f"{PROJECT}/.harnesses", f"{HOME}/.venv"))


def task(**changes: object) -> Task:
    """A task of a repository called service."""
    fields: dict[str, object] = {
        "id": "fix-typo",
        "repo": "https://github.com/team/service.git",
        "ref": "v1",
        "complexity": "low",
        "problem_statement": "Fix it.",
        "problem_issue_url": "https://github.com/team/tracker/issues/7",
        "canary": "canary-0badcafe",
    }
    return Task.model_validate({**fields, **changes}, strict=False)


def event(**arguments: object) -> str:
    """A line of a stream that tells of a call of a tool."""
    return json.dumps({"type": "tool_use", "name": arguments.pop("tool", "bash"), "input": arguments})


def scan(
    folder: Path,
    lines: Sequence[str] = (),
    *,
    isolation: str | None = "none",
    patch: bytes | None = b"",
    reference: bytes | None = None,
    given: Task | None = None,
    warnings: Sequence[DataWarning] = (),
    planned: Limits | None = None,
) -> Scan:
    """What a scan finds in a trial with one event stream."""
    data = "".join(f"{line}\n" for line in lines).encode()
    digest = sha256_of(data)
    (folder / f"{digest}.jsonl.gz").write_bytes(gzip.compress(data))
    record: TrialRecord = examples.trial()
    invocation = record.invocations[0].model_copy(update={"stream_sha256": digest})
    record = record.model_copy(
        update={"isolation": isolation, "invocations": (invocation,), "warnings": tuple(warnings)}
    )
    return scan_trial(
        Evidence(
            record=record,
            task=given or task(),
            ground=GROUND,
            patch=patch,
            reference=reference,
            streams=folder,
            trace=lambda _: None,
            planned=planned,
        )
    )


def worst(found: Scan) -> dict[str, Severity]:
    """The worst severity of each rule."""
    by_rule: dict[str, Severity] = {}
    for each in found.findings:
        if by_rule.get(each.rule) is not Severity.VOID:
            by_rule[each.rule] = each.severity
    return by_rule
