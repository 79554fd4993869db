"""The parser under random answers; ``HARNESSMARK_FUZZ_MINUTES`` or ``invoke measure fuzz`` for long runs."""

from __future__ import annotations

import os

from tests.endpoint.fuzzing import fuzz

MINUTES = "HARNESSMARK_FUZZ_MINUTES"


def test_random_answers_are_read_as_what_they_are_in_any_form_and_split() -> None:
    minutes = float(os.environ.get(MINUTES, "0"))
    report = fuzz(minutes * 60, seed=1) if minutes else fuzz(1200, seed=1, most=300)
    assert report.faults == []
    assert report.tried["answers"] >= 300
    known = {"ok", "length", "incomplete", "refused", "stream_error", "rate_limited", "parse_error"}
    assert known <= report.classes.keys()
