"""Spreadsheet text: what a text of a CSV file must look like so that no spreadsheet computes it."""

from __future__ import annotations

import re

MARK = "'"

# Spreadsheets look past blanks and control characters, and read the wide forms of the four signs as well.
_COMPUTED = re.compile("[\\s\x00-\x20\x7f-\xa0\ufeff\u200b]*[=+\\-@\uff1d\uff0b\uff0d\uff20']|[\t\r\n]")


def spreadsheet_text(raw: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula.

    That is: where it begins with ``=``, ``+``, ``-``, ``@`` (or their wide forms), blanks before them
    ignored, with a tab or a line break. A text that begins with an apostrophe gets another one, so that
    taking one away always gives the text back.
    """
    return MARK + raw if _COMPUTED.match(raw) else raw
