"""Shelf: the last, shorter row of a shelf is lost."""

from __future__ import annotations

from runner.endpoint.suites.coding.task import Check, CodingTask

README = """\
# shelf

Puts books on shelves. `split_rows` cuts a list of books into rows, `row_count` says how many rows it takes.
A row holds at most `width` books; the last one holds what is left.
"""
INIT = """\
from shelf.labels import label
from shelf.rows import row_count, split_rows

__all__ = ["label", "row_count", "split_rows"]
"""
ROWS = '''\
"""Rows of books."""


def _checked(width):
    if width < 1:
        raise ValueError("a row holds at least one book")
    return width


def split_rows(books, width):
    """The books in rows of at most ``width``."""
    width = _checked(width)
    return [books[start : start + width] for start in range(0, len(books) - width + 1, width)]


def row_count(books, width):
    """How many rows ``split_rows`` gives."""
    return len(books) // _checked(width)
'''
LABELS = '''\
"""Labels of rows."""


def label(number):
    """The label of row ``number``, counted from 0: A, B, ... Z, AA, AB, ..."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
'''
TESTS = """\
import unittest

from shelf import label, split_rows


class Rows(unittest.TestCase):
    def test_even(self):
        self.assertEqual(split_rows(["a", "b", "c", "d"], 2), [["a", "b"], ["c", "d"]])

    def test_rest(self):
        self.assertEqual(split_rows(["a", "b", "c", "d", "e"], 2), [["a", "b"], ["c", "d"], ["e"]])

    def test_label(self):
        self.assertEqual(label(0), "A")


if __name__ == "__main__":
    unittest.main()
"""
CHECKS = (
    Check(
        "a remainder gets a row of its own",
        "from shelf import split_rows\nresult = split_rows(list(range(11)), 4)",
        [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]],
    ),
    Check("one short row", "from shelf import split_rows\nresult = split_rows(['x', 'y'], 5)", [["x", "y"]]),
    Check("no books", "from shelf import split_rows\nresult = split_rows([], 3)", []),
    Check(
        "full rows",
        "from shelf import split_rows\nresult = split_rows([1, 2, 3, 4, 5, 6], 3)",
        [[1, 2, 3], [4, 5, 6]],
    ),
    Check(
        "the count fits the rows",
        "from shelf import row_count, split_rows\n"
        "result = [row_count(list(range(n)), w) == len(split_rows(list(range(n)), w)) "
        "for n in range(25) for w in range(1, 9)].count(False)",
        0,
    ),
    Check(
        "counts",
        "from shelf import row_count\nresult = [row_count('x' * n, 4) for n in (0, 1, 4, 5, 8, 9)]",
        [0, 1, 1, 2, 2, 3],
    ),
    Check(
        "a width of nothing is refused",
        "from shelf import split_rows\nsplit_rows([1], 0)",
        raises="ValueError",
    ),
    Check("and for counting as well", "from shelf import row_count\nrow_count([1], -2)", raises="ValueError"),
    Check(
        "labels stay as they are",
        "from shelf import label\nresult = [label(n) for n in (0, 25, 26, 701, 702)]",
        ["A", "Z", "AA", "ZZ", "AAA"],
    ),
)
TASK = CodingTask(
    identifier="agentic_bugfix_small",
    title="The last row of the shelf",
    difficulty="easy",
    files={
        "README.md": README,
        "shelf/__init__.py": INIT,
        "shelf/rows.py": ROWS,
        "shelf/labels.py": LABELS,
        "tests/test_rows.py": TESTS,
    },
    request=(
        "Books are lost: when the number of books is no multiple of the width, the last row does not "
        "appear, and the number of rows is wrong too. Find out why and repair it. Leave the files in tests "
        "as they are."
    ),
    checks=CHECKS,
)
