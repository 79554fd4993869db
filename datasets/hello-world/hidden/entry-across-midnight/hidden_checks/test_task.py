# harnessmark-canary 15572e4a-5fd8-5834-a7f3-2c26616b1eee: benchmark data, not for training
"""An entry whose end is earlier than its start ends on the next day, and all of it counts."""

import contextlib
import io
import tempfile
import unittest
from datetime import date, time
from pathlib import Path

from clockbook.cli import main
from clockbook.entry import Entry
from clockbook.parser import TimesheetError, parse

SHEET = """\
2026-12-31
21:00-22:30 office: accounts
22:30-01:15 harbour: night shift #billable
2027-01-01
08:00-08:30 harbour: handover
"""


class AcrossMidnight(unittest.TestCase):
    """Entries that end after midnight, read, added up and still refused where they take no time."""

    def test_the_time_on_both_days_counts(self) -> None:
        self.assertEqual([entry.minutes for entry in parse(SHEET)], [90, 165, 30])

    def test_an_entry_made_by_hand(self) -> None:
        self.assertEqual(Entry(date(2026, 3, 2), time(23, 59), time(0, 1), "office").minutes, 2)

    def test_an_end_at_midnight(self) -> None:
        self.assertEqual(parse("2026-03-02\n23:00-0:00 office\n")[0].minutes, 60)

    def test_a_start_at_midnight(self) -> None:
        self.assertEqual(parse("2026-03-02\n00:00-23:59 office\n")[0].minutes, 1439)

    def test_it_belongs_to_the_day_it_stands_under(self) -> None:
        self.assertEqual(parse(SHEET)[1].day, date(2026, 12, 31))

    def test_an_entry_that_takes_no_time_is_still_refused_with_its_line(self) -> None:
        with self.assertRaises(TimesheetError) as caught:
            parse("2026-03-02\n09:00-10:00 office\n22:00-22:00 office\n")
        self.assertEqual(caught.exception.line, 3)

    def test_the_totals_by_day(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            sheet = Path(folder, "sheet.txt")
            sheet.write_text(SHEET, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(main(["totals", str(sheet), "--by", "day"]), 0)
        self.assertEqual(out.getvalue(), "2026-12-31  4:15\n2027-01-01  0:30\ntotal       4:45\n")
