"""Whatever is in the file, loading ends with a dataset or a DatasetError, and lines are right."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.datasets import load_dataset
from runner.datasets.document import MAX_BYTES, read_document
from runner.errors import DatasetError
from tests.datasets.samples import VALID

QUICK = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

KEYS = st.sampled_from(
    [
        "schema_version",
        "name",
        "tasks",
        "id",
        "repo",
        "ref",
        "checks",
        "command",
        "hidden_files",
        "x",
        "<<",
        "source",
    ]
)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=20,
)


def loads_or_refuses(folder: Path, data: bytes) -> None:
    path = folder / "any.yaml"
    path.write_bytes(data)
    with contextlib.suppress(DatasetError):
        load_dataset(path)


@QUICK
@given(data=st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(tmp_path: Path, data: bytes) -> None:
    loads_or_refuses(tmp_path, data)


@QUICK
@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"?#%@,\n \t\\u0<=~.1", max_size=80))
def test_random_yaml_like_text_never_raises_anything_else(tmp_path: Path, text: str) -> None:
    loads_or_refuses(tmp_path, text.encode())


@QUICK
@given(tree=TREES)
def test_random_documents_never_raise_anything_else(tmp_path: Path, tree: object) -> None:
    loads_or_refuses(tmp_path, yaml.safe_dump(tree, allow_unicode=True).encode("utf-8", "surrogatepass"))


@QUICK
@given(tree=TREES, key=st.sampled_from([line.split(":")[0] for line in VALID.splitlines()[:9]]))
def test_a_valid_file_with_one_random_value_never_raises_anything_else(
    tmp_path: Path, tree: object, key: str
) -> None:
    document = yaml.safe_load(VALID)
    document[key] = tree
    document["tasks"][0]["checks"] = tree
    loads_or_refuses(tmp_path, yaml.safe_dump(document).encode())


@QUICK
@given(
    blanks=st.lists(st.integers(0, 3), min_size=20, max_size=20),
    comment=st.sampled_from(["", "# note", "  # indented note"]),
    victim=st.sampled_from(
        ["    complexity: low", "    repo: https://example.org/team/project.git", "    ref: v2"]
    ),
)
def test_lines_are_right_however_the_file_is_laid_out(
    tmp_path: Path, blanks: list[int], comment: str, victim: str
) -> None:
    broken = victim.split(":")[0] + ": <bad>"
    lines = []
    for count, line in zip(blanks, VALID.splitlines(), strict=False):
        lines += [comment] * count + [broken if line == victim else line]
    path = tmp_path / "laid-out.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        load_dataset(path)
    assert f"laid-out.yaml:{lines.index(broken) + 1}: tasks[" in caught.value.message()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "the file is empty"),
        (b"\n# only a comment\n", "the file is empty"),
        (b"- a\n- b\n", ":1: expected keys such as 'name:', found a list"),
        (b"\njust text\n", ":2: expected keys such as 'name:', found a single value"),
        (b"{}", "the file holds no keys"),
        (b"name: a\ntitle: \xff\xfe\n", ":2: not UTF-8 text"),
        (b"name: a\ntitle: \x07\n", ":2: a control character"),
        (b"name: a\n  title: b\n", ":2: not YAML"),
        (b"name: [a\n", "not YAML"),
        (b"name: a\n---\nname: b\n", ":2: not YAML: expected a single document"),
        (b'name: "\\ud800"\n', "name"),
        (b"name: !!binary aGk=\n", ":1: name: the tag"),
        (b"name: *nobody\n", "found undefined alias"),
        (b"%YAML 9.9\n---\na: b\n", "not YAML"),
        ("name: b\u00e9b\u00e9\n".encode("utf-16"), "not UTF-8"),
    ],
)
def test_what_is_no_dataset_at_all_is_said_in_one_line(tmp_path: Path, data: bytes, expected: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_bytes(data)
    with pytest.raises(DatasetError) as caught:
        load_dataset(path)
    assert expected in caught.value.message()


def test_an_alias_bomb_is_refused_at_once() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12))
    begun = time.monotonic()
    document = read_document(f"l0: &l0 [a]\n{levels}\n".encode())
    assert time.monotonic() - begun < 30
    assert "aliases count at every use" in document.faults[0].message


def test_a_value_that_contains_itself_is_refused() -> None:
    assert "deeper than" in read_document(b"a: &a [*a]\n").faults[0].message


def test_deep_nesting_is_refused() -> None:
    assert "deeper than" in read_document(b"[" * 5000).faults[0].message
    assert "deeper than" in read_document(b"a: " + b"{a: " * 5000).faults[0].message


def test_a_huge_file_is_refused_without_reading_it_as_yaml() -> None:
    begun = time.monotonic()
    document = read_document(b"- a\n" * (MAX_BYTES // 4 + 1))
    assert time.monotonic() - begun < 30
    assert "bytes; a dataset has at most" in document.faults[0].message


def test_very_many_values_are_refused() -> None:
    assert "more than 50,000 values" in read_document(b"a: [" + b"b," * 60_000 + b"]").faults[0].message


def test_a_byte_order_mark_does_no_harm() -> None:
    document = read_document(b"\xef\xbb\xbfname: a\n")
    assert (document.root, document.faults) == ({"name": "a"}, [])


def test_an_alias_within_bounds_is_read_where_it_is_used() -> None:
    assert read_document(b"a: &x [b]\nc: *x\n").root == {"a": ["b"], "c": ["b"]}
