"""Trial integrity: what the newest scan of a trial found, why it is void, how it was corrected."""

from __future__ import annotations

import json

from generators.pages import words
from generators.pages.table import Column, Entry, Table, table
from generators.tables.facts import TrialFacts
from generators.tables.scoring import VOID
from runner.records import RULES, CheckRecord, IntegrityFinding, Severity, TestOutcomes
from runner.records.nouns import counted

WEIGHT = {
    Severity.VOID: "voids the trial",
    Severity.NOTE: "a note: may be harmless, changes no figure",
}


def void_reasons(trial: TrialFacts) -> list[str]:
    """Why the trial is void, in the words of the corrections that made it so; empty where it is not."""
    if trial.record.outcome not in VOID:
        return []
    return [each.reason for each in trial.stored.corrections if each.field == "outcome"]


def scan_summary(trial: TrialFacts) -> str:
    """What the newest scan had to look at, a sentence; empty where there was none."""
    if not trial.stored.scans:
        return ""
    scan = trial.stored.scans[-1]
    seen = scan.scanned
    parts = [f"{seen.streams} event streams with {seen.actions:,} commands and tool calls"]
    parts += [f"{seen.streams_missing} more are not kept"] if seen.streams_missing else []
    parts.append("no patch" if seen.patch_bytes is None else f"a patch of {seen.patch_bytes:,} bytes")
    found = "nothing was found" if not scan.findings else counted(len(scan.findings), "finding")
    alike = seen.similarity
    likeness = (
        "" if alike is None else f" {alike:.0%} of the changed lines are those of the reference solution."
    )
    when = words.moment(scan.scanned_at)
    head = f"Scan {scan.number}, by version {scan.rules_version} of the rules, on {when}"
    return f"{head}: {', '.join(parts)}; {found}.{likeness}"


def finding_table(trial: TrialFacts) -> Table | None:
    """One row for each finding of the newest scan; None where it found nothing."""
    findings = trial.stored.scans[-1].findings if trial.stored.scans else ()
    if not findings:
        return None
    rows = [
        [
            Entry(each.rule, note=RULES[each.rule]),
            Entry(WEIGHT[each.severity]),
            Entry(each.text, note=_where(each)),
            Entry(each.evidence, code=True) if each.evidence else Entry("none", unknown=True),
        ]
        for each in findings
    ]
    return table(
        "Findings of the newest scan",
        [
            Column("Rule", wide=True),
            Column("Weight"),
            Column("Finding", wide=True),
            Column("Evidence", wide=True),
        ],
        rows,
        sortable=False,
        marked=[each.severity is Severity.VOID for each in findings],
    )


def correction_table(trial: TrialFacts) -> Table | None:
    """One row for each correction of the record; None where there is none."""
    rows = [
        [
            Entry(each.field, code=True),
            Entry(json.dumps(each.old_value), code=True),
            Entry(json.dumps(each.new_value), code=True),
            Entry(each.reason),
            Entry(words.moment(each.corrected_at)),
        ]
        for each in trial.stored.corrections
    ]
    if not rows:
        return None
    columns = [Column("Field"), Column("Was"), Column("Is"), Column("Why", wide=True), Column("When")]
    return table("Corrections of this record", columns, rows, sortable=False)


def tests_of(check: CheckRecord) -> tuple[str, str] | None:
    """How many tests passed and failed, and their names; None where the check tells none."""
    if check.tests is None:
        return None
    lines = _names(check.tests, "")
    if check.base is not None and check.base.tests is not None:
        lines += _names(check.base.tests, "before the patch, ")
    return counted_tests(check.tests), "\n".join(lines)


def counted_tests(tests: TestOutcomes) -> str:
    """``12 passed, 1 failed``: numbers of the tests that are listed, and of those that are not."""
    parts = [f"{len(tests.passed):,} passed", f"{len(tests.failed):,} failed"]
    parts += [f"{len(tests.skipped):,} skipped"] if tests.skipped else []
    parts += [f"{tests.left_out:,} not listed"] if tests.left_out else []
    return ", ".join(parts)


def _names(tests: TestOutcomes, when: str) -> list[str]:
    kinds = (("failed", tests.failed), ("passed", tests.passed), ("skipped", tests.skipped))
    return [f"{when}{kind}: {name}" for kind, names in kinds for name in names]


def _where(finding: IntegrityFinding) -> str:
    parts = [f"invocation {finding.invocation}"] if finding.invocation else []
    parts += [f"line {finding.line} of the event stream"] if finding.line else []
    parts += [finding.path] if finding.path else []
    return ", ".join(parts)
