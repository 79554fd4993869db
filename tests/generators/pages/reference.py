"""Reference data for tests of the pages that show it."""

from __future__ import annotations

from datetime import UTC, datetime

from runner.records import AccountingReport, AccountingRow, HarnessReference, ProviderReference

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TRUE = {"fresh": 4006, "read": 12000, "write": 1200, "output": 166, "reasoning": 20}


def accounting_row(harness: str, **changes: object) -> AccountingRow:
    """A run whose counts agree, with some fields changed."""
    values: dict[str, object] = {
        "harness": harness,
        "version": "1.6.0",
        "protocol": "messages",
        "case": "plain",
        "title": "Plain run",
        "requests": 4,
        "answered": 4,
        "turns": 4,
        "retries": 0,
        "stop_reason": "completed",
        "is_error": False,
        "warnings": (),
        "recorded": TRUE,
        "true": TRUE,
        "told_of_broken_answers": dict.fromkeys(TRUE, 0),
        "agrees": True,
        "explanation": "",
        "stand_in": False,
        "taken_on": NOON.date(),
    }
    return AccountingRow.model_validate({**values, **changes})


def report_of(*rows: AccountingRow) -> AccountingReport:
    """A report of these rows."""
    return AccountingReport(rows=rows)


def provider_reference(name: str, **changes: object) -> ProviderReference:
    """A hosting path, with some fields changed."""
    values: dict[str, object] = {
        "name": name,
        "summary": f"The {name} path.",
        "protocols": ("messages",),
        "flags": f"--provider {name}",
        "credentials": "none",
        "notes": ("It is near.",),
    }
    return ProviderReference.model_validate({**values, **changes})


def harness_reference(name: str, **changes: object) -> HarnessReference:
    """A harness from npm, with some fields changed."""
    values: dict[str, object] = {
        "name": name,
        "title": f"The {name} agent",
        "homepage": "https://example.org/agent",
        "source": "npm",
        "package": f"@vendor/{name}",
        "version": "1.6.0",
        "runtime": "node",
        "installation_note": "It is large.",
        "protocols": ("messages", "chat-completions"),
        "providers": ("anthropic", "replay"),
        "unusable_providers": {"kiro": "it speaks another language"},
        "delegates": False,
        "memory_mb": 1300,
        "turns_definition": "answers of the model",
        "cache_semantics": "disjoint",
        "notes": ("It says little.",),
    }
    return HarnessReference.model_validate({**values, **changes})
