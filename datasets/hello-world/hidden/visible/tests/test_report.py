import unittest
from datetime import date

from clockbook.parser import parse
from clockbook.render import render_csv, render_entries, render_text
from clockbook.report import grand_total, totals
from clockbook.selection import select

SHEET = """\
2026-03-02
09:00-10:30 harbour: crane driver #billable
10:30-12:00 office: mail
2026-03-03
08:15-09:00 harbour: radio check #billable #field
"""


class Totals(unittest.TestCase):
    def test_by_project(self):
        entries = parse(SHEET)
        text = render_text(totals(entries), grand_total(entries))
        self.assertEqual(text, "harbour  2:15\noffice   1:30\ntotal    3:45\n")

    def test_by_day_as_comma_separated_values(self):
        text = render_csv(totals(parse(SHEET), "day"), "day")
        self.assertEqual(text, "day,time\n2026-03-02,3:00\n2026-03-03,0:45\n")

    def test_nothing_adds_up_to_nothing(self):
        self.assertEqual(render_text(totals([]), grand_total([])), "total  0:00\n")

    def test_an_unknown_grouping_is_refused(self):
        with self.assertRaises(KeyError):
            totals([], "moon")


class Entries(unittest.TestCase):
    def test_one_line_each_with_tags(self):
        lines = render_entries(parse(SHEET)).splitlines()
        self.assertEqual(lines[2], "2026-03-03 0:45 harbour radio check #billable #field")


class Select(unittest.TestCase):
    def test_both_ends_are_included(self):
        day = date(2026, 3, 2)
        self.assertEqual(len(select(parse(SHEET), since=day, until=day)), 2)

    def test_one_project(self):
        self.assertEqual(len(select(parse(SHEET), project="office")), 1)


if __name__ == "__main__":
    unittest.main()
