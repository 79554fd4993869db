"""Hiding: text written so that a reader does not see it as what it is, while a model may."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from enum import StrEnum


class Hiding(StrEnum):
    """How a text is hidden."""

    TAGS = "tags"
    """As tag characters, which have no shape."""
    ZERO_WIDTH = "zero-width"
    """With a zero-width space after each letter."""
    ZERO_WIDTH_BITS = "zero-width-bits"
    """Each byte as eight zero-width characters."""
    BIDI = "bidi"
    """Turned round, behind a character that turns the display round again."""
    VARIATION_SELECTORS = "variation-selectors"
    """Each byte as a variation selector after one visible letter."""
    LOOKALIKES = "lookalikes"
    """With Cyrillic and Greek letters for Latin ones."""
    BASE64 = "base64"
    HEX = "hex"
    ESCAPES = "escapes"
    """As backslash escapes of a program text."""


OVERRIDE, END_OF_OVERRIDE = "\u202e", "\u202c"
ZERO_WIDTH_SPACE, ZERO, ONE = "\u200b", "\u200b", "\u200c"
TAG_BLOCK, TAG_END = 0xE0000, 0xE007F
SELECTORS, MORE_SELECTORS = 0xFE00, 0xE0100
LOOKALIKES = str.maketrans("aeopcxyiABEHOPCTX", "аеорсхуіАВЕНОРСТХ")


def hide(text: str, how: Hiding | None) -> str:
    """``text`` hidden in one of these ways; None leaves it as it is."""
    return text if how is None else WAYS[how](text)


def _tags(text: str) -> str:
    return "".join(chr(TAG_BLOCK + ord(each)) for each in text if 0x20 <= ord(each) < 0x7F) + chr(TAG_END)


def _zero_width(text: str) -> str:
    return ZERO_WIDTH_SPACE.join(text)


def _bits(text: str) -> str:
    return "".join(ONE if bit == "1" else ZERO for byte in text.encode() for bit in f"{byte:08b}")


def _bidi(text: str) -> str:
    return "\n".join(f"{OVERRIDE}{line[::-1]}{END_OF_OVERRIDE}" if line else "" for line in text.split("\n"))


def _selectors(text: str) -> str:
    codes = (SELECTORS + byte if byte < 16 else MORE_SELECTORS + byte - 16 for byte in text.encode())
    return "n" + "".join(map(chr, codes))


WAYS: Mapping[Hiding, Callable[[str], str]] = {
    Hiding.TAGS: _tags,
    Hiding.ZERO_WIDTH: _zero_width,
    Hiding.ZERO_WIDTH_BITS: _bits,
    Hiding.BIDI: _bidi,
    Hiding.VARIATION_SELECTORS: _selectors,
    Hiding.LOOKALIKES: lambda text: text.translate(LOOKALIKES),
    Hiding.BASE64: lambda text: base64.b64encode(text.encode()).decode(),
    Hiding.HEX: lambda text: text.encode().hex(),
    Hiding.ESCAPES: lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
}
