"""JSON Schemas of every record, generated from the types and published on the site."""

from __future__ import annotations

from typing import Any

from runner.records.ledger import LedgerEntry
from runner.records.upgrade import KINDS


def json_schemas() -> dict[str, dict[str, Any]]:
    """Schema by file stem, such as ``trial-1``; the number is the record's version."""
    schemas: dict[str, dict[str, Any]] = {}
    for kind, record in sorted(KINDS.items()):
        schemas[f"{kind}-{record.VERSION}"] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **record.model_json_schema(mode="serialization"),
        }
    schemas["ledger-entry-1"] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **LedgerEntry.model_json_schema(mode="serialization"),
    }
    return schemas
