"""Credential: swaps the key that an agent was given for the real one, and hides the real one again."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote

Header = tuple[bytes, bytes]

KEY_HEADERS = frozenset({b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key"})
KEY_PARAMETER = "key"
SHORTEST_HIDDEN = 8


def dummy_key() -> str:
    """A key for one trial: long and distinctive, because some agents blank out its text in their output."""
    return f"sk-harnessmark-dummy-{secrets.token_hex(24)}"


def with_real_key(
    headers: Sequence[Header], query: str, *, dummy: str, real: str
) -> tuple[list[Header], str] | None:
    """Headers and query with the real key where the dummy was; None when the dummy is nowhere.

    A credential that is not the dummy is left out. An empty ``real`` key leaves all of them out.
    """
    found = False
    kept: list[Header] = []
    for name, value in headers:
        if name.lower() not in KEY_HEADERS:
            kept.append((name, value))
            continue
        scheme, _, token = value.decode("latin-1").strip().rpartition(" ")
        if not secrets.compare_digest(token.encode(), dummy.encode()):
            continue
        found = True
        if real:
            kept.append((name, f"{scheme} {real}".strip().encode("latin-1", "replace")))
    parts: list[str] = []
    for part in filter(None, query.split("&")):
        [(name_, value_)] = parse_qsl(part, keep_blank_values=True) or [("", "")]
        if name_ != KEY_PARAMETER:
            parts.append(part)
        elif secrets.compare_digest(value_.encode(), dummy.encode()):
            found = True
            parts += [f"{KEY_PARAMETER}={quote(real, safe='')}"] if real else []
    return (kept, "&".join(parts)) if found else None


class Veil:
    """Blanks a key out of a stream of bytes that may split it anywhere; lengths stay as they are.

    Bytes are held back only while they may be the beginning of the key.
    """

    def __init__(self, key: str) -> None:
        self._key = key.encode() if len(key) >= SHORTEST_HIDDEN else b""
        self._held = b""

    def through(self, data: bytes) -> bytes:
        """``data``, with what was held back before it, without the key."""
        if not self._key:
            return data
        data = (self._held + data).replace(self._key, b"*" * len(self._key))
        size = next(
            (n for n in range(min(len(self._key) - 1, len(data)), 0, -1) if data.endswith(self._key[:n])), 0
        )
        self._held = data[len(data) - size :]
        return data[: len(data) - size]

    def rest(self) -> bytes:
        """What is still held back at the end of the stream."""
        held, self._held = self._held, b""
        return held
