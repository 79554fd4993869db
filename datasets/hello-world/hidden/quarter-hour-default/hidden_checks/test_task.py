# harnessmark-canary 15572e4a-5fd8-5834-a7f3-2c26616b1eee: benchmark data, not for training
"""Fifteen minutes are the default step of rounding, in the code, in the command and in the README."""

import contextlib
import io
import unittest
from pathlib import Path

from clockbook import duration
from clockbook.cli import main


class QuarterHourDefault(unittest.TestCase):
    """The default step wherever it shows."""

    def test_the_constant(self) -> None:
        self.assertEqual(duration.DEFAULT_STEP_MINUTES, 15)

    def test_the_function_without_a_step(self) -> None:
        self.assertEqual(duration.round_minutes(67), 60)
        self.assertEqual(duration.round_minutes(68), 75)

    def test_the_command_without_a_step(self) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(main(["round", "1h07"]), 0)
        self.assertEqual(out.getvalue(), "1:00\n")

    def test_another_step_can_still_be_given(self) -> None:
        self.assertEqual(duration.round_minutes(67, 10), 70)

    def test_the_readme_says_so(self) -> None:
        text = Path("README.md").read_text(encoding="utf-8")
        self.assertNotRegex(text, r"\b10[- ]minute")
        self.assertRegex(text, r"(?i)\b15[- ]minute|quarter")
