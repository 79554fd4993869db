"""Patterns mean the paths that a reader would expect, and no others."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.datasets.patterns import check_pattern, matches

PATHS = st.lists(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1), min_size=1)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("tests/**", "tests/a/b.py", True),
        ("tests/", "tests/a/b.py", True),
        ("tests/", "tests", False),
        ("tests/*", "tests/a/b.py", False),
        ("tests/*.py", "tests/b.py", True),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "deep/er/test_a.py", True),
        ("**/test_*.py", "latest_a.py", False),
        ("*.lock", "web/yarn.lock", True),
        ("setup.cfg", "lib/setup.cfg", True),
        ("lib/?.c", "lib/a.c", True),
        ("lib/?.c", "lib/ab.c", False),
        ("a.c", "abc", False),
        ("x[1].c", "x[1].c", True),
        ("x[1].c", "x1.c", False),
    ],
)
def test_a_pattern_means_what_a_reader_expects(pattern: str, path: str, expected: bool) -> None:
    assert check_pattern(pattern) == pattern
    assert matches(path, [pattern]) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "/etc",
        "~/x",
        "../x",
        "a/../b",
        "./a",
        "a//b",
        "a\\b",
        " a",
        "a\nb",
        "x" * 201,
        "**/a/**/b/**/c/**",
    ],
)
def test_what_cannot_name_a_path_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"must|holds"):
        check_pattern(pattern)


@given(PATHS)
def test_a_path_means_itself_and_everything_below_its_folders(parts: list[str]) -> None:
    path = "/".join(parts)
    assert matches(path, [path])
    assert matches(path, ["**"])
    assert all(matches(path, ["/".join(parts[:depth]) + "/"]) for depth in range(1, len(parts)))


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_read_without_fault(pattern: str, path: str) -> None:
    try:
        check_pattern(pattern)
    except ValueError:
        return
    assert matches(path, [pattern]) in {True, False}
    if not re.search(r"[*?/]", pattern):
        assert matches(f"some/{pattern}", [pattern])
