"""HTML, script and hover text: escaping for the places where a browser or Plotly reads markup."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from generators.escape.characters import shortened, visible

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

_SCRIPT_ENDS = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_HOVER_LIMIT = 300


def text(raw: str | Markup) -> Markup:
    """Text between HTML tags, on one line: a newline is written as a character reference.

    A `Markup` is text that was made safe before and passes unchanged.
    """
    if isinstance(raw, Markup):
        return raw
    return Markup(str(escape(visible(raw))).replace("\n", "&#10;").replace("\t", "&#9;"))  # noqa: S704


def attribute(raw: str) -> Markup:
    """The value of an HTML attribute that stands in quotes (the caller writes the quotes).

    Unlike `text` it escapes a `Markup` again: markup has no place in an attribute.
    """
    return Markup(str(text(str(raw))).replace("`", "&#96;"))  # noqa: S704


def json_file(value: Json) -> str:
    """JSON for a file of its own: one line, deterministic. Raises ValueError for NaN and infinities."""
    dumped = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", dumped) + "\n"


def json_script(value: Json) -> Markup:
    """JSON that is safe inside a script element and as a file of its own.

    ``<``, ``>``, ``&``, U+2028, U+2029 and lone surrogates are written as ``\\uXXXX``, so the text can
    neither end the element nor open a comment. Raises ValueError for NaN and infinities.
    """
    dumped = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_SCRIPT_ENDS.sub(lambda match: f"\\u{ord(match.group()):04x}", dumped))  # noqa: S704


def plotly_text(raw: str, limit: int = _HOVER_LIMIT) -> str:
    """Text inside Plotly labels and hover boxes, where ``<b>``, ``<a href>`` and more are interpreted.

    Plotly splits at tags first and decodes character references afterwards, so escaped text is shown
    literally. ``%{`` would be a template field and is broken apart by a reference as well.
    """
    return str(escape(shortened(raw, limit))).replace("%{", "&#37;{")
