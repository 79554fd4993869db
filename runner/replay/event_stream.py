"""Event stream: the binary frames in which Amazon's services stream, each with two checksums."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping

CONTENT_TYPE = "application/vnd.amazon.eventstream"
TEXT = 7
"""Type of a header's value: a string with its length in two bytes."""
PRELUDE_BYTES, CHECKSUM_BYTES = 12, 4


def frame(kind: str, body: Mapping[str, object]) -> bytes:
    """One event: lengths and their checksum, three headers, the body as JSON, the checksum of it all."""
    headers = b"".join(
        _header(name, value)
        for name, value in (
            (":event-type", kind),
            (":content-type", "application/json"),
            (":message-type", "event"),
        )
    )
    payload = json.dumps(body, ensure_ascii=False).encode()
    size = PRELUDE_BYTES + len(headers) + len(payload) + CHECKSUM_BYTES
    prelude = struct.pack(">II", size, len(headers))
    checked = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return checked + struct.pack(">I", zlib.crc32(checked))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack(">B", len(key)) + key + struct.pack(">BH", TEXT, len(text)) + text
