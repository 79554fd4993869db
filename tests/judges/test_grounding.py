"""Grounding: a file counts as read when a tool's output holds a line of it, and not when it is only named."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.judges.grounding import MAX_SHOWN, ToolUse, files_read

CALC = "def add(a, b):\n    return a - b\n\n\ndef subtract(a, b):\n    return a - b\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]\n\tbare = false and more of it\n")
    (tmp_path / "pkg" / "calc.py").write_text(CALC)
    (tmp_path / "pkg" / "other.py").write_text("import math\n\nVALUE = math.pi * 2 + 1\n")
    (tmp_path / "short.txt").write_text("x = 1\n")
    return tmp_path


def read(root: Path, asked: str, output: str) -> tuple[str, ...]:
    return files_read([ToolUse(asked.replace("{root}", str(root)), output)], root)


@pytest.mark.parametrize(
    ("asked", "output"),
    [
        ("cat pkg/calc.py", CALC),
        ("/bin/bash -lc \"sed -n '1,3p' pkg/calc.py\"", "def add(a, b):\n    return a - b\n\n"),
        ("{root}/pkg/calc.py", "     1\tdef add(a, b):\n     2\t    return a - b\n"),
        ("{root}/pkg/calc.py", "1→def add(a, b):\n"),
        ("nl -ba ./pkg/calc.py", "     5  def subtract(a, b):\n"),
        ("head -n1 'pkg/calc.py' | cat", "def add(a, b):\n"),
        ("rg -n subtract", "pkg/calc.py:5:def subtract(a, b):\n"),
        ("grep -rn subtract .", "./pkg/calc.py:5:def subtract(a, b):\n"),
        ("grep -r subtract", "pkg/calc.py:def subtract(a, b):\n"),
    ],
)
def test_a_file_of_which_a_line_was_shown_is_read(asked: str, output: str, root: Path) -> None:
    assert read(root, asked, output) == ("pkg/calc.py",)


@pytest.mark.parametrize(
    ("asked", "output"),
    [
        ("ls -R", "pkg:\ncalc.py\nother.py\n"),
        ("git ls-files pkg/calc.py", "pkg/calc.py\n"),
        ("cat pkg/calc.py", ""),
        ("cat pkg/calc.py", "cat: pkg/calc.py: Permission denied\n"),
        ("wc -l pkg/calc.py", "6 pkg/calc.py\n"),
        ("echo 'I have read pkg/calc.py and it is fine'", "I have read pkg/calc.py and it is fine\n"),
        ("cat pkg/missing.py", "def add(a, b):\n"),
        ("cat ../elsewhere/calc.py", CALC),
        ("cat .git/config", "[core]\n\tbare = false and more of it\n"),
        ("python -c 'print(1)'", "def add(a, b):\n"),
        ("cat pkg/other.py", CALC),
    ],
)
def test_a_name_or_a_listing_is_no_reading(asked: str, output: str, root: Path) -> None:
    assert read(root, asked, output) == ()


def test_short_lines_tell_nothing_where_there_are_longer_ones(root: Path) -> None:
    (root / "pkg" / "long.py").write_text("x = 1\n\n\ndef a_long_name_of_a_function():\n")
    assert read(root, "cat pkg/long.py", "x = 1\n") == ()
    assert read(root, "cat short.txt", "x = 1\n") == ("short.txt",)


def test_several_files_of_one_use_are_all_named_once(root: Path) -> None:
    output = CALC + "import math\n\nVALUE = math.pi * 2 + 1\n"
    assert read(root, "cat pkg/calc.py pkg/other.py pkg/calc.py", output) == ("pkg/calc.py", "pkg/other.py")


def test_links_that_lead_out_are_no_files_of_the_checkout(root: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text("a line that is somewhere else\n")
    (root / "link.txt").symlink_to(outside)
    assert read(root, "cat link.txt", "a line that is somewhere else\n") == ()


def test_the_list_is_bounded(root: Path) -> None:
    names = [f"file-{number}.txt" for number in range(MAX_SHOWN + 20)]
    for name in names:
        (root / name).write_text(f"the one line of {name}\n")
    output = "".join(f"the one line of {name}\n" for name in names)
    assert len(read(root, "cat " + " ".join(names), output)) == MAX_SHOWN


def test_a_file_that_is_no_text_is_passed_over(root: Path) -> None:
    (root / "image.bin").write_bytes(bytes(range(256)) * 10)
    assert read(root, "cat image.bin", "nothing of it") == ()
