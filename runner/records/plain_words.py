"""Plain words: what the validation library found, as a user reads it; the one place that translates it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

WHOLE, NUMBER, TRUTH = "must be a whole number", "must be a number", "must be true or false"
LIST, KEYS = "must be a list", "must hold keys and values"
DAY, MOMENT = "must be a day, as in 2026-11-30", "must be a moment, as in 2026-11-30T12:00:00Z"
DURATION = "must be a time span"
WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is no key here",
    "string_type": "must be text",
    "string_unicode": "holds half a character (a lone surrogate); write the character itself",
    "string_pattern_mismatch": "has a form that is not allowed here",
    "string_sub_type": "must be text",
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_parsing_size": "is too large a number",
    "int_from_float": WHOLE,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": NUMBER,
    "decimal_type": NUMBER,
    "decimal_parsing": NUMBER,
    "bool_type": TRUTH,
    "bool_parsing": TRUTH,
    "list_type": LIST,
    "tuple_type": LIST,
    "set_type": LIST,
    "frozen_set_type": LIST,
    "iterable_type": LIST,
    "dict_type": KEYS,
    "mapping_type": KEYS,
    "model_type": KEYS,
    "model_attributes_type": KEYS,
    "none_required": "must be empty",
    "date_type": DAY,
    "date_parsing": DAY,
    "date_from_datetime_parsing": DAY,
    "date_from_datetime_inexact": DAY,
    "datetime_type": MOMENT,
    "datetime_parsing": MOMENT,
    "datetime_from_date_parsing": MOMENT,
    "timezone_aware": f"{MOMENT}, with its time zone",
    "time_delta_type": DURATION,
    "time_delta_parsing": DURATION,
    "union_tag_not_found": "does not say of which kind it is",
}
BOUNDED: Mapping[str, tuple[str, str]] = {
    "greater_than": ("gt", "must be greater than {}"),
    "greater_than_equal": ("ge", "must be {} or more"),
    "less_than": ("lt", "must be less than {}"),
    "less_than_equal": ("le", "must be {} or less"),
    "string_too_long": ("max_length", "is longer than {} characters"),
    "too_long": ("max_length", "has more than {} items"),
    "literal_error": ("expected", "must be {}"),
    "enum": ("expected", "must be {}"),
}
"""What the library tells of a bound, and what is said of it."""
OWN = frozenset({"value_error", "assertion_error"})
"""Words of the project's own checks, behind a word of the library's."""


def plain_faults(error: ValidationError, *, whole: str) -> list[str]:
    """Each fault as ``key.key: what is wrong``; ``whole`` names a document that is wrong as a whole."""
    return [
        f"{'.'.join(map(str, detail['loc'])) or whole}: {in_plain_words(detail)}" for detail in error.errors()
    ]


def in_plain_words(detail: ErrorDetails) -> str:
    """What is wrong with the value at ``detail["loc"]``, after its name; the value is not shown."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in OWN:
        return detail["msg"].partition(", ")[2] or detail["msg"]
    if kind in COUNTED:
        return COUNTED[kind](int(context.get("min_length", 1)))
    if kind == "union_tag_invalid":
        return f"is of the kind {context['tag']!r}; known: {context['expected_tags']}"
    if kind in BOUNDED and BOUNDED[kind][0] in context:
        name, words = BOUNDED[kind]
        return words.format(_figure(context[name]))
    return WORDS.get(kind) or _lowered(re.sub(r"^(Input|Value) should be ", "must be ", detail["msg"]))


def _too_short(least: int) -> str:
    return "must not be empty" if least == 1 else f"is shorter than {least} characters"


def _too_few(least: int) -> str:
    return f"needs at least {'one item' if least == 1 else f'{least} items'}"


COUNTED: Mapping[str, Callable[[int], str]] = {"string_too_short": _too_short, "too_short": _too_few}


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{int(value):,}" if value.is_integer() else f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
