"""Headings of the contract that an artifact lacks, as the record of a trial tells them."""

from __future__ import annotations

import pytest

from runner.engine.recording import headings_missing
from runner.records import DataWarning
from runner.skills import skill

WHOLE = b"# What changed\n## Files\n## Verification\n## Left open\n"


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (WHOLE, None),
        (WHOLE.replace(b"## Files\n", b""), "implementation.md: Files"),
        (b"\xff\xfe no text", "implementation.md: What changed, Files, Verification, Left open"),
    ],
)
def test_headings_that_an_artifact_lacks_are_named(note: bytes, told: str | None) -> None:
    found = headings_missing(skill("fix"), {"implementation.md": note, "patch.diff": b"--- a\n+++ b\n"})
    assert found == (() if told is None else (DataWarning(code="headings-missing", text=told),))


def test_one_warning_names_every_file_and_stays_within_the_length_of_a_warning() -> None:
    whole = skill("swe3")
    [warning] = headings_missing(whole, dict.fromkeys(whole.artifacts, b""))
    assert {part.split(":")[0] for part in warning.text.split("; ")} == {
        rule.name for rule in whole.contract.artifacts if rule.required_headings
    }
    assert len(warning.text) <= 1000
