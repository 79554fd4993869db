"""Spans: a helper is added, exported, used elsewhere and written up."""

from __future__ import annotations

from runner.endpoint.suites.coding.task import Check, CodingTask

README = """\
# clock

Spans of time in whole minutes.

- `parse_span("1h30m")` reads a span.
- `format_span(90)` writes one.
- `add(left, right)` adds two.
- `remaining(plan, spent)` says what is left of a plan.
"""
INIT = """\
from clock.planner import remaining
from clock.spans import add, format_span, parse_span

__all__ = ["add", "format_span", "parse_span", "remaining"]
"""
SPANS = '''\
"""Spans of time, in whole minutes of at least 0."""

import re

_SPAN = re.compile(r"(?:(\\d+)h)?(?:(\\d+)m)?")


def checked(minutes):
    """``minutes``, if that is a span."""
    if isinstance(minutes, bool) or not isinstance(minutes, int):
        raise TypeError("a span is a whole number of minutes")
    if minutes < 0:
        raise ValueError("a span cannot be negative")
    return minutes


def parse_span(text):
    """Minutes of a text such as 2h, 45m or 1h30m."""
    match = _SPAN.fullmatch(text.strip())
    if not text.strip() or match is None:
        raise ValueError(f"no span: {text!r}")
    return int(match[1] or 0) * 60 + int(match[2] or 0)


def format_span(minutes):
    """A span as text; 0 is 0m."""
    hours, rest = divmod(checked(minutes), 60)
    parts = [f"{hours}h" if hours else "", f"{rest}m" if rest or not hours else ""]
    return "".join(parts)


def add(left, right):
    """The sum of two spans."""
    return checked(left) + checked(right)
'''
PLANNER = '''\
"""Plans: what is to be done and how long it may take."""

from clock.spans import parse_span


def remaining(plan, spent):
    """What is left of each item of ``plan`` (name to text of a span) after ``spent`` (the same), in minutes.

    Items that are not in ``spent`` are left whole; names that are not in the plan are ignored.
    """
    return {
        name: parse_span(text) - parse_span(spent[name]) if name in spent else parse_span(text)
        for name, text in plan.items()
    }
'''
TESTS = """\
import unittest

import clock


class Spans(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(clock.parse_span("1h30m"), 90)

    def test_format(self):
        self.assertEqual(clock.format_span(60), "1h")

    def test_subtract(self):
        self.assertEqual(clock.subtract(90, 30), 60)

    def test_remaining(self):
        self.assertEqual(clock.remaining({"tea": "20m"}, {"tea": "5m"}), {"tea": 15})


if __name__ == "__main__":
    unittest.main()
"""
CHECKS = (
    Check(
        "it is exported",
        "import clock\nresult = ['subtract' in clock.__all__, callable(clock.subtract)]",
        [True, True],
    ),
    Check(
        "both names are one function",
        "import clock\nfrom clock import spans\nresult = clock.subtract is spans.subtract",
        True,
    ),
    Check(
        "it subtracts",
        "from clock import subtract\nresult = [subtract(100, 1), subtract(7, 7), subtract(5, 0)]",
        [99, 0, 5],
    ),
    Check(
        "never below nothing",
        "from clock import subtract\nresult = [subtract(10, 45), subtract(0, 1)]",
        [0, 0],
    ),
    Check(
        "negative spans are refused on the left",
        "from clock import subtract\nsubtract(-1, 0)",
        raises="ValueError",
    ),
    Check("and on the right", "from clock import subtract\nsubtract(1, -5)", raises="ValueError"),
    Check("no fractions", "from clock import subtract\nsubtract(1.5, 1)", raises="TypeError"),
    Check(
        "plans that were overrun have nothing left",
        "from clock import remaining\nresult = remaining({'soup': '1h', 'bread': '2h5m'}, {'soup': "
        "'1h20m', 'cake': '3h'})",
        {"soup": 0, "bread": 125},
    ),
    Check(
        "what worked still works",
        "from clock import add, format_span, parse_span\n"
        "result = [add(1, 2), format_span(0), format_span(61), parse_span('45m'), parse_span('3h')]",
        [3, "0m", "1h1m", 45, 180],
    ),
)
TASK = CodingTask(
    identifier="agentic_feature_small",
    title="Subtracting spans",
    difficulty="easy",
    files={
        "README.md": README,
        "clock/__init__.py": INIT,
        "clock/spans.py": SPANS,
        "clock/planner.py": PLANNER,
        "tests/test_spans.py": TESTS,
    },
    request=(
        "Add a function subtract(left, right) to the module of spans. It takes two spans, checks them like "
        "add does, and returns their difference, but never less than 0. Export it from the package clock "
        "as well, let remaining use it so that an item that took longer than planned has 0 left, and name "
        "it in the list of the README like the others, as `subtract(left, right)`."
    ),
    checks=CHECKS,
    kept_texts=(("README.md", "`subtract(left, right)`"),),
)
