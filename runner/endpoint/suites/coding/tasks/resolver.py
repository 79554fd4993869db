"""Resolver: packages and versions; a wrong order, a missing kind of range, and circles that hang it."""

from __future__ import annotations

from runner.endpoint.suites.coding.task import Check, CodingTask

VERSION = '''\
"""Versions: three numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Version:
    """A version such as 1.12.0."""

    text: str

    @property
    def numbers(self):
        """Its three numbers; those that are left out are 0."""
        parts = [int(part) for part in self.text.split(".")]
        return tuple(parts + [0] * (3 - len(parts)))

    def __lt__(self, other):
        return self.text < other.text
'''
RANGES = '''\
"""Ranges: which versions a dependency allows."""

from packs.version import Version


def allows(text, version):
    """Whether the range ``text`` allows ``version``.

    A range is a list of conditions with commas between them, all of which must hold: ``>=1.2``, ``<2``,
    ``==1.4.0``, or ``*`` for anything.
    """
    return all(_holds(condition.strip(), version) for condition in text.split(","))


def _holds(condition, version):
    if condition == "*":
        return True
    for sign, holds in _SIGNS:
        if condition.startswith(sign):
            return holds(version.numbers, Version(condition[len(sign) :].strip()).numbers)
    raise ValueError(f"no range: {condition!r}")


_SIGNS = (
    (">=", lambda left, right: left >= right),
    ("==", lambda left, right: left == right),
    ("<", lambda left, right: left < right),
)
'''
INDEX = '''\
"""Index: the packages that there are."""

from packs.version import Version


class Index:
    """Name to version to the dependencies of that version (name to range)."""

    def __init__(self):
        self._packages = {}

    def add(self, name, version, needs=None):
        """Make a version of a package known."""
        self._packages.setdefault(name, {})[version] = dict(needs or {})

    def versions(self, name):
        """Versions of a package, the newest first."""
        return sorted(map(Version, self._packages.get(name, {})), reverse=True)

    def needs(self, name, version):
        """Dependencies of one version."""
        return self._packages[name][version.text]
'''
RESOLVE = '''\
"""Resolve: one version for each package that is needed."""

from packs.faults import Conflict
from packs.ranges import allows


def resolve(index, wanted):
    """Name to text of a version, for everything that ``wanted`` (name to range) needs.

    The newest version that is allowed is taken, package by package.
    """
    chosen = {}
    waiting = list(wanted.items())
    while waiting:
        name, text = waiting.pop(0)
        version = _newest(index, name, text)
        if name in chosen and chosen[name] != version.text:
            raise Conflict(name)
        chosen[name] = version.text
        waiting.extend(index.needs(name, version).items())
    return chosen


def _newest(index, name, text):
    for version in index.versions(name):
        if allows(text, version):
            return version
    raise Conflict(name)
'''
ORDER = '''\
"""Order: in which sequence packages are installed."""


def install_order(index, chosen):
    """Names of the packages of ``chosen`` (name to version): each one after all that it needs.

    Of those that could come next, the first by name.
    """
    return sorted(chosen)
'''
FAULTS = '''\
"""Faults of the resolver."""


class Conflict(Exception):
    """No version of ``package`` fits."""

    def __init__(self, package):
        super().__init__(f"no version of {package} fits")
        self.package = package


class Circle(Exception):
    """Packages that need each other. ``packages`` are their names, sorted."""

    def __init__(self, packages):
        super().__init__(f"these need each other: {', '.join(packages)}")
        self.packages = tuple(packages)
'''
INIT = """\
from packs.faults import Circle, Conflict
from packs.index import Index
from packs.order import install_order
from packs.ranges import allows
from packs.resolve import resolve
from packs.version import Version

__all__ = ["Circle", "Conflict", "Index", "Version", "allows", "install_order", "resolve"]
"""
REPORT = '''\
"""Report: what was decided, for people."""


def report(chosen):
    """One line for each package, by name."""
    return "\\n".join(f"{name} {version}" for name, version in sorted(chosen.items()))
'''
TESTS = """\
import unittest

from packs import Index, Version, allows, install_order, resolve


class Packages(unittest.TestCase):
    def setUp(self):
        self.index = Index()
        self.index.add("app", "1.0.0", {"net": ">=1.9", "log": "*"})
        self.index.add("net", "1.9.0", {"log": ">=1"})
        self.index.add("net", "1.10.0", {"log": ">=1"})
        self.index.add("log", "1.0.0")

    def test_newest(self):
        self.assertEqual(resolve(self.index, {"app": "*"})["net"], "1.10.0")

    def test_caret(self):
        self.assertTrue(allows("^1.2", Version("1.9.0")))

    def test_order(self):
        self.assertEqual(install_order(self.index, resolve(self.index, {"app": "*"})), ["log", "net", "app"])


if __name__ == "__main__":
    unittest.main()
"""
_HEAD = (
    "from packs import *\n"
    "index = Index()\n"
    "def add(**packages):\n"
    "    for key, needs in packages.items():\n"
    "        name, version = key.split('__')\n"
    "        index.add(name, version.replace('_', '.'), {n: r for n, r in needs.items()})\n"
)


def _allowed(name: str, text: str, versions: str, expected: list[bool]) -> Check:
    code = f"result = [allows({text!r}, Version(v)) for v in {versions.split()!r}]"
    return Check(name, _HEAD + code, list(expected))


CHECKS = (
    Check(
        "versions are numbers",
        _HEAD + "add(a__1_9={}, a__1_10={}, a__1_2={})\nresult = [v.text for v in index.versions('a')]",
        ["1.10", "1.9", "1.2"],
    ),
    Check(
        "parts that are left out are nothing",
        _HEAD
        + "result = [Version('1') < Version('1.0.1'), Version('1.0') < Version('1.0.0'), Version('2') < "
        "Version('10')]",
        [True, False, True],
    ),
    _allowed(
        "carets keep the first number",
        "^1.2.3",
        "1.2.2 1.2.3 1.9.0 1.20.4 2.0.0",
        [False, True, True, True, False],
    ),
    _allowed(
        "carets below one keep the second",
        "^0.3.1",
        "0.3.0 0.3.1 0.3.9 0.4.0 1.0.0",
        [False, True, True, False, False],
    ),
    _allowed(
        "carets below a tenth keep the third",
        "^0.0.4",
        "0.0.3 0.0.4 0.0.5 0.1.0",
        [False, True, False, False],
    ),
    _allowed(
        "tildes keep the second number",
        "~1.4.2",
        "1.4.1 1.4.2 1.4.9 1.5.0 2.0.0",
        [False, True, True, False, False],
    ),
    _allowed(
        "new and old conditions together",
        "^1.2, !=1.5.0, <=1.8",
        "1.2.0 1.5.0 1.8.0 1.8.1 1.1.0",
        [True, False, True, False, False],
    ),
    _allowed("more than", ">1.2", "1.2 1.2.1 1.3", [False, True, True]),
    Check("nonsense is refused", _HEAD + "allows('about 3', Version('3'))", raises="ValueError"),
    Check(
        "a step back to an older version",
        _HEAD
        + "add(app__1={'x': '*', 'y': '*'}, x__2={'z': '>=2'}, x__1={'z': '*'}, y__1={'z': '<2'}, z__1={}, "
        "z__2={})\n"
        "result = resolve(index, {'app': '*'})",
        {"app": "1", "x": "1", "y": "1", "z": "1"},
    ),
    Check(
        "ranges from two sides meet",
        _HEAD + "add(a__1={'c': '>=1'}, b__1={'c': '<3'}, c__1={}, c__2={}, c__3={})\n"
        "result = resolve(index, {'a': '*', 'b': '*'})",
        {"a": "1", "b": "1", "c": "2"},
    ),
    Check(
        "no way out",
        _HEAD
        + "add(a__1={'c': '>=2'}, b__1={'c': '<2'}, c__1={}, c__2={})\nresolve(index, {'a': '*', 'b': '*'})",
        raises="Conflict",
    ),
    Check(
        "unknown packages", _HEAD + "add(a__1={'ghost': '*'})\nresolve(index, {'a': '*'})", raises="Conflict"
    ),
    Check(
        "circles can be resolved",
        _HEAD + "add(a__1={'b': '*'}, b__1={'a': '*'})\nresult = resolve(index, {'a': '*'})",
        {"a": "1", "b": "1"},
    ),
    Check(
        "but not put in order",
        _HEAD + "add(a__1={'b': '*'}, b__1={'c': '*'}, c__1={'b': '*'}, d__1={})\n"
        "try:\n    install_order(index, {'a': '1', 'b': '1', 'c': '1', 'd': '1'})\nexcept Circle as "
        "circle:\n    result = list(circle.packages)",
        ["b", "c"],
    ),
    Check(
        "order by need, then by name",
        _HEAD + "add(a__1={'z': '*'}, b__1={}, z__1={'y': '*'}, y__1={}, c__1={'b': '*'})\n"
        "result = install_order(index, {n: '1' for n in 'abzyc'})",
        ["b", "c", "y", "z", "a"],
    ),
    Check(
        "what nobody needs any more is left out",
        _HEAD + "add(app__1={'x': '*', 'y': '*'}, x__2={'z': '>=2', 'w': '*'}, x__1={}, y__1={'z': '<2'}, "
        "z__1={}, z__2={}, w__1={})\n"
        "result = sorted(resolve(index, {'app': '*'}))",
        ["app", "x", "y", "z"],
    ),
)
TASK = CodingTask(
    identifier="agentic_resolver",
    title="Packages that fit together",
    difficulty="hard",
    files={
        "README.md": "# packs\n\nDecides which versions of packages fit together, and in which order they "
        "are installed.\n",
        "packs/__init__.py": INIT,
        "packs/version.py": VERSION,
        "packs/ranges.py": RANGES,
        "packs/index.py": INDEX,
        "packs/resolve.py": RESOLVE,
        "packs/order.py": ORDER,
        "packs/faults.py": FAULTS,
        "packs/report.py": REPORT,
        "tests/test_packages.py": TESTS,
    },
    request=(
        "Four things.\n"
        "1. Versions are compared as texts, so 1.10 counts as older than 1.9. They must be compared by "
        "their numbers.\n2. Ranges get the signs >, <=, != and two new kinds: ^ allows everything from the "
        "version on that does not change its first number that is not 0 (^1.2.3 allows below 2, ^0.3.1 "
        "below 0.4, ^0.0.4 nothing but 0.0.4); ~ allows everything from the version on that changes the "
        "third number only.\n3. resolve gives up too early: where the newest version of a package leads "
        "into a conflict it must try older ones, for every package, and raise Conflict only where no "
        "choice works. Of all choices that work take the newest versions, deciding in the order in which "
        "packages are first needed. The answer holds only packages that are needed with the versions "
        "chosen. Packages that need each other in a circle are resolved like others; today they hang the "
        "program.\n4. install_order puts every package after all that it needs, and of those that could "
        "come next the first by name. Where packages need each other in a circle it raises Circle, with "
        "the names of exactly those that are part of one."
    ),
    checks=CHECKS,
    max_turns=36,
)
