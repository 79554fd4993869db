"""IFEval form rules: lists, sections, titles, brackets, JSON, and how an answer begins and ends."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runner.endpoint.suites.external.ifeval_text import Arguments, number_of, text_of
from runner.endpoint.suites.extraction import json_value

CHOICES = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_BULLET = re.compile(r"^[ \t]*(?:\*(?!\*)|-)[^\n]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,})[ \t]*$")
_HIGHLIGHT = re.compile(r"\*\*([^\n*]+)\*\*|\*([^\n*]+)\*")
_TITLE = re.compile(r"<<([^\n<>]+)>>")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]{1,500}\]")
_POSTSCRIPTS: Mapping[str, str] = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
TWO_MARK = "******"


def placeholder_count(text: str, arguments: Arguments) -> bool:
    """At least so many placeholders in square brackets."""
    return len(_PLACEHOLDER.findall(text)) >= number_of(arguments, "num_placeholders")


def postscript(text: str, arguments: Arguments) -> bool:
    """Something after the marker of a postscript, such as P.S."""
    marker = text_of(arguments, "postscript_marker").strip()
    pattern = _POSTSCRIPTS.get(marker, re.escape(marker.lower()))
    return re.search(rf"{pattern}\W*\w", text.lower()) is not None


def bullet_count(text: str, arguments: Arguments) -> bool:
    """Exactly so many lines that begin with a star or a dash; rules across the page are none."""
    bullets = [line for line in _BULLET.findall(text) if not _RULE.match(line)]
    return len(bullets) == number_of(arguments, "num_bullets")


def one_of_the_choices(text: str, _arguments: Arguments) -> bool:
    """One of three answers that the prompt names."""
    return any(choice in text for choice in CHOICES)


def highlight_count(text: str, arguments: Arguments) -> bool:
    """At least so many parts between stars, one or two on either side."""
    found = [one or two for two, one in _HIGHLIGHT.findall(text)]
    return sum(bool(part.strip()) for part in found) >= number_of(arguments, "num_highlights")


def section_count(text: str, arguments: Arguments) -> bool:
    """At least so many sections that begin with a word and a number, as in Section 1."""
    word = text_of(arguments, "section_spliter").strip()
    return len(re.findall(rf"\b{re.escape(word)}\s?\d+", text)) >= number_of(arguments, "num_sections")


def is_json(text: str, _arguments: Arguments) -> bool:
    """The whole answer is one JSON document, bare or in a code fence."""
    stripped = text.strip()
    if stripped.startswith("```") and not stripped.endswith("```"):
        return False
    if not stripped.startswith("```") and "```" in stripped and stripped[:1] not in '{["':
        return False
    return json_value(stripped)[0]


def title(text: str, _arguments: Arguments) -> bool:
    """A title in double angular brackets."""
    return any(found.strip() for found in _TITLE.findall(text))


def two_responses(text: str, _arguments: Arguments) -> bool:
    """Two different answers with six stars between them."""
    parts = [part.strip() for part in text.split(TWO_MARK)]
    if any(not part for part in parts[1:-1]):
        return False
    filled = [part for part in parts if part]
    return len(filled) == 2 and filled[0] != filled[1]


def repeats_prompt(text: str, arguments: Arguments) -> bool:
    """The request is repeated, word for word, before the answer."""
    wanted = text_of(arguments, "prompt_to_repeat").strip().lower()
    return text.strip().lower().startswith(wanted)


def end_phrase(text: str, arguments: Arguments) -> bool:
    """The answer ends with a phrase; quotes around the whole do not matter."""
    wanted = text_of(arguments, "end_phrase").strip().lower()
    return text.strip().strip('"').lower().endswith(wanted)


def quoted(text: str, _arguments: Arguments) -> bool:
    """The whole answer stands in double quotes."""
    stripped = text.strip()
    return len(stripped) > 1 and stripped[0] == stripped[-1] == '"'
