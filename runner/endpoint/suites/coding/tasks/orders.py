"""Orders: symptoms are told, causes are not; they lie in files far from where the symptoms show."""

from __future__ import annotations

from runner.endpoint.suites.coding.task import Check, CodingTask

MONEY = '''\
"""Money: whole cents everywhere; fractions only while something is worked out."""

from fractions import Fraction


def rounded(value):
    """A fraction of cents as whole cents, halves away from 0."""
    return int(Fraction(value) + Fraction(1, 2))


def share(cents, percent):
    """So many percent of an amount, in whole cents."""
    return rounded(Fraction(cents) * Fraction(str(percent)) / 100)


def text(cents):
    """An amount as people write it: 12.05, or -0.40."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"
'''
CATALOGUE = '''\
"""Catalogue: articles, their prices and their tax."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Article:
    """``cents`` is the price of one piece without tax."""

    code: str
    cents: int
    tax: str = "standard"


class Catalogue:
    """Articles by code. Codes are written in capitals."""

    def __init__(self, articles=()):
        self._articles = {article.code: article for article in articles}

    def find(self, code):
        """The article with this code, in whatever case it is written."""
        return self._articles[code.upper()]
'''
TAX = '''\
"""Tax: rates by class and country."""

RATES = {
    ("standard", "DE"): 19,
    ("reduced", "DE"): 7,
    ("standard", "FR"): 20,
    ("reduced", "FR"): 5.5,
}
_cache = {}


def rate(kind, country):
    """Percent of tax; countries without a rate pay none."""
    if kind not in _cache:
        _cache[kind] = RATES.get((kind, country), 0)
    return _cache[kind]
'''
LINES = '''\
"""Lines of an order."""

from dataclasses import dataclass

from shop.catalogue import Article


@dataclass(frozen=True)
class Line:
    """Pieces of an article; a negative number is a return."""

    article: Article
    pieces: int

    @property
    def net(self):
        """Cents without tax and discount."""
        return self.article.cents * self.pieces
'''
ORDER = '''\
"""Order: what one customer wants."""

from shop.lines import Line


class Order:
    """Lines in the order in which they came. Adding an article again adds to its line."""

    def __init__(self, country="DE", lines=[]):
        self.country = country
        self.lines = lines

    def add(self, article, pieces=1):
        """Add pieces of an article."""
        for place, line in enumerate(self.lines):
            if line.article.code == article.code:
                self.lines[place] = Line(article, line.pieces + pieces)
                return
        self.lines.append(Line(article, pieces))
'''
DISCOUNT = '''\
"""Discount: by the worth of the whole order."""

STEPS = ((10_000, 3), (25_000, 5), (50_000, 8))
"""From so many cents on, so many percent."""


def percent(net):
    """The discount of an order that is worth ``net`` cents."""
    best = 0
    for least, reward in STEPS:
        if net > least:
            best = reward
    return best
'''
INVOICE = '''\
"""Invoice: what an order costs."""

from dataclasses import dataclass

from shop import discount, tax
from shop.money import share


@dataclass(frozen=True)
class Invoice:
    """All amounts in cents."""

    net: int
    discount: int
    tax: int

    @property
    def total(self):
        """What is to be paid; less than 0 where money goes back."""
        return self.net - self.discount + self.tax


def invoice(order):
    """The invoice of ``order``.

    The discount of each line is rounded, then the tax of each line, which is taken from what the line
    costs after its discount.
    """
    net = sum(line.net for line in order.lines)
    percent = discount.percent(net)
    off = due = 0
    for line in order.lines:
        less = share(line.net, percent)
        off += less
        due += share(line.net, tax.rate(line.article.tax, order.country))
    return Invoice(net, off, due)
'''
STATEMENT = '''\
"""Statement: the invoices of a customer, as text."""

from shop.invoice import invoice
from shop.money import text


def statement(orders):
    """One line for each order, then the sum."""
    rows = [invoice(order).total for order in orders]
    width = max(len(text(row)) for row in rows)
    lines = [f"{number:>3}  {text(row):>{width}}" for number, row in enumerate(rows)]
    return "\\n".join([*lines, f"sum  {text(sum(rows)):>{width}}"])
'''
IMPORTER = '''\
"""Importer: orders from text."""

from shop.order import Order


def read_orders(text, catalogue):
    """Orders of a text: a line ``order COUNTRY`` begins one, lines ``CODE PIECES`` follow.

    Blank lines and lines that begin with # are passed over. Without a number, one piece is meant.
    """
    orders = []
    for row in text.splitlines():
        words = row.split()
        if not words or row.startswith("#"):
            continue
        if words[0] == "order":
            orders.append(Order(words[1]))
        else:
            orders[-1].add(catalogue.find(words[0]), int(words[1]) if len(words) > 1 else 1)
    return orders
'''
INIT = """\
from shop.catalogue import Article, Catalogue
from shop.importer import read_orders
from shop.invoice import Invoice, invoice
from shop.order import Order
from shop.statement import statement

__all__ = ["Article", "Catalogue", "Invoice", "Order", "invoice", "read_orders", "statement"]
"""
README = """\
# shop

Orders and their invoices.

- Amounts are whole cents. Halves are rounded away from 0, so that returning something gives back what it
  cost.
- The discount goes by the worth of the whole order without tax: from 100.00 on 3 %, from 250.00 on 5 %,
  from 500.00 on 8 %. It is rounded line by line.
- Tax is taken from what a line costs after its discount, at the rate of the country that the order goes to.
- A statement numbers the orders of a customer from 1. A customer without orders has a sum of 0.00.
"""
TESTS = """\
import unittest

from shop import Article, Order, invoice

PEN = Article("PEN", 199)


class Invoices(unittest.TestCase):
    def test_one_line(self):
        order = Order("DE", [])
        order.add(PEN, 2)
        self.assertEqual(invoice(order).total, 398 + 76)

    def test_adding_again(self):
        order = Order("DE", [])
        order.add(PEN)
        order.add(PEN, 2)
        self.assertEqual(order.lines[0].pieces, 3)


if __name__ == "__main__":
    unittest.main()
"""
_HEAD = (
    "from shop import *\n"
    "A, B, C, H = Article('A', 1000), Article('B', 333, 'reduced'), Article('C', 2500), Article('H', 50, "
    "'none')\ndef bill(country, *rows):\n"
    "    order = Order(country)\n"
    "    for article, pieces in rows:\n"
    "        order.add(article, pieces)\n"
    "    found = invoice(order)\n"
    "    return [found.net, found.discount, found.tax, found.total]\n"
)
CHECKS = (
    Check(
        "orders do not share lines",
        _HEAD + "one, two = Order(), Order()\none.add(A)\nresult = [len(one.lines), len(two.lines)]",
        [1, 0],
    ),
    Check(
        "lines that are given are copied",
        _HEAD + "rows = []\none = Order('DE', rows)\none.add(A)\nresult = rows",
        [],
    ),
    Check(
        "each country has its rates",
        _HEAD + "result = [bill(c, (A, 1))[2] for c in ('DE', 'FR', 'US', 'DE')]",
        [190, 200, 0, 190],
    ),
    Check("reduced rates too", _HEAD + "result = [bill(c, (B, 1))[2] for c in ('FR', 'DE')]", [18, 23]),
    Check(
        "returns give back what was paid",
        _HEAD + "result = [bill(c, (B, n))[3] for c in ('DE', 'FR') for n in (1, -1, 5, -5)]",
        [356, -356, 1782, -1782, 351, -351, 1757, -1757],
    ),
    Check(
        "halves go away from nothing",
        "from shop.money import rounded\nfrom fractions import Fraction as F\n"
        "result = [rounded(F(n, 2)) for n in (1, 3, -1, -3, -2, 5, 0)]",
        [1, 2, -1, -2, -1, 3, 0],
    ),
    Check(
        "other fractions to the nearest",
        "from shop.money import rounded\nfrom fractions import Fraction as F\n"
        "result = [rounded(F(n, 10)) for n in (4, 6, -4, -6, -16, 14)]",
        [0, 1, 0, -1, -2, 1],
    ),
    Check(
        "the steps begin where they say",
        _HEAD + "result = [bill('US', (A, n))[1] for n in (9, 10, 24, 25, 49, 50)]",
        [0, 300, 720, 1250, 2450, 4000],
    ),
    Check("tax after the discount", _HEAD + "result = bill('DE', (A, 10))", [10_000, 300, 1843, 11_543]),
    Check(
        "line by line", _HEAD + "result = bill('DE', (A, 20), (B, 20), (H, 3))", [26_810, 1341, 4053, 29_522]
    ),
    Check(
        "a statement counts from one",
        _HEAD
        + "one, two = Order('US'), Order('US')\none.add(A)\ntwo.add(H, -1)\nresult = statement([one, two])",
        "  1  10.00\n  2  -0.50\nsum   9.50",
    ),
    Check("nobody ordered", "from shop import statement\nresult = statement([]).split()", ["sum", "0.00"]),
    Check(
        "sums wider than their lines stay in line",
        _HEAD + "orders = [Order('US') for _ in range(4)]\n[o.add(C, 1) for o in orders]\n"
        "result = {len(row) for row in statement(orders).split('\\n')} == {11}",
        True,
    ),
    Check(
        "imports",
        _HEAD
        + "found = read_orders('order FR\\n  # a note\\na 2\\nb\\n\\norder DE\\nA', Catalogue([A, B]))\n"
        "result = [[o.country, [(l.article.code, l.pieces) for l in o.lines]] for o in found]",
        [["FR", [["A", 2], ["B", 1]]], ["DE", [["A", 1]]]],
    ),
)
TASK = CodingTask(
    identifier="agentic_cross_file_bugs",
    title="Invoices that are wrong in many ways",
    difficulty="hard",
    files={
        "README.md": README,
        "shop/__init__.py": INIT,
        "shop/money.py": MONEY,
        "shop/catalogue.py": CATALOGUE,
        "shop/tax.py": TAX,
        "shop/lines.py": LINES,
        "shop/order.py": ORDER,
        "shop/discount.py": DISCOUNT,
        "shop/invoice.py": INVOICE,
        "shop/statement.py": STATEMENT,
        "shop/importer.py": IMPORTER,
        "tests/test_invoices.py": TESTS,
    },
    request=(
        "Customers complain, and the README says how it should be. A French customer was charged the "
        "German rate. Somebody got the lines of another order. Who returns something does not always get "
        "back what it cost. An order of exactly 100.00 got no discount. The tax looks too high on large "
        "orders. The statements begin with a wrong number, are out of line where the sum is long, and fail "
        "for somebody who never ordered. An import failed on a note that was indented. Find all causes and "
        "repair them; write tests for what you repair."
    ),
    checks=CHECKS,
    max_turns=36,
)
