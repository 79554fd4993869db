"""Spans of time, in whole minutes of at least 0."""

import re

_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?")


def checked(minutes):
    if isinstance(minutes, bool) or not isinstance(minutes, int):
        raise TypeError("a span is a whole number of minutes")
    if minutes < 0:
        raise ValueError("a span cannot be negative")
    return minutes


def parse_span(text):
    match = _SPAN.fullmatch(text.strip())
    if not text.strip() or match is None:
        raise ValueError(f"no span: {text!r}")
    return int(match[1] or 0) * 60 + int(match[2] or 0)


def format_span(minutes):
    hours, rest = divmod(checked(minutes), 60)
    parts = [f"{hours}h" if hours else "", f"{rest}m" if rest or not hours else ""]
    return "".join(parts)


def add(left, right):
    return checked(left) + checked(right)


def subtract(left, right):
    return max(checked(left) - checked(right), 0)
