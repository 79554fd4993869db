"""Entropy: tokens that look drawn at random, and the many such tokens that are no secret."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

SHORTEST, LONGEST = 32, 128
"""Characters. What is longer is a file in base64, not a credential."""
LEAST_BITS = 4.2
LEAST_CHANGES = 0.42
"""Share of neighbours of different classes: 0.62 in random letters and digits, below 0.35 in names and paths.
A separator counts as no change."""

TOKEN = re.compile(rb"[A-Za-z0-9+/_-]{32,}={0,2}")
DIGEST_BEFORE = re.compile(
    rb"(?i:sha-?(?:1|224|256|384|512)|md5|h1|blake2b|integrity|digest|checksum|ssh-ed25519|ssh-rsa|nistp256)"
    rb"[\"'\\]{0,2}[-:=_ ]{0,3}[\"'\\]{0,2}\Z"
)
IDENTIFIER = re.compile(
    rb"(?:toolu|srvtoolu|msg|req|resp|call|chatcmpl|cmpl|fc|rs|item|gen|ws|run|thread|session|org|evt|batch)[_-]"
)
BINARY_PATCH = re.compile(
    rb"^GIT binary patch\r?\n(?:[^\r\n]+\r?\n|\r?\n(?=(?:literal|delta) ))+", re.MULTILINE
)
BLOCK_LINE_BEFORE = re.compile(rb"[A-Za-z0-9+/=]{40}[\"',\\]{0,4}(?:\n|\\n|\r\n|\\r\\n)[ +\-\"']{0,12}\Z")
BLOCK_LINE_AFTER = re.compile(rb"[\"',\\]{0,4}(?:\n|\\n|\r\n|\\r\\n)[ +\-\"']{0,12}[A-Za-z0-9+/=]{16}")


def shannon_bits(value: bytes) -> float:
    """Shannon entropy of the bytes of ``value`` in bits per byte; 0 for nothing."""
    counts, length = Counter(value), len(value)
    return -sum(count / length * math.log2(count / length) for count in counts.values())


def random_tokens(data: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each token in ``data`` that looks like a credential drawn at random.

    No secret: pure hexadecimal (digests, commits, UUIDs), what is named a digest or a public key, ids that
    model servers give to answers and tool calls, encoded files over several lines, and binary patches.
    """
    binary = [match.span() for match in BINARY_PATCH.finditer(data)] if b"GIT binary patch" in data else []
    for match in TOKEN.finditer(data):
        start, end = match.span()
        # The first letter of a token after a backslash is that of an escaped line break.
        start += data[start - 1 : start] == b"\\"
        token = data[start:end]
        if len(token) > LONGEST or not _looks_random(token.rstrip(b"=")):
            continue
        if IDENTIFIER.match(token) or any(low <= start < high for low, high in binary):
            continue
        if DIGEST_BEFORE.search(data[max(0, start - 24) : start]) or _digest_inside(token):
            continue
        if not _line_of_a_block(data, start, end):
            yield start, end


def _looks_random(token: bytes) -> bool:
    classes = bytes(_class(each) for each in token)
    if not {0, 1, 2} <= set(classes) or len(token) < SHORTEST:
        return False
    pairs = [pair for pair in pairwise(classes) if 3 not in pair]
    changes = sum(first != second for first, second in pairs)
    return changes >= LEAST_CHANGES * len(pairs) and shannon_bits(token) >= LEAST_BITS


def _class(byte: int) -> int:
    if 48 <= byte <= 57:
        return 0
    if 65 <= byte <= 90:
        return 1
    return 2 if 97 <= byte <= 122 else 3


def _digest_inside(token: bytes) -> bool:
    """``sha512-...`` is one token, because its hyphen is in the alphabet of base64 for addresses."""
    name, _, rest = token.partition(b"-")
    return name.lower() in {b"sha1", b"sha256", b"sha384", b"sha512"} and len(rest) >= 27


def _line_of_a_block(data: bytes, start: int, end: int) -> bool:
    """Whether another such line comes before or after the token: a file in base64, over several lines."""
    before, after = data[max(0, start - 80) : start], data[end : end + 80]
    return BLOCK_LINE_BEFORE.search(before) is not None or BLOCK_LINE_AFTER.match(after) is not None
