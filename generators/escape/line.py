"""Markdown lines and front matter: text that a page's source file carries."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from generators.escape.characters import one_line
from generators.escape.html import text

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")

FrontMatterValue = str | bool | int | Mapping[str, bool | str]


def markdown_text(raw: str) -> str:
    """Text inside a line of Markdown: headings, paragraphs, table cells, link labels.

    Line breaks become blanks and every ASCII punctuation mark a character reference, so neither Markdown,
    HTML, attribute lists, templates, automatic links nor front matter can begin in it.
    """
    return _PUNCTUATION.sub(lambda match: f"&#{ord(match.group())};", one_line(raw))


def front_matter(values: Mapping[str, FrontMatterValue]) -> str:
    """The front matter block of a page, with the lines that enclose it.

    Strings are escaped for HTML, because the theme writes titles and descriptions into the page as they are,
    and quoted as JSON, which is YAML that has no surprises.
    """
    lines = [f"{key}: {_front_value(value)}" for key, value in values.items()]
    return "\n".join(["---", *lines, "---", ""])


def _front_value(value: FrontMatterValue) -> str:
    if isinstance(value, str):
        return json.dumps(str(text(one_line(value))))
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(key)}: {_front_value(entry)}" for key, entry in value.items())
        return "{" + inner + "}"
    return json.dumps(value)
