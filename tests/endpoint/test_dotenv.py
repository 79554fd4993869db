"""The file of variables: small, strict, and silent about what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.dotenv import environment_with, read_dotenv
from runner.errors import ConfigurationError


def read(folder: Path, text: str | bytes) -> dict[str, str]:
    path = folder / ".env"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_dotenv(path)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=sk-1", "sk-1"),
        ("export KEY=sk-1", "sk-1"),
        ("  KEY = sk-1  ", "sk-1"),
        ("KEY='sk 1 # no comment'", "sk 1 # no comment"),
        ('KEY="sk-1" # a comment', "sk-1"),
        ("KEY=sk-1 # a comment", "sk-1"),
        ("KEY=sk#1", "sk#1"),
        ("KEY=a=b==", "a=b=="),
        ("KEY=", ""),
        ("KEY=# only a comment", ""),
        ("KEY=$HOME\\n", "$HOME\\n"),
        ("KEY=it's", "it's"),
    ],
)
def test_a_value_is_what_it_looks_like(tmp_path: Path, line: str, value: str) -> None:
    assert read(tmp_path, f"# first\n\n{line}\r\nOTHER=1\n") == {"KEY": value, "OTHER": "1"}


def test_the_last_of_two_values_holds(tmp_path: Path) -> None:
    assert read(tmp_path, "\ufeffA=1\nA=2") == {"A": "2"}


def test_all_faults_are_named_with_their_lines_and_no_value_is_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, "GOOD=1\nsk-live-secret\nsk-live=secret\nBAD='secret\n")
    said = str(caught.value)
    assert "3 faults" in said
    assert [f"line {number}" in said for number in (1, 2, 3, 4)] == [False, True, True, True]
    assert "secret" not in said


def test_the_process_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("A=file\nB=file\n")
    assert environment_with(path, {"A": "process"}) == {"A": "process", "B": "file"}


def test_a_missing_file_adds_nothing(tmp_path: Path) -> None:
    assert environment_with(tmp_path / ".env", {"A": "1"}) == {"A": "1"}


def test_a_file_that_is_no_text_or_too_long_is_refused(tmp_path: Path) -> None:
    for text in (b"A=\xff\xfe", b"A=1\n" * 300_000):
        with pytest.raises(ConfigurationError):
            read(tmp_path, text)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        found = read(folder, text.encode("utf-8", "surrogatepass"))
    except ConfigurationError:
        return
    assert all(name.isidentifier() for name in found)
