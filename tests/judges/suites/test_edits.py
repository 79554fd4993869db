"""Edits of submissions: each does what it says, to the part it says, or refuses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from runner.judges.suites.edits import FILLER, AnyEdit, Desk, Edit, Sheet
from runner.judges.suites.patching import new_file, path_of, sections
from tests.judges.made import PATCH, task

DOCUMENTS = {"lld.md": "Change calc.py.\n"}
SHEET = Sheet("# Done\n\nThe constant in calc.py.\n", PATCH.decode(), DOCUMENTS)
PARTIAL = Sheet("# Begun\n", new_file("calc.py", "y = 3\n"))
OTHER = Sheet("# Another\n", new_file("other.py", "z = 4\n"), {"lld.md": "Another one.\n"})
EDIT: TypeAdapter[Edit] = TypeAdapter(AnyEdit)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Two tasks with a submission each, and a folder with a file to delete."""
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "old.py").write_text("gone = True\n", encoding="utf-8")
    works = {
        ("quarter-hour-default", "good"): SHEET,
        ("quarter-hour-default", "partial"): PARTIAL,
        ("fair-rounding", "good"): OTHER,
    }
    return Desk(task(), tmp_path / "judge-suites", works)


def done(desk: Desk, sheet: Sheet = SHEET, **entry: object) -> Sheet:
    """``sheet`` after the edit that is written like this in a suite."""
    return EDIT.validate_python(entry, strict=False).apply(sheet, desk)


def test_a_note_gets_text_before_or_behind_it_and_the_rest_stays(desk: Desk) -> None:
    behind = done(desk, do="note", text="More.\n")
    assert behind.note == "# Done\n\nThe constant in calc.py.\n\nMore.\n"
    assert done(desk, do="note", at="start", text="First.\n").note.startswith("First.\n\n# Done\n")
    assert (behind.patch, behind.documents) == (SHEET.patch, DOCUMENTS)


def test_marks_stand_for_the_problem_and_for_what_is_hidden(desk: Desk) -> None:
    found = done(desk, do="note", text="{problem} [{hidden}]", hidden="Hi", how="hex").note
    assert "quarters of an hour" in found
    assert found.endswith("[4869]\n")


@given(length=st.integers(1, 5000))
def test_filler_has_the_length_that_is_asked_for(length: int) -> None:
    worded: Any = EDIT.validate_python({"do": "note", "text": "End.", "filler": length})
    words = worded.words(Desk(task(), Path(), {}))
    assert words.endswith("\n\nEnd.")
    assert len(words) == length + len("\n\nEnd.")
    assert (FILLER * 100).startswith(words.removesuffix("\n\nEnd."))


def test_comments_and_new_files_go_into_the_patch_only(desk: Desk) -> None:
    commented = done(desk, do="comment", text="one\ntwo\n")
    assert "+x = 2\n+# one\n+# two\n" in commented.patch
    added = done(desk, do="file", path="docs/a.md", text="A\n")
    assert [path_of(part) for part in sections(added.patch)] == ["calc.py", "docs/a.md"]
    assert commented.note == added.note == SHEET.note


def test_a_commit_message_stands_before_the_patch(desk: Desk) -> None:
    found = done(desk, do="commit", subject="Fix", text="Reviewed.\n").patch
    assert found.startswith("From: somebody <somebody@example.org>\nSubject: [PATCH] Fix\n\nReviewed.\n---\n")
    assert found.endswith(SHEET.patch)


def test_a_deleted_file_is_not_changed_as_well(desk: Desk) -> None:
    found = done(desk, do="delete", path="calc.py", content_from="content/old.py").patch
    [section] = sections(found)
    assert "deleted file mode" in section
    assert "-gone = True" in section


def test_words_are_replaced_in_the_patch_or_everywhere(desk: Desk) -> None:
    narrow = done(desk, do="replace", old="calc.py", new="sums.py")
    assert "b/sums.py" in narrow.patch
    assert "calc.py" in narrow.note
    wide = done(desk, do="replace", old="calc.py", new="sums.py", everywhere=True)
    assert "calc.py" not in wide.patch + wide.note + wide.documents["lld.md"]
    own = {"quarter-hour-default": ["x = 2", "x = nowhere()"]}
    assert "+x = nowhere()" in done(desk, do="replace", by_task=own).patch


def test_another_submission_takes_the_place_of_all_or_of_a_part(desk: Desk) -> None:
    assert done(desk, do="other-work", tasks_on=1) == OTHER
    half = done(desk, do="other-work", quality="partial", part="patch")
    assert half == Sheet(SHEET.note, PARTIAL.patch, DOCUMENTS)
    noted = done(desk, do="other-work", tasks_on=3, part="note")
    assert noted == Sheet(OTHER.note, SHEET.patch, DOCUMENTS)


def test_a_rewritten_submission_keeps_what_is_not_given(desk: Desk) -> None:
    found = done(desk, do="rewrite", files={"a.txt": "A\n", "b.txt": "B\n"})
    assert [path_of(part) for part in sections(found.patch)] == ["a.txt", "b.txt"]
    assert found.note == SHEET.note
    assert done(desk, do="rewrite", note="Other.\n") == Sheet("Other.\n", SHEET.patch, DOCUMENTS)


def test_orders_are_turned_round_and_back(desk: Desk) -> None:
    turned = done(desk, do="reorder", what="files")
    assert turned.reversed
    assert done(desk, turned, do="reorder", what="files") == SHEET
    two = done(desk, do="file", path="b.txt", text="B\n")
    other = done(desk, two, do="reorder", what="patch")
    assert sections(other.patch) == sections(two.patch)[::-1]


@pytest.mark.parametrize(
    "entry",
    [
        {"do": "replace", "old": "never there", "new": "x"},
        {"do": "replace"},
        {"do": "leave-out", "under": "tests/"},
        {"do": "leave-out", "under": "calc.py"},
        {"do": "reorder", "what": "patch"},
        {"do": "delete", "path": "a", "content_from": "../outside"},
    ],
)
def test_what_cannot_be_done_is_refused(entry: Mapping[str, Any], desk: Desk) -> None:
    with pytest.raises(ValueError, match=r"."):
        done(desk, **entry)


def test_comments_need_a_program_and_other_work_has_to_be_there(desk: Desk) -> None:
    with pytest.raises(ValueError, match="no line to a program"):
        done(desk, Sheet("N", new_file("a.md", "A\n")), do="comment", text="x")
    with pytest.raises(KeyError):
        done(desk, do="other-work", tasks_on=1, quality="partial")


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"do": "magic"},
        {"do": "note"},
        {"do": "note", "text": "x", "surprise": 1},
        {"do": "file", "text": "x"},
    ],
)
def test_an_edit_that_is_written_wrongly_is_refused(entry: Mapping[str, object]) -> None:
    with pytest.raises(ValidationError):
        EDIT.validate_python(entry)
