"""Changes are read from real patches of git, and from broken ones without harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.datasets import make_patch
from runner.datasets.changes import changes_of
from runner.datasets.rules import broken_rules
from runner.datasets.schema import RulesEntry
from tests.datasets.samples import new_repository, sealed

HUNK_TEXT = (
    "diff --git a/x.sql b/x.sql\n--- a/x.sql\n+++ b/x.sql\n"
    "@@ -1,2 +1,2 @@\n--- an old remark\n+++ a new one\n same\n"
)


@pytest.fixture
def patch(tmp_path: Path) -> bytes:
    """One change of every kind, names with spaces, quotes and umlauts among them."""
    repository = new_repository(tmp_path / "source")
    long = b"".join(b"line %d\n" % number for number in range(40))
    repository.commit(
        {
            "keep.py": b"a\nb\nc\n",
            "gone.py": b"x\ny\n",
            "old name.py": long,
            "plain.txt": b"1\n",
            "blob.bin": b"\x00\x01",
        }
    )
    checkout = sealed(repository, tmp_path / "made", "main")
    work = checkout.workspace
    (work / "keep.py").write_bytes(b"a\nB\nc\nd\n")
    (work / "gone.py").unlink()
    (work / "old name.py").rename(work / "new name.py")
    (work / 'mü"nze.txt').write_bytes(b"2\n")
    (work / "blob.bin").write_bytes(b"\x00\x02")
    (work / "empty.txt").touch()
    (work / "plain.txt").chmod(0o755)
    return make_patch(checkout)


def test_every_kind_of_change_is_told_apart(patch: bytes) -> None:
    changes = {change.path: change for change in changes_of(patch)}
    assert set(changes) == {
        "keep.py", "gone.py", "new name.py", 'mü"nze.txt', "blob.bin", "empty.txt", "plain.txt",
    }  # fmt: skip
    kept = changes["keep.py"]
    assert (kept.added, kept.removed, kept.new, kept.deleted) == (["B", "d"], ["b"], False, False)
    assert (changes["gone.py"].deleted, changes["gone.py"].removed) == (True, ["x", "y"])
    assert (changes["new name.py"].old_path, changes["new name.py"].added) == ("old name.py", [])
    assert changes["new name.py"].paths == ("old name.py", "new name.py")
    assert (changes['mü"nze.txt'].new, changes['mü"nze.txt'].added) == (True, ["2"])
    assert changes["blob.bin"].binary
    assert (changes["empty.txt"].new, changes["plain.txt"].new) == (True, False)


def test_a_line_that_looks_like_a_header_inside_a_hunk_is_a_line() -> None:
    [change] = changes_of(HUNK_TEXT.encode())
    assert (change.path, change.removed, change.added) == ("x.sql", ["-- an old remark"], ["++ a new one"])


@given(
    st.binary(max_size=400)
    | st.text(max_size=200).map(lambda text: HUNK_TEXT.encode() + text.encode("utf-8", "replace"))
)
def test_no_bytes_are_a_fault(data: bytes) -> None:
    for change in changes_of(b"diff --git a/a b/a\n" + data):
        assert isinstance(change.path, str)


@given(st.integers(0, len(HUNK_TEXT)))
def test_a_cut_patch_yields_what_is_there(length: int) -> None:
    assert len(changes_of(HUNK_TEXT.encode()[:length])) <= 1


def test_each_broken_rule_is_a_sentence_with_its_number(patch: bytes) -> None:
    rules = RulesEntry(max_changed_files=6, max_changed_lines=5, forbidden_paths=("*.bin", "gone.*"))
    assert broken_rules(rules, patch) == (
        "7 files are changed, at most 6 may be",
        "6 lines are changed, at most 5 may be",
        "files are changed that must not be: blob.bin, gone.py",
    )
    assert broken_rules(RulesEntry(max_changed_files=7, max_changed_lines=6), patch) == ()
    assert broken_rules(RulesEntry(forbidden_paths=("old*",)), patch) != ()
