"""LedgerEntry: one line of a ledger, chained to the line before it."""

from __future__ import annotations

import json

from pydantic import Field

from runner.records.base import Count, Part, Sha256, sha256_of

GENESIS = "0" * 64


class LedgerEntry(Part):
    """A file the store holds. ``chain`` covers this line and every line before it."""

    path: str = Field(description="below the store's root, with forward slashes")
    sha256: Sha256
    size_bytes: Count
    chain: Sha256

    @classmethod
    def following(cls, previous_chain: str, path: str, data: bytes) -> LedgerEntry:
        """The entry for ``data`` at ``path`` after a line whose chain is ``previous_chain``."""
        digest = sha256_of(data)
        return cls(
            path=path,
            sha256=digest,
            size_bytes=len(data),
            chain=chain_value(previous_chain, path, digest, len(data)),
        )

    def to_line(self) -> str:
        """One JSON line without the newline."""
        return self.model_dump_json()


def chain_value(previous_chain: str, path: str, sha256: str, size_bytes: int) -> str:
    """SHA-256 over the previous chain value and this line's content (a hash chain)."""
    content = json.dumps([previous_chain, path, sha256, size_bytes], separators=(",", ":"))
    return sha256_of(content.encode())
