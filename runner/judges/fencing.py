"""Fencing: untrusted text between marks that it cannot contain, with nothing hidden in it."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

HIDDEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
"""Unicode categories whose characters nobody sees, or that change what is seen."""
SELECTORS = ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF), (0x180B, 0x180F), (0x115F, 0x1160), (0x3164, 0x3164))
"""Invisible characters of other categories that can carry text."""
NONCE_BYTES = 12


def new_nonce() -> str:
    """A word that nobody who wrote a submission can have known."""
    return secrets.token_hex(NONCE_BYTES)


def visible(text: str) -> str:
    """``text`` with every hidden character written out, as in ``<U+200B>``; ends of lines and tabs stay."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(f"<U+{ord(each):04X}>" if _is_hidden(each) else each for each in text)


def _is_hidden(character: str) -> bool:
    if character in "\n\t":
        return False
    code = ord(character)
    return unicodedata.category(character) in HIDDEN or any(
        first <= code <= last for first, last in SELECTORS
    )


def shown(text: str, limit: int) -> tuple[str, int]:
    """``text`` made visible and at most ``limit`` characters long, and how many characters are left out.

    What is cut ends with a mark that says how much is missing.
    """
    seen = visible(text[:limit])
    left_out = len(text[limit:]) + len(seen[limit:])
    if not left_out:
        return seen, 0
    mark = f"[cut here by whoever prepared this review: {left_out} characters are not shown]"
    return f"{seen[:limit]}\n{mark}", left_out


@dataclass(frozen=True)
class Fence:
    """Marks around untrusted text, with a word in them that no such text contains."""

    nonce: str

    def around(self, name: str, text: str) -> str:
        """``text`` between its marks."""
        return f"<<<BEGIN {name} {self.nonce}>>>\n{text}\n<<<END {name} {self.nonce}>>>"


def fence_for(texts: Iterable[str], nonce: Callable[[], str] = new_nonce) -> Fence:
    """A fence whose word stands in none of ``texts``."""
    held = list(texts)
    while True:
        word = nonce()
        if not any(word in text for text in held):
            return Fence(word)
