"""Scanner: finds secrets by value, by pattern and by entropy, and masks them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from runner.errors import ConfigurationError
from runner.secrets.broken import broken_values
from runner.secrets.entropy import random_tokens
from runner.secrets.known import spellings
from runner.secrets.patterns import KINDS, is_placeholder

MASK = "<secret>"
CHUNK = 4 * 1024 * 1024
OVERLAP = 32 * 1024
"""Longest secret that a cut between two chunks of a stream cannot hide."""
HIGH_ENTROPY = "high-entropy"
ALLOWED_LINE = re.compile(r"([0-9a-f]{64})(?:\s.*)?")


@dataclass(frozen=True, order=True)
class Hit:
    """Where a secret was found. The value itself is never kept, only its digest, to allow it by."""

    start: int
    end: int
    kind: str
    digest: str
    """SHA-256 of the value; empty for a known secret, which nothing can allow."""

    def line(self) -> str:
        """The hit in words, without the value."""
        allow = f", allowed by {self.digest}" if self.digest else ""
        return f"{self.kind} at byte {self.start}, {self.end - self.start} bytes long{allow}"


class Scanner:
    """Knows which values must not be written and what credentials look like.

    Args:
        known: secrets of this machine by a name to report them under; found in every spelling.
        allowed: SHA-256 digests of values that look like secrets and are none.
    """

    def __init__(self, known: Mapping[str, str] | None = None, *, allowed: Iterable[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._names = {
            spelling: name for name, value in (known or {}).items() for spelling in sorted(spellings(value))
        }
        self._count = len(known or {})

    def __repr__(self) -> str:
        return f"Scanner({self._count} known secrets)"

    def find(self, data: bytes) -> list[Hit]:
        """Every secret in ``data`` in the order of their places; overlapping ones are all listed."""
        return sorted({*self._known(data), *self._by_pattern(data), *self._by_entropy(data)})

    def mask_bytes(self, data: bytes) -> bytes:
        """``data`` with each secret replaced by ``MASK``; everything else stays byte for byte."""
        return _masked(data, self.find(data))

    def mask(self, text: str) -> str:
        """``text`` with each secret replaced by ``MASK``."""
        return self.mask_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def mask_stream(self, source: BinaryIO, target: BinaryIO) -> int:
        """Copy ``source`` to ``target`` masked, with bounded memory; returns how many secrets it held."""
        held, count = b"", 0
        while True:
            chunk = source.read(CHUNK)
            data = held + chunk
            hits = self.find(data)
            cut = len(data) if not chunk else _safe_cut(data, hits)
            inside = [hit for hit in hits if hit.end <= cut]
            count += len({(hit.start, hit.end) for hit in inside})
            target.write(_masked(data[:cut], inside))
            held = data[cut:]
            if not chunk:
                return count

    def _known(self, data: bytes) -> Iterator[Hit]:
        for spelling, name in self._names.items():
            at = data.find(spelling)
            while at >= 0:
                yield Hit(at, at + len(spelling), f"known secret {name}", "")
                at = data.find(spelling, at + len(spelling))
        for spelling, start, end in broken_values(data, self._names) if self._names else ():
            yield Hit(start, end, f"known secret {self._names[spelling]}", "")

    def _by_pattern(self, data: bytes) -> Iterator[Hit]:
        lowered = data.lower()
        for kind in KINDS:
            for match in kind.matches(data, lowered):
                value = match.group(1)
                if not is_placeholder(kind, value) and (digest := self._unless_allowed(value)):
                    yield Hit(match.start(1), match.end(1), kind.name, digest)

    def _by_entropy(self, data: bytes) -> Iterator[Hit]:
        for start, end in random_tokens(data):
            if digest := self._unless_allowed(data[start:end]):
                yield Hit(start, end, HIGH_ENTROPY, digest)

    def _unless_allowed(self, value: bytes) -> str | None:
        digest = hashlib.sha256(value).hexdigest()
        return None if digest in self._allowed else digest


def read_allowed(path: Path) -> frozenset[str]:
    """Digests from a file of one SHA-256 a line, each with an optional note after it; no file is none.

    Raises:
        ConfigurationError: a line is something else; all such lines are named.
    """
    if not path.is_file():
        return frozenset()
    digests, faults = set(), []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        text = line.strip()
        if match := ALLOWED_LINE.fullmatch(text):
            digests.add(match.group(1))
        elif text and not text.startswith("#"):
            faults.append(str(number))
    if faults:
        raise ConfigurationError(
            f"lines {', '.join(faults)} do not begin with a SHA-256 digest",
            where=path.name,
            remedy="give the digest of the value that is no secret, never the value",
        )
    return frozenset(digests)


def _masked(data: bytes, hits: list[Hit]) -> bytes:
    parts, at = [], 0
    for start, end in _merged(hits):
        parts += [data[at:start], MASK.encode()]
        at = end
    return b"".join([*parts, data[at:]])


def _merged(hits: list[Hit]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for hit in sorted(hits):
        if merged and hit.start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], hit.end))
        else:
            merged.append((hit.start, hit.end))
    return merged


def _safe_cut(data: bytes, hits: list[Hit]) -> int:
    """Where ``data`` may be written up to: the rest waits, as a secret may go on in the next chunk."""
    cut = max(0, len(data) - OVERLAP)
    newline = data.rfind(b"\n", max(0, cut - OVERLAP), cut)
    cut = newline + 1 if newline >= 0 else cut
    for start, end in reversed(_merged(hits)):
        if start < cut < end:
            cut = start
    return cut
