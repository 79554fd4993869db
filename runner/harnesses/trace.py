"""Trace: short, harmless lines for a reader who watches a run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

HARMFUL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
"""Control characters, line separators, and marks that are invisible or turn the direction of text."""
MAX_PART = 2000


def plain(value: object) -> str:
    """``value`` on one line without control characters; what is no text is shown as JSON."""
    shown = (
        value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    )
    return HARMFUL.sub(" ", shown[:MAX_PART]).strip()


def tool_line(name: object, arguments: object) -> str:
    """One tool call: its name and the arguments that tell most."""
    return f"  {plain(name)} {_told(arguments)}".rstrip()


def _told(arguments: object) -> str:
    if isinstance(arguments, Mapping):
        for name in ("command", "cmd", "file_path", "path", "pattern", "prompt"):
            if arguments.get(name):
                return plain(arguments[name])
    return plain(arguments)
