# harnessmark-canary 15572e4a-5fd8-5834-a7f3-2c26616b1eee: benchmark data, not for training
"""Durations are added up in whole minutes, and one module turns them into text."""

import ast
import unittest
from pathlib import Path

from clockbook.entry import Entry
from clockbook.parser import parse
from clockbook.render import render_csv, render_entries, render_text
from clockbook.report import grand_total, totals


def sheet(*spans: str) -> list[Entry]:
    """The entries of one day, one for each span such as ``09:00-09:20``."""
    return parse("2026-03-02\n" + "".join(f"{span} office\n" for span in spans))


class WholeMinutes(unittest.TestCase):
    """Sums and the texts made of them."""

    def test_three_times_twenty_minutes_are_an_hour(self) -> None:
        entries = sheet("09:00-09:20", "10:00-10:20", "11:00-11:20")
        self.assertEqual(totals(entries), {"office": 60})
        self.assertEqual(grand_total(entries), 60)
        self.assertEqual(render_text(totals(entries), grand_total(entries)), "office  1:00\ntotal   1:00\n")

    def test_totals_are_integers(self) -> None:
        entries = sheet("09:00-09:01")
        self.assertIs(type(totals(entries)["office"]), int)
        self.assertIs(type(grand_total(entries)), int)
        self.assertEqual(grand_total([]), 0)

    def test_no_minute_is_lost_whatever_the_length(self) -> None:
        for minutes in range(1, 240):
            end = 8 * 60 + minutes
            entries = sheet(f"08:00-{end // 60:02d}:{end % 60:02d}")
            shown = f"{minutes // 60}:{minutes % 60:02d}"
            self.assertEqual(render_csv(totals(entries), "project"), f"project,time\noffice,{shown}\n")
            self.assertEqual(render_entries(entries), f"2026-03-02 {shown} office\n")

    def test_more_than_a_day_of_work(self) -> None:
        entries = sheet(*["00:00-23:59"] * 5)
        self.assertEqual(render_text(totals(entries), grand_total(entries)), "office  119:55\ntotal   119:55\n")


class OnePlace(unittest.TestCase):
    """How the source itself is written."""

    def test_only_the_duration_module_turns_minutes_into_text(self) -> None:
        for name in ("report", "render", "cli"):
            tree = ast.parse(Path(f"clockbook/{name}.py").read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                sixty = isinstance(node, ast.Constant) and node.value in {60, 60.0}
                self.assertFalse(sixty, f"{name}.py, line {getattr(node, 'lineno', 0)}: converts by itself")
                division = isinstance(node, ast.Div)
                self.assertFalse(division, f"{name}.py divides into fractions")
