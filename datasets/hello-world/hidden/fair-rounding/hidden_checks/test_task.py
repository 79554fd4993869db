# harnessmark-canary 15572e4a-5fd8-5834-a7f3-2c26616b1eee: benchmark data, not for training
"""Rows rounded so that they add up to the rounded total: the function, and the option of the command."""

import contextlib
import io
import itertools
import tempfile
import unittest
from pathlib import Path

from clockbook.cli import main
from clockbook.sharing import share_out

SHEET = """\
2026-03-02
09:00-09:20 harbour: crane driver
10:00-10:20 office: mail
11:00-11:20 yard: sweeping
2026-03-03
08:00-08:04 lamp: bulb
"""


def run(*arguments: str, text: str = SHEET) -> tuple[int, str, str]:
    """Exit code, output and error output of ``totals`` over a sheet that holds ``text``."""
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder, "sheet.txt")
        sheet.write_text(text, encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["totals", str(sheet), *arguments])
    return code, out.getvalue(), err.getvalue()


class ShareOut(unittest.TestCase):
    """The function: which row gains a step, what stays as it was, what is refused."""

    def test_missing_steps_go_to_the_largest_remainders(self) -> None:
        self.assertEqual(share_out({"a": 16, "b": 29, "c": 30}, 15), {"a": 15, "b": 30, "c": 30})

    def test_equal_remainders_go_to_the_larger_duration_first(self) -> None:
        self.assertEqual(share_out({"a": 7, "b": 22, "c": 1}, 15), {"a": 0, "b": 30, "c": 0})

    def test_then_to_the_first_name(self) -> None:
        self.assertEqual(share_out({"b": 7, "a": 7}, 15), {"b": 0, "a": 15})

    def test_the_order_of_the_names_is_kept(self) -> None:
        self.assertEqual(list(share_out({"z": 10, "a": 20, "m": 31}, 15)), ["z", "a", "m"])

    def test_halfway_goes_up(self) -> None:
        self.assertEqual(share_out({"a": 5}, 10), {"a": 10})

    def test_nothing_to_share(self) -> None:
        self.assertEqual(share_out({}, 15), {})
        self.assertEqual(share_out({"a": 0}, 15), {"a": 0})

    def test_a_row_with_nothing_never_gains(self) -> None:
        self.assertEqual(share_out({"a": 0, "b": 14, "c": 14}, 15), {"a": 0, "b": 15, "c": 15})

    def test_the_argument_is_left_alone(self) -> None:
        minutes = {"a": 20, "b": 25}
        share_out(minutes, 15)
        self.assertEqual(minutes, {"a": 20, "b": 25})

    def test_every_result_adds_up_and_is_less_than_a_step_away(self) -> None:
        for values in itertools.product((0, 1, 7, 8, 14, 15, 22, 37), repeat=3):
            for step in (1, 6, 10, 15):
                shares = share_out(dict(zip("abc", values)), step)
                total = (2 * sum(values) + step) // (2 * step) * step
                self.assertEqual(sum(shares.values()), total)
                for value, share in zip(values, shares.values()):
                    self.assertEqual(share % step, 0)
                    self.assertLess(abs(share - value), step)

    def test_what_makes_no_sense_is_refused(self) -> None:
        for minutes, step in (({"a": 20}, 0), ({"a": 20}, -15), ({}, 0), ({"a": -1}, 15), ({"a": 31, "b": -1}, 15)):
            with self.assertRaises(ValueError, msg=f"{minutes} {step}"):
                share_out(minutes, step)


class Totals(unittest.TestCase):
    """The option of the command, seen from outside."""

    def test_the_table_adds_up(self) -> None:
        code, out, _ = run("--round", "15")
        self.assertEqual(code, 0)
        self.assertEqual(out, "harbour  0:30\nlamp     0:00\noffice   0:15\nyard     0:15\ntotal    1:00\n")

    def test_the_default_step_is_used_without_a_number(self) -> None:
        self.assertEqual(run("--round")[1].splitlines()[-1], "total    1:00")
        self.assertEqual(run("--round")[1].splitlines()[0], "harbour  0:20")

    def test_by_day_as_comma_separated_values(self) -> None:
        out = run("--by", "day", "--csv", "--round", "30")[1]
        self.assertEqual(out, "day,time\n2026-03-02,1:00\n2026-03-03,0:00\n")

    def test_a_wrong_step_ends_with_two_and_a_message(self) -> None:
        for step in ("0", "-5"):
            try:
                code, out, err = run(f"--round={step}")
            except SystemExit as stopped:
                code, out, err = stopped.code, "", "usage"
            self.assertEqual((code, out), (2, ""))
            self.assertTrue(err)

    def test_an_empty_sheet(self) -> None:
        self.assertEqual(run("--round", "15", text="")[1], "total  0:00\n")

    def test_a_hundred_single_minutes_are_counted_exactly(self) -> None:
        text = "2026-03-02\n" + "09:00-09:01 office\n" * 100
        self.assertEqual(run("--round", "5", text=text)[1], "office  1:40\ntotal   1:40\n")

    def test_without_the_option_nothing_changes(self) -> None:
        text = "2026-03-02\n09:00-10:30 harbour\n10:30-12:00 office\n"
        self.assertEqual(run(text=text)[1], "harbour  1:30\noffice   1:30\ntotal    3:00\n")

    def test_the_readme_shows_the_option(self) -> None:
        self.assertIn("--round", Path("README.md").read_text(encoding="utf-8"))
