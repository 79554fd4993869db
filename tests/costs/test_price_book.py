"""The price book: what rows may stand together, what files may say, and what a faulty one is told."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from runner.costs import PriceBook, RegionClass, RowPrices, ServiceTier, load_price_book
from runner.costs.price_files import MAX_BYTES
from runner.errors import ConfigurationError
from tests.costs.price_examples import DAY, GLOBAL, HAIKU, HEAD, REGIONAL, ROW, changed, row, write_book

days = st.integers(0, 60).map(lambda number: DAY + timedelta(days=number))


def message(folder: Path) -> str:
    """What a user reads about a book that cannot be loaded."""
    with pytest.raises(ConfigurationError) as caught:
        load_price_book(folder)
    return caught.value.message()


@given(days, st.integers(0, 30), days, st.none() | st.integers(0, 30))
def test_two_rows_of_one_key_and_day_are_never_accepted(
    first: date, length: int, second: date, other: int | None
) -> None:
    one = row(effective_from=first, effective_to=first + timedelta(days=length))
    two = row(
        effective_from=second,
        effective_to=None if other is None else second + timedelta(days=other),
        gap_note="Nobody looked.",
    )
    one = one.model_copy(update={"gap_note": "Nobody looked."})
    shared = any(
        one.holds_on(DAY + timedelta(days=n)) and two.holds_on(DAY + timedelta(days=n)) for n in range(95)
    )
    if not shared:
        assert len(PriceBook([one, two]).rows) == 2
        return
    with pytest.raises(ConfigurationError, match="overlaps"):
        PriceBook([one, two])


def test_rows_that_differ_in_any_part_of_the_key_may_share_days() -> None:
    book = PriceBook(
        [
            row(),
            row(region_class=RegionClass.GLOBAL),
            row(service_tier=ServiceTier.BATCH),
            row(context_above=1),
            row(model="anthropic.claude-haiku-4-6"),
            row(provider="anthropic"),
        ]
    )
    assert len(book.rows) == 6
    assert book.providers() == ("anthropic", "bedrock")
    assert book.models("bedrock") == (HAIKU, "anthropic.claude-haiku-4-6")
    assert book.models("nobody") == ()


def test_a_gap_needs_a_word() -> None:
    early = row(effective_to=date(2026, 6, 30))
    late = row(effective_from=date(2026, 7, 3))
    with pytest.raises(
        ConfigurationError, match="no price from 2026-07-01 to 2026-07-02; say why in gap_note"
    ):
        PriceBook([early, late])
    said = late.model_copy(update={"gap_note": "The list was not read."})
    assert len(PriceBook([early, said]).rows) == 2
    next_day = row(effective_from=date(2026, 7, 1))
    assert len(PriceBook([early, next_day]).rows) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"input": -0.1, "output": 1},
        {"input": 1, "output": float("nan")},
        {"input": 1, "output": float("inf")},
        {"input": 1},
        {"input": "1", "output": 1},
        {"input": True, "output": 1},
        {"input": 1, "output": 1, "cache": 1},
    ],
)
def test_a_price_is_a_known_amount_that_is_not_negative(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RowPrices.model_validate(wrong)


def test_a_row_cannot_end_before_it_begins() -> None:
    with pytest.raises(ValidationError, match="effective_to is before effective_from"):
        row(effective_to=DAY - timedelta(days=1))
    assert row(effective_to=DAY).holds_on(DAY)


def test_the_history_of_a_model_is_told_by_day_for_raw_and_short_ids() -> None:
    new = row(effective_from=date(2026, 8, 1), prices=GLOBAL)
    old = row(effective_to=date(2026, 7, 31))
    book = PriceBook([new, old, row(model="anthropic.claude-opus-5")])
    assert book.history("bedrock", HAIKU) == (old, new)
    assert book.history("bedrock", "us.anthropic.claude-haiku-4-5-20251001-v1:0") == (old, new)
    assert book.history("bedrock", "anthropic.claude-haiku-9") == ()
    assert book.history("nobody", HAIKU) == ()


def test_the_digest_changes_with_any_price_and_with_nothing_else() -> None:
    assert PriceBook([row()]).digest == PriceBook([row()]).digest
    assert PriceBook([row()]).digest != PriceBook([row(prices=GLOBAL)]).digest
    assert len(PriceBook().digest) == 64


def test_an_empty_or_missing_folder_is_an_empty_book(tmp_path: Path) -> None:
    assert load_price_book(tmp_path).rows == ()
    assert load_price_book(tmp_path / "nowhere").rows == ()


def test_a_file_becomes_rows_with_their_whole_source(tmp_path: Path) -> None:
    book = load_price_book(write_book(tmp_path))
    (only,) = book.rows
    assert only.provider == "bedrock"
    assert only.prices == REGIONAL.model_copy(update={"cache_write_1h": None})
    assert only.source == "A price list release 1, license: MIT, entry us.anthropic.claude-haiku-4-5"
    assert (only.effective_from, only.effective_to) == (DAY, None)
    assert only.currency == "USD"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("region_class: regional", "region_clas: regional", "line 14: rows.0.region_clas: is no key here"),
        ("region_class: regional", "region_clas: regional", "did you mean region_class?"),
        ("region_class: regional", "region_class: regionl", "did you mean regional?"),
        ("input: 1.1", "input: -1.1", "line 15: rows.0.prices.input: must be"),
        ("input: 1.1, ", "", "line 15: rows.0.prices.input: is missing"),
        ("input: 1.1", "input: 1.1e-6x", "rows.0.prices.input: must be a number"),
        ("input: 1.1", "input: .nan", "rows.0.prices.input: must be a number"),
        ("cache_read: 0.11", "cache_red: 0.11", "did you mean cache_read?"),
        ("source: list", "source: lists", "line 17: rows.0.source: 'lists' is not among"),
        ("source: list", "source: lists", "did you mean list?"),
        ("    source: list\n", "", "line 13: rows.0.source: is missing"),
        ("    checked_on: 2026-11-30\n", "", "rows.0.checked_on: is missing"),
        ("    effective_from: 2026-06-01\n", "", "rows.0.effective_from: is missing"),
        (
            "effective_from: 2026-06-01",
            "effective_from: soon",
            "rows.0.effective_from: must be a day",
        ),
        (
            "effective_from: 2026-06-01",
            "effective_from: 2026-06-01\n    effective_to: 2026-05-01",
            "effective_to is before",
        ),
        ("model: anthropic", "model: US Anthropic", "line 13: rows.0.model: has a form"),
        ("region_class: regional", "region_class: regional\n    region_class: global", "is given twice"),
    ],
)
def test_a_fault_of_a_row_is_named_with_line_key_and_the_nearest_name(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    text = message(write_book(tmp_path, changed(old, new)))
    assert expected in text
    assert "bedrock.yaml" in text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("schema_version: 1", "schema_version: 2", "schema_version"),
        ("currency: USD", "currency: EUR", "line 3: currency: has a form"),
        ("provider: bedrock", "provider: Bed/rock", "line 2: provider: has a form"),
        ("    license: MIT\n", "", "sources.list.license: is missing"),
        ("    title:", "    titel:", "did you mean title?"),
        ("rows:\n", "rows: {}\nmore:\n", "rows: must be a list"),
    ],
)
def test_a_fault_of_the_head_is_named(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert expected in message(write_book(tmp_path, head=changed(old, new, HEAD)))


def test_all_faults_of_all_files_stand_in_one_report(tmp_path: Path) -> None:
    write_book(
        tmp_path, changed("input: 1.1", "input: -1"), changed("output: 5.5", "output: x"), name="a.yaml"
    )
    write_book(tmp_path, changed("source: list", "source: no"), name="b.yaml")
    write_book(tmp_path, ROW, ROW, name="c.yaml")
    (tmp_path / "d.yaml").write_text("rows: [", encoding="utf-8")
    (tmp_path / "e.yaml").write_bytes(b"\xff\xfe\x00")
    text = message(tmp_path)
    for expected in (
        "rows.0.prices.input",
        "rows.1.prices.output",
        "rows.0.source",
        "d.yaml: not YAML",
        "e.yaml",
    ):
        assert expected in text
    assert "c.yaml, line 20" in text
    assert "overlaps" in text


def test_rows_of_two_files_are_held_together(tmp_path: Path) -> None:
    write_book(tmp_path, name="a.yaml")
    write_book(tmp_path, name="b.yaml")
    text = message(tmp_path)
    assert "b.yaml, line 13" in text
    assert "delete one of them" in text
    write_book(tmp_path, changed("2026-06-01", "2026-07-01"), name="b.yaml")
    assert "close the earlier one with effective_to: 2026-06-30" in message(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "just words",
        "a: &a [1]\nb: &b [*a, *a]\n",
        "--- {}\n--- {}\n",
        "!!python/object/apply:os.system ['true']",
        "rows: " + "[" * 1200,
        "",
    ],
)
def test_what_is_no_price_file_is_refused_without_a_trace(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    assert "x.yaml" in message(tmp_path)


def test_a_file_too_large_to_be_one_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "x.yaml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "is larger than 4,000,000 bytes" in message(tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8", newline="")
    assert "x.yaml" in message(tmp_path)
