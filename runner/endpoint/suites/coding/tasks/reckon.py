"""Reckon: a calculator whose grammar grows in three stages that must agree."""

from __future__ import annotations

from runner.endpoint.suites.coding.task import Check, CodingTask

TOKENS = '''\
"""Tokens: a text cut into numbers, names and signs."""

from dataclasses import dataclass

from reckon.faults import Fault

SIGNS = "+-*/()"


@dataclass(frozen=True)
class Token:
    """``kind`` is number, name, sign or end; ``place`` counts characters from 0."""

    kind: str
    text: str
    place: int


def tokens(text):
    """The tokens of ``text``, with an end token after the last one."""
    found = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter.isspace():
            place += 1
            continue
        start = place
        if letter.isdigit():
            while place < len(text) and (text[place].isdigit() or text[place] == "."):
                place += 1
            found.append(Token("number", text[start:place], start))
        elif letter.isalpha():
            while place < len(text) and text[place].isalnum():
                place += 1
            found.append(Token("name", text[start:place], start))
        elif letter in SIGNS:
            place += 1
            found.append(Token("sign", letter, start))
        else:
            raise Fault(f"unknown sign {letter!r}", start)
    return [*found, Token("end", "", len(text))]
'''
TREE = '''\
"""Tree: what an expression is made of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """A number."""

    value: float


@dataclass(frozen=True)
class Name:
    """A variable."""

    name: str
    place: int


@dataclass(frozen=True)
class Binary:
    """Two operands and a sign between them."""

    sign: str
    left: object
    right: object
    place: int
'''
GRAMMAR = '''\
"""Grammar: from tokens to a tree.

    sum     = product (("+" | "-") product)*
    product = atom (("*" | "/") atom)*
    atom    = number | name | "(" sum ")"
"""

from reckon.faults import Fault
from reckon.tokens import tokens
from reckon.tree import Binary, Name, Number


class Parser:
    """Reads one expression."""

    def __init__(self, text):
        self._tokens = tokens(text)
        self._next = 0

    def parse(self):
        """The tree of the whole text."""
        tree = self._sum()
        if self._peek().kind != "end":
            raise Fault(f"unexpected {self._peek().text!r}", self._peek().place)
        return tree

    def _peek(self):
        return self._tokens[self._next]

    def _take(self):
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _is_sign(self, signs):
        return self._peek().kind == "sign" and self._peek().text in signs

    def _sum(self):
        tree = self._product()
        while self._is_sign("+-"):
            token = self._take()
            tree = Binary(token.text, tree, self._product(), token.place)
        return tree

    def _product(self):
        tree = self._atom()
        while self._is_sign("*/"):
            token = self._take()
            tree = Binary(token.text, tree, self._atom(), token.place)
        return tree

    def _atom(self):
        token = self._take()
        if token.kind == "number":
            return Number(float(token.text))
        if token.kind == "name":
            return Name(token.text, token.place)
        if token.kind == "sign" and token.text == "(":
            tree = self._sum()
            if not self._is_sign(")"):
                raise Fault("a bracket is not closed", token.place)
            self._take()
            return tree
        raise Fault("a value is missing", token.place)
'''
EVALUATE = '''\
"""Evaluate: from a tree to a number."""

from reckon.faults import Fault
from reckon.grammar import Parser
from reckon.tree import Binary, Name, Number


def evaluate(text, **values):
    """The value of an expression; ``values`` are its variables."""
    return _value(Parser(text).parse(), values)


def _value(tree, values):
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        if tree.name not in values:
            raise Fault(f"unknown name {tree.name!r}", tree.place)
        return float(values[tree.name])
    if isinstance(tree, Binary):
        left, right = _value(tree.left, values), _value(tree.right, values)
        if tree.sign == "+":
            return left + right
        if tree.sign == "-":
            return left - right
        if tree.sign == "*":
            return left * right
        return left / right
    raise TypeError(tree)
'''
FAULTS = '''\
"""Faults: what is wrong with an expression, and where."""


class Fault(ValueError):
    """``place`` is the position of the character that is to blame, counted from 0."""

    def __init__(self, what, place):
        super().__init__(f"{what} (at {place})")
        self.what = what
        self.place = place
'''
README = """\
# reckon

Works out expressions: `evaluate("2 * (x + 1)", x=3)` is 8.0. Whatever is wrong with an expression raises
`Fault`, which knows the place of the character to blame."""
INIT = """\
from reckon.evaluate import evaluate
from reckon.faults import Fault

__all__ = ["Fault", "evaluate"]
"""
TESTS = """\
import unittest

from reckon import Fault, evaluate


class Expressions(unittest.TestCase):
    def test_sums(self):
        self.assertEqual(evaluate("1 + 2 * 3"), 7.0)

    def test_names(self):
        self.assertEqual(evaluate("2 * (x + 1)", x=3), 8.0)

    def test_power(self):
        self.assertEqual(evaluate("2 ^ 3"), 8.0)

    def test_minus(self):
        self.assertEqual(evaluate("-3 + 5"), 2.0)

    def test_function(self):
        self.assertEqual(evaluate("max(1, 2, 3)"), 3.0)

    def test_division_by_nothing(self):
        with self.assertRaises(Fault) as caught:
            evaluate("1 / 0")
        self.assertEqual(caught.exception.place, 2)


if __name__ == "__main__":
    unittest.main()
"""
_HEAD = (
    "from reckon import Fault, evaluate\n"
    "def place(text, **values):\n"
    "    try:\n"
    "        evaluate(text, **values)\n"
    "    except Fault as fault:\n"
    "        return fault.place\n"
)


def _values(name: str, *pairs: tuple[str, float]) -> Check:
    texts = [text for text, _ in pairs]
    return Check(
        name, f"{_HEAD}result = [evaluate(t, x=5, y=-2) for t in {texts!r}]", [value for _, value in pairs]
    )


def _places(name: str, *pairs: tuple[str, int]) -> Check:
    texts = [text for text, _ in pairs]
    return Check(name, f"{_HEAD}result = [place(t, x=5) for t in {texts!r}]", [place for _, place in pairs])


CHECKS = (
    _values(
        "powers bind to the right",
        ("2 ^ 3 ^ 2", 512.0),
        ("(2 ^ 3) ^ 2", 64.0),
        ("2 * 3 ^ 2", 18.0),
        ("x^2", 25.0),
    ),
    _values(
        "a minus before a power is taken last",
        ("-2 ^ 2", -4.0),
        ("(-2) ^ 2", 4.0),
        ("2 ^ -1", 0.5),
        ("-x ^ 2", -25.0),
    ),
    _values(
        "signs in front",
        ("--3", 3.0),
        ("4 - -3", 7.0),
        ("2 * -3", -6.0),
        ("+x", 5.0),
        ("- (1 + 2)", -3.0),
        ("-2 * 3", -6.0),
    ),
    _values(
        "what was there before",
        ("10 - 2 - 3", 5.0),
        ("8 / 2 / 2", 2.0),
        ("2 * (3 + 4) * x", 70.0),
        ("1.5 + 2", 3.5),
    ),
    _values(
        "functions",
        ("min(4, 2, 8)", 2.0),
        ("max(x)", 5.0),
        ("abs(y)", 2.0),
        ("abs(-3 - 4) ^ 2", 49.0),
        ("min(max(1, 2), 3) + 1", 3.0),
    ),
    _values("names of functions are names too", ("x + max(1, x)", 10.0), ("-max(1, 2)", -2.0)),
    Check(
        "a variable may be called like a function",
        f"{_HEAD}result = evaluate('max + max(1, max)', max=7)",
        14.0,
    ),
    _places("divisions by nothing", ("1 / 0", 2), ("4 + 1 / (x - 5)", 6), ("0 ^ -1", 2)),
    _places("functions asked wrongly", ("max()", 0), ("1 + abs(1, 2)", 4), ("2 * sin(1)", 4), ("abs()", 0)),
    _places("brackets and commas", ("max(1, 2", 3), ("max(1,)", 6), ("(1", 0), ("1, 2", 1), ("max(,1)", 4)),
    _places("numbers with two points", ("1.2.3", 0), ("4 + 1..2", 4)),
    _places("powers that are no real numbers", ("(-8) ^ 0.5", 5), ("10 ^ 999 ^ 2", 3)),
    _places("missing values", ("", 0), ("2 +", 3), ("2 ^", 3), ("-", 1), ("* 2", 0)),
    Check(
        "names may hold underscores",
        f"{_HEAD}result = evaluate('net_price * 2 + _x', net_price=4, _x=1)",
        9.0,
    ),
)
TASK = CodingTask(
    identifier="agentic_grammar",
    title="A calculator learns powers and functions",
    difficulty="hard",
    files={
        "README.md": README,
        "reckon/__init__.py": INIT,
        "reckon/faults.py": FAULTS,
        "reckon/tokens.py": TOKENS,
        "reckon/tree.py": TREE,
        "reckon/grammar.py": GRAMMAR,
        "reckon/evaluate.py": EVALUATE,
        "tests/test_expressions.py": TESTS,
    },
    request=(
        "Teach the calculator more.\n"
        "1. x ^ y is a power. It binds more strongly than * and groups to the right: 2 ^ 3 ^ 2 is 512.\n"
        "2. + and - may stand before a value, several of them too. They bind less strongly than ^ on their "
        "right, so -2 ^ 2 is -4, and 2 ^ -1 is 0.5.\n"
        "3. The functions min and max (one value or more) and abs (exactly one), as in max(1, x). A name "
        "is a function only where a bracket follows it; a variable may have the name of a function.\n"
        "4. Names may hold underscores, also at their beginning.\n"
        "5. Every failure is a Fault with the place of what is to blame, never another exception: the sign "
        "for a division by zero, for zero to a negative power, for a power that is no real number, and for "
        "one that is too large; the name for an unknown function and for a wrong number of values; the "
        "beginning of a malformed number such as 1.2.3; the opening bracket where one is not closed; the "
        "place where a value was expected and something else, or the end, came."
    ),
    checks=CHECKS,
    max_turns=30,
)
