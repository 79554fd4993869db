"""Markdown lines and front matter: text that a page's source file carries."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from generators.escape.characters import shortened
from generators.escape.html import text

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")

LINE_LIMIT = 1000

FrontMatterValue = str | bool | int | Mapping[str, bool | str]


def markdown_text(raw: str, limit: int = LINE_LIMIT) -> str:
    """Text inside a line of Markdown (heading, paragraph, table cell, link label), cut at `limit` characters.

    Line breaks become blanks and every ASCII punctuation mark a character reference, so neither Markdown,
    HTML, attribute lists, templates, automatic links nor front matter can begin in it.
    """
    return _PUNCTUATION.sub(lambda match: f"&#{ord(match.group())};", shortened(raw, limit))


def front_matter(values: Mapping[str, FrontMatterValue]) -> str:
    """The front matter block of a page, with the lines that enclose it.

    Strings are escaped for HTML, because the theme writes titles and descriptions into the page as they are,
    and quoted as JSON, which is YAML that has no surprises.
    """
    lines = [f"{key}: {_front_value(value)}" for key, value in values.items()]
    return "\n".join(["---", *lines, "---", ""])


def _front_value(value: FrontMatterValue) -> str:
    if isinstance(value, str):
        return json.dumps(str(text(shortened(value, LINE_LIMIT))), ensure_ascii=False)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(key)}: {_front_value(entry)}" for key, entry in value.items())
        return "{" + inner + "}"
    return json.dumps(value)
