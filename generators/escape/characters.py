"""Characters that no page may carry as they are: control codes, direction overrides, broken surrogates."""

from __future__ import annotations

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_CONTROL_PICTURES = 0x2400
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Direction overrides reorder what a reader sees; tag characters, C1 codes and noncharacters show nothing
# at all; lone surrogates cannot be written as UTF-8.
_UNSEEN = re.compile(
    "[\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_BREAK = re.compile("\r\n?|[\u2028\u2029]")


def visible(raw: str) -> str:
    """The same text with unprintable characters shown as symbols and every line break as ``\\n``.

    Control codes become their Unicode control pictures (NUL is shown as ␀, ESC as ␛); direction overrides,
    tag characters and lone surrogates become the replacement character. Tabs and newlines stay.
    """
    broken_into_lines = _LINE_BREAK.sub("\n", raw)
    pictured = _CONTROL.sub(_picture, broken_into_lines)
    return _UNSEEN.sub(REPLACEMENT, pictured)


def one_line(raw: str) -> str:
    """Visible text with every run of white space as one blank."""
    return " ".join(visible(raw).split())


def shortened(raw: str, limit: int) -> str:
    """One line of at most `limit` characters; what was cut is marked by an ellipsis."""
    line = one_line(raw)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else chr(_CONTROL_PICTURES + code)
