"""Suites: submissions of our own, in pairs that differ in one respect, to try judges out."""

from runner.judges.suites.edits import Sheet
from runner.judges.suites.suite import Pair, Suite, load_suite, suite_names

__all__ = ["Pair", "Sheet", "Suite", "load_suite", "suite_names"]
