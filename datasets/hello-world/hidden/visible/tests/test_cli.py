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
"""


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sheet = Path(folder.name, "sheet.txt")
        self.sheet.write_text(SHEET, encoding="utf-8")

    def test_totals(self):
        code, out, _ = run("totals", str(self.sheet))
        self.assertEqual((code, out), (0, "harbour  1:30\noffice   1:30\ntotal    3:00\n"))

    def test_totals_of_one_project(self):
        self.assertEqual(run("totals", str(self.sheet), "--project", "office")[1], "office  1:30\ntotal   1:30\n")

    def test_entries(self):
        self.assertEqual(len(run("entries", str(self.sheet))[1].splitlines()), 2)

    def test_round_with_a_step(self):
        self.assertEqual(run("round", "1h07", "--step", "30"), (0, "1:00\n", ""))

    def test_a_broken_line_is_named(self):
        self.sheet.write_text("2026-03-02\nwent fishing\n", encoding="utf-8")
        code, out, err = run("totals", str(self.sheet))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("line 2", err)

    def test_a_missing_file_is_named(self):
        code, _, err = run("totals", str(self.sheet.with_name("none.txt")))
        self.assertEqual(code, 2)
        self.assertIn("none.txt", err)


if __name__ == "__main__":
    unittest.main()
