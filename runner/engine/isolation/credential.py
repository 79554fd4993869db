"""Credential: swaps the key that an agent was given for the real one, and hides the real one again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, quote

from runner.secrets.known import spellings

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


def without_key(headers: Iterable[Header], key: str) -> list[Header]:
    """Headers of an answer with the key blanked out of their values; one named after it is left out."""
    spelled = _spelled(key)
    named = [each.lower() for each in spelled]
    kept = [pair for pair in headers if not any(each in pair[0].lower() for each in named)]
    return [(name, _blanked(value, spelled)) for name, value in kept]


def reason_without_key(reason: bytes, key: str) -> bytes:
    """The words beside the status of an answer, the key blanked out."""
    return _blanked(reason, _spelled(key))


def _spelled(key: str) -> list[bytes]:
    return sorted(spellings(key), key=len, reverse=True) if len(key) >= SHORTEST_HIDDEN else []


def _blanked(text: bytes, spelled: Iterable[bytes]) -> bytes:
    for each in spelled:
        text = text.replace(each, b"*" * len(each))
    return text


class Veil:
    """Blanks a key out of a stream of bytes that may split it anywhere; lengths stay as they are.

    Bytes are held back only while they may be the beginning of the key. Where the key reads otherwise in an
    address or inside JSON, that is blanked out too.
    """

    def __init__(self, key: str) -> None:
        written = {key, quote(key, safe=""), json.dumps(key)[1:-1]} if len(key) >= SHORTEST_HIDDEN else ()
        self._keys = sorted((each.encode() for each in written), key=len, reverse=True)
        self._held = b""

    def through(self, data: bytes) -> bytes:
        """``data``, with what was held back before it, without the key."""
        if not self._keys:
            return data
        data = _blanked(self._held + data, self._keys)
        size = max(_begun(data, key) for key in self._keys)
        self._held = data[len(data) - size :]
        return data[: len(data) - size]

    def rest(self) -> bytes:
        """What is still held back at the end of the stream."""
        held, self._held = self._held, b""
        return held


def _begun(data: bytes, key: bytes) -> int:
    """How many bytes at the end of ``data`` may be the beginning of ``key``."""
    return next((n for n in range(min(len(key) - 1, len(data)), 0, -1) if data.endswith(key[:n])), 0)
