"""Changes to patches leave patches that apply: tried on real ones with real git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judges.suites.patching import deleted_file, new_file, path_of, sections, with_lines, without

PATCH = """\
diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1 +1,2 @@
 # Calc
+It adds.
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,3 @@
 def one():
+    # here
     return 1
@@ -5 +6,2 @@ def two():
     return 2
+    # end
"""
FILES = {"README.md": "# Calc\n", "calc.py": "def one():\n    return 1\n\ndef two():\n    return 2\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with the files that the patch is for."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def applied(repository: Path, patch: str) -> None:
    """Apply ``patch`` or fail."""
    done = subprocess.run(
        ["git", "apply", "-"], cwd=repository, input=patch.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_a_patch_falls_into_one_section_for_each_file() -> None:
    parts = sections("From: somebody\n\n" + PATCH)
    assert [path_of(part) for part in parts] == ["README.md", "calc.py"]
    assert "".join(parts) == PATCH


def test_lines_are_added_to_the_first_program_and_every_hunk_still_applies(repository: Path) -> None:
    patch = with_lines(PATCH, ["first", "second"])
    applied(repository, patch)
    text = (repository / "calc.py").read_text()
    assert text.startswith("def one():\n    # here\n    first\n    second\n    return 1\n")
    assert text.endswith("return 2\n    # end\n")
    assert "@@ -5 +8,2 @@ def two():" in patch
    assert (repository / "README.md").read_text() == "# Calc\nIt adds.\n"


def test_a_patch_of_documents_alone_has_no_place_for_comments() -> None:
    with pytest.raises(ValueError, match="no line to a program"):
        with_lines(sections(PATCH)[0], ["x"])


def test_a_file_is_added_and_another_one_deleted(repository: Path) -> None:
    patch = PATCH + new_file("docs/new.md", "one\n\ntwo\n")
    patch = without(patch, lambda path: path == "README.md") + deleted_file("README.md", FILES["README.md"])
    applied(repository, patch)
    assert (repository / "docs" / "new.md").read_text() == "one\n\ntwo\n"
    assert not (repository / "README.md").exists()
    assert "# here" in (repository / "calc.py").read_text()


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20), min_size=1))
def test_a_new_file_says_how_many_lines_it_has(lines: list[str]) -> None:
    section = new_file("a.txt", "\n".join(lines) + "\n")
    assert f"@@ -0,0 +1,{len(lines)} @@" in section
    assert sum(line.startswith("+") for line in section.split("\n")[3:]) == len(lines) + 1
