# harnessmark-canary 15572e4a-5fd8-5834-a7f3-2c26616b1eee: benchmark data, not for training
"""Totals by tag: an entry counts for each of its tags, the grand total counts it once."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from clockbook.cli import main

SHEET = """\
2026-03-02
09:00-10:30 harbour: crane driver #billable
10:30-12:00 office: mail
2026-03-03
08:15-09:00 harbour: radio check #field #billable
09:00-09:30 harbour: again #field and once more #field
10:00-10:15 office
"""


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a command over the sheet."""
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder, "sheet.txt")
        sheet.write_text(SHEET, encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([arguments[0], str(sheet), *arguments[1:]])
    return code, out.getvalue()


class TotalsByTag(unittest.TestCase):
    """What the command prints for one sheet."""

    def test_an_entry_counts_in_full_for_each_of_its_tags_and_the_total_counts_it_once(self) -> None:
        code, out = run("totals", "--by", "tag")
        self.assertEqual(code, 0)
        self.assertEqual(out, "(none)    1:45\nbillable  2:15\nfield     1:15\ntotal     4:30\n")

    def test_comma_separated_values(self) -> None:
        self.assertEqual(run("totals", "--by", "tag", "--csv")[1], "tag,time\n(none),1:45\nbillable,2:15\nfield,1:15\n")

    def test_together_with_a_selection(self) -> None:
        out = run("totals", "--by", "tag", "--project", "harbour")[1]
        self.assertEqual(out, "billable  2:15\nfield     1:15\ntotal     2:45\n")

    def test_the_other_groupings_stay(self) -> None:
        self.assertEqual(run("totals")[1], "harbour  2:45\noffice   1:45\ntotal    4:30\n")
        self.assertEqual(run("totals", "--by", "day")[1].splitlines()[0], "2026-03-02  3:00")
