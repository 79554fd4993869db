"""Reorder: a new module, written from a document in the repository."""

from __future__ import annotations

from runner.endpoint.suites.coding.task import Check, CodingTask

DOCUMENT = """\
# Reordering

Planned for the module `warehouse/reorder.py`; nothing of it exists yet.

`reorder_list(stock, sold, suppliers, days=14)` returns what has to be ordered, as a list of `Order`.

1. `stock` maps an article to the pieces in the store. `sold` maps an article to the pieces sold on each of
   the last days, as a list of numbers; an article without an entry, or with an empty list, sold nothing.
2. The demand of an article is its mean daily sale, times `days`, rounded up to a whole piece. Compute it
   without floating point, so that no sum is a little too large.
3. Where the demand is more than the stock, the difference is missing. Nothing else is ordered.
4. `suppliers` is a list of `Supplier`. An article is ordered from the supplier with the lowest price that
   has it; of equal prices, from the one whose name comes first in the alphabet. Articles that nobody has
   are left out of the list and are collected: when there are any, `MissingSupplier` is raised at the end,
   with their names, sorted, in the attribute `articles`.
5. Suppliers deliver in boxes of `box` pieces. The pieces ordered are the missing ones, rounded up to whole
   boxes.
6. The list is sorted by supplier, then article.
7. `days` must be at least 1, otherwise a `ValueError` is raised.

`Order` has the fields `supplier`, `article`, `pieces` and `cents` (price of all pieces together). It is a
frozen dataclass, as are the other records."""
RECORDS = '''\
"""Records of the warehouse."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Supplier:
    """Who delivers. ``prices`` maps an article to the cents of one piece; a ``box`` holds so many."""

    name: str
    prices: dict = field(default_factory=dict)
    box: int = 1


@dataclass(frozen=True)
class Movement:
    """Pieces of an article that came (positive) or went (negative)."""

    article: str
    pieces: int
'''
STOCK = '''\
"""Stock: what is in the store after a number of movements."""


def counted(movements):
    """Pieces by article. Articles of which nothing is left are kept, with 0.

    Raises ValueError where more would go than there is.
    """
    stock = {}
    for movement in movements:
        left = stock.get(movement.article, 0) + movement.pieces
        if left < 0:
            raise ValueError(f"not enough of {movement.article}")
        stock[movement.article] = left
    return stock
'''
INIT = """\
from warehouse.records import Movement, Supplier
from warehouse.stock import counted

__all__ = ["Movement", "Supplier", "counted"]
"""
TESTS = """\
import unittest

from warehouse import Supplier


class Reorder(unittest.TestCase):
    def test_one_article(self):
        from warehouse import Order, reorder_list

        found = reorder_list({"nail": 5}, {"nail": [1, 2]}, [Supplier("Bolt", {"nail": 3}, box=10)])
        self.assertEqual(found, [Order("Bolt", "nail", 20, 60)])

    def test_enough(self):
        from warehouse import reorder_list

        self.assertEqual(reorder_list({"nail": 500}, {"nail": [1, 2]}, [Supplier("Bolt", {"nail": 3})]), [])


if __name__ == "__main__":
    unittest.main()
"""
_HEAD = (
    "from warehouse import MissingSupplier, Order, Supplier, reorder_list\nfrom dataclasses import astuple\n"
)
CHECKS = (
    Check(
        "exact demand, without floating point",
        _HEAD + "found = reorder_list({}, {'a': [1, 0, 0]}, [Supplier('S', {'a': 7})], days=3)\n"
        "result = [astuple(each) for each in found]",
        [["S", "a", 1, 7]],
    ),
    Check(
        "rounded up",
        _HEAD
        + "result = [reorder_list({'a': 0}, {'a': [1, 1, 0]}, [Supplier('S', {'a': 1})], days=d)[0].pieces "
        "for d in (1, 2, 3, 10)]",
        [1, 2, 2, 7],
    ),
    Check(
        "whole boxes",
        _HEAD + "result = [reorder_list({'a': s}, {'a': [10]}, [Supplier('S', {'a': 2}, box=6)], "
        "days=3)[0].pieces for s in (0, 5, 6, 24, 29)]",
        [30, 30, 24, 6, 6],
    ),
    Check(
        "the cheapest, then the first by name",
        _HEAD + "found = reorder_list({}, {'a': [5], 'b': [5]}, [Supplier('Zed', {'a': 4, 'b': 9}), "
        "Supplier('Mo', {'a': 4, 'b': 8}), Supplier('Al', {'a': 5})], days=1)\n"
        "result = [astuple(each) for each in found]",
        [["Mo", "a", 5, 20], ["Mo", "b", 5, 40]],
    ),
    Check(
        "sorted by supplier and article",
        _HEAD + "s = [Supplier('B', {'y': 1, 'x': 1}), Supplier('A', {'z': 1})]\n"
        "result = [(o.supplier, o.article) for o in reorder_list({}, {'y': [1], 'z': [1], 'x': [1]}, s)]",
        [["A", "z"], ["B", "x"], ["B", "y"]],
    ),
    Check(
        "sold nothing, needs nothing",
        _HEAD + "result = reorder_list({'a': 0, 'b': 3}, {'b': []}, [Supplier('S', {'a': 1, 'b': 1})])",
        [],
    ),
    Check(
        "all that nobody has are named",
        _HEAD + "try:\n    reorder_list({}, {'q': [1], 'c': [1], 'a': [1]}, [Supplier('S', {'a': 1})])\n"
        "except MissingSupplier as missing:\n    result = list(missing.articles)",
        ["c", "q"],
    ),
    Check("no days", _HEAD + "reorder_list({}, {}, [], days=0)", raises="ValueError"),
    Check("orders are frozen", _HEAD + "Order('S', 'a', 1, 1).pieces = 2", raises="FrozenInstanceError"),
    Check(
        "it is a module of its own",
        "import warehouse\nfrom warehouse import reorder\nresult = [reorder.reorder_list is "
        "warehouse.reorder_list, {'MissingSupplier', 'Order', 'reorder_list'} <= set(warehouse.__all__)]",
        [True, True],
    ),
    Check(
        "the stock is as it was",
        "from warehouse import Movement, counted\nresult = counted([Movement('a', 3), Movement('a', -3)])",
        {"a": 0},
    ),
)
TASK = CodingTask(
    identifier="agentic_new_module",
    title="Reordering, from a document",
    difficulty="medium",
    files={
        "README.md": "# warehouse\n\nCounts stock. What is planned stands in docs.\n",
        "docs/reorder.md": DOCUMENT,
        "warehouse/__init__.py": INIT,
        "warehouse/records.py": RECORDS,
        "warehouse/stock.py": STOCK,
        "tests/test_reorder.py": TESTS,
    },
    request=(
        "Build what docs/reorder.md describes, exactly as it stands there. Export Order, MissingSupplier and "
        "reorder_list from the package warehouse too."
    ),
    checks=CHECKS,
    max_turns=20,
)
