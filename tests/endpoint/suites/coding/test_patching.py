"""Patches as models write them: right, nearly right, and wrong."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.suites.coding.patching import PatchFault, parse_patch, patched

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
FILES = {"a.txt": TEXT, "b.txt": "x = 1\n\n\nx = 1\n"}


def change(body: str, head: str = "--- a/a.txt\n+++ b/a.txt\n") -> dict[str, str | None]:
    return patched(FILES, head + body)


@pytest.mark.parametrize(
    "body",
    [
        "@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n",
        "@@ -99,3 +99,3 @@\n two\n-three\n+THREE\n four\n",
        "@@\n two\n-three\n+THREE\n four\n",
        "@@ def something():\n two\n-three\n+THREE\n four\n",
        "@@ -2,3 +2,3 @@\n two  \n-three\n+THREE\n four\n",
        "@@ -2,3 +2,3 @@\n WRONG\n two\n-three\n+THREE\n four\n",
        "@@ -2,3 +2,3 @@\r\n two\r\n-three\r\n+THREE\r\n four\r\n",
        "@@ -3 +3 @@\n-three\n+THREE\n\\ No newline at end of file\n",
        "@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n```\nThat is all.",
    ],
)
def test_a_change_is_made_whatever_its_line_numbers_say(body: str) -> None:
    assert change(body) == {"a.txt": TEXT.replace("three", "THREE")}


def test_fences_and_git_headers_around_a_patch_do_not_matter() -> None:
    head = "Here:\n```diff\ndiff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n"
    assert change("@@ -1,2 +1,2 @@\n-one\n+1\n two\n```\n", head)["a.txt"] == TEXT.replace("one", "1")


def test_context_stays_as_the_file_has_it() -> None:
    files = {"a.txt": "alpha  \nbeta\n"}
    found = patched(files, "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma\n")
    assert found == {"a.txt": "alpha  \ngamma\n"}


def test_several_hunks_shift_each_other() -> None:
    body = "@@ -1,2 +1,4 @@\n one\n+a\n+b\n two\n@@ -6,2 +8,1 @@\n six\n-seven\n"
    assert change(body)["a.txt"] == "one\na\nb\ntwo\nthree\nfour\nfive\nsix\n"


def test_files_are_made_deleted_and_renamed() -> None:
    made = patched(FILES, "--- /dev/null\n+++ b/new/c.txt\n@@ -0,0 +1,2 @@\n+hello\n+\n")
    assert made == {"new/c.txt": "hello\n\n"}
    gone = patched({"a": "x\n"}, "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n")
    assert gone == {"a": None}
    moved = patched({"a": "x\ny\n"}, "--- a/a\n+++ b/b\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n")
    assert moved == {"a": None, "b": "x\nz\n"}


def test_lines_are_added_to_an_empty_file() -> None:
    assert patched({"a": ""}, "--- a\n+++ a\n@@ -0,0 +1 @@\n+hi\n") == {"a": "hi\n"}


def test_one_patch_may_change_a_file_twice_and_others_too() -> None:
    diff = (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n"
        "--- a/b.txt\n+++ b/b.txt\n@@ -4 +4 @@\n \n-x = 1\n+x = 2\n"
        "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+2\n"
    )
    assert patched(FILES, diff) == {
        "a.txt": TEXT.replace("one", "1").replace("two", "2"),
        "b.txt": "x = 1\n\n\nx = 2\n",
    }


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        ("", "no unified diff"),
        ("please change one to 1", "no unified diff"),
        ("@@ -1 +1 @@\n-one\n+1\n", "before any"),
        ("--- a/a.txt\n+++ b/a.txt\n", "no hunk"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n\n", "empty"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-ten\n+10\n", "does not fit"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\none\n+10\n", "must begin with"),
        ("--- a/zzz\n+++ b/zzz\n@@ -1 +1 @@\n-one\n+1\n", "no file zzz"),
        ("--- a/b.txt\n+++ b/b.txt\n@@\n-x = 1\n+x = 2\n", "2 places"),
        ("--- a/a.txt\n+++ b/a.txt\n@@\n+zero\n", "without any context"),
        ("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n", "exists already"),
        ("--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n-one\n", "must begin with +"),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+one\n", "both sides"),
    ],
)
def test_what_does_not_fit_says_why(diff: str, said: str) -> None:
    with pytest.raises(PatchFault, match=said.replace("+", r"\+")):
        patched(FILES, diff)


def test_nothing_is_changed_where_one_hunk_does_not_fit() -> None:
    files = dict(FILES)
    with pytest.raises(PatchFault):
        patched(files, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n@@ -5 +5 @@\n-nine\n+9\n")
    assert files == FILES


LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "d = 1", "+e", "-f", "@@"]), max_size=12)


@given(LINES, LINES, st.integers(0, 3))
def test_every_diff_of_the_library_applies(before: list[str], after: list[str], context: int) -> None:
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    diff = "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/f", "b/f", n=context))
    if not diff or not before or not after:
        return
    if any(line.startswith(("---", "+++")) for line in diff.splitlines()[2:]):
        return
    assert patched({"f": old}, diff) == {"f": new}


@given(st.text(alphabet="-+@ ab\n/", max_size=120))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        found = patched(FILES, text)
    except PatchFault:
        return
    assert all(value is None or isinstance(value, str) for value in found.values())


def test_a_flood_of_hunks_is_refused_in_time() -> None:
    with pytest.raises(PatchFault):
        parse_patch("@@\n" * 200_000)
