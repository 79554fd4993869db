"""Proposals: the diff that a reader reviews, and that what is written is a book again."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.costs import PriceQuestion, RegionClass, RowPrices, ServiceTier, load_price_book
from runner.costs.price_candidate import Candidate
from runner.costs.price_files import PriceSource
from runner.costs.price_proposal import Proposal, propose
from runner.errors import ConfigurationError
from tests.costs.price_examples import HAIKU, HEAD, REGIONAL, ROW, changed, write_book

TODAY = date(2026, 11, 30)
SOURCE = PriceSource(
    title="Another list", version="release 2: new", url="https://example.org/x", license="MIT"
)
KEPT = REGIONAL.model_copy(update={"cache_write_1h": None})

ONE_LINE = (
    "  - {model: anthropic.claude-haiku-4-5, region_class: regional, effective_from: 2026-06-01, "
    "checked_on: 2026-11-30, source: list, prices: {input: 1.1, output: 5.5}}\n"
)
DIFF = """\
--- a/bedrock.yaml
+++ b/bedrock.yaml
@@ -3,6 +3,11 @@
 currency: USD
{blank}
 sources:
+  other-2:
+    title: Another list
+    version: "release 2: new"
+    url: "https://example.org/x"
+    license: MIT
   list:
     title: A price list
     version: release 1
@@ -14,6 +19,15 @@
     region_class: regional
     prices: {input: 1.1, output: 5.5, cache_read: 0.11, cache_write: 1.375}
     effective_from: 2026-06-01
+    effective_to: 2026-11-29
     source: list
     entry: us.anthropic.claude-haiku-4-5
     checked_on: 2026-11-30
+  - model: anthropic.claude-haiku-4-5
+    region_class: regional
+    prices: {input: 0.9, output: 4.5, cache_read: 0.09, cache_write: 1.125}
+    effective_from: 2026-11-30
+    source: other-2
+    entry: us.anthropic.claude-haiku-4-5
+    checked_on: 2026-11-30
+    note: Holds since it was read; the source does not say from which day.
""".replace("{blank}", " ")


def candidate(**changes: Any) -> Candidate:
    """What another list says of the model of the example row."""
    values: dict[str, Any] = {
        "provider": "bedrock",
        "model": HAIKU,
        "region_class": RegionClass.REGIONAL,
        "service_tier": ServiceTier.STANDARD,
        "context_above": 0,
        "prices": RowPrices(input=0.9, output=4.5, cache_read=0.09, cache_write=1.125),
        "entry": "us.anthropic.claude-haiku-4-5",
    }
    return Candidate(**{**values, **changes})


def proposed(folder: Path, *candidates: Candidate, today: date = TODAY) -> Proposal:
    """What the candidates would change."""
    return propose(folder, candidates, SOURCE, "other-2", today)


def test_a_changed_price_ends_the_old_row_and_opens_a_new_one(tmp_path: Path) -> None:
    proposal = proposed(write_book(tmp_path), candidate())
    assert proposal.outcomes == {"changed prices": 1}
    assert proposal.diff() == DIFF


def test_nothing_is_written_until_it_is_asked_for_and_then_the_book_answers_anew(tmp_path: Path) -> None:
    folder = write_book(tmp_path)
    proposal = proposed(folder, candidate())
    assert (folder / "bedrock.yaml").read_text(encoding="utf-8") == HEAD + ROW
    proposal.write(folder)
    text = (folder / "bedrock.yaml").read_text(encoding="utf-8")
    assert "# The rows follow.\n" in text
    book = load_price_book(folder)
    for day, price in [(date(2026, 11, 29), 1.1), (TODAY, 0.9)]:
        answer = book.lookup(PriceQuestion("bedrock", HAIKU, day))
        assert answer.row is not None
        assert answer.row.prices.input == price
    assert proposed(folder, candidate()).diff() == ""


def test_the_diff_is_one_that_git_applies(tmp_path: Path) -> None:
    folder = write_book(tmp_path / "book")
    proposal = proposed(folder, candidate(), candidate(provider="xai", model="grok-9", entry="xai/grok-9"))
    assert proposal.changed == ("bedrock.yaml", "xai.yaml")
    subprocess.run(
        ["git", "apply", "-"], cwd=folder, input=proposal.diff(), text=True, check=True, capture_output=True
    )
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == dict(proposal.after)


def test_a_new_provider_gets_a_file_that_loads(tmp_path: Path) -> None:
    proposal = proposed(tmp_path / "empty", candidate(provider="xai", region_class=RegionClass.ANY))
    assert proposal.diff().startswith("--- /dev/null\n+++ b/xai.yaml\n")
    proposal.write(tmp_path / "empty")
    (only,) = load_price_book(tmp_path / "empty").rows
    assert only.source == "Another list release 2: new, https://example.org/x, license: MIT, entry " + (
        "us.anthropic.claude-haiku-4-5"
    )


@pytest.mark.parametrize(
    "prices",
    [KEPT, RowPrices(input=1.1, output=5.5), RowPrices(input=1.1, output=5.5, cache_read=0.11)],
)
def test_a_list_that_says_the_same_or_less_changes_nothing(tmp_path: Path, prices: RowPrices) -> None:
    proposal = proposed(write_book(tmp_path), candidate(prices=prices))
    assert proposal.diff() == ""
    assert proposal.outcomes == {"unchanged": 1}


def test_a_class_that_was_unknown_is_a_change(tmp_path: Path) -> None:
    more = KEPT.model_copy(update={"cache_write_1h": 2.2})
    assert proposed(write_book(tmp_path), candidate(prices=more)).outcomes == {"changed prices": 1}


@pytest.mark.parametrize(
    ("text", "today", "expected"),
    [
        (ROW, date(2026, 6, 1), "a row of the book starts on that day or later"),
        (ROW, date(2026, 5, 1), "a row of the book starts on that day or later"),
        (
            changed("effective_from: 2026-06-01", "effective_from: 2026-06-01\n    effective_to: 2026-12-31"),
            TODAY,
            "the row of that day has its last day already",
        ),
    ],
)
def test_what_would_contradict_a_row_is_not_proposed(
    tmp_path: Path, text: str, today: date, expected: str
) -> None:
    proposal = proposed(write_book(tmp_path, text), candidate(), today=today)
    assert proposal.diff() == ""
    assert proposal.outcomes == {f"not proposed: {expected}": 1}


def test_a_row_after_days_without_one_says_so(tmp_path: Path) -> None:
    ended = changed("effective_from: 2026-06-01", "effective_from: 2026-06-01\n    effective_to: 2026-10-31")
    diff = proposed(write_book(tmp_path, ended), candidate()).diff()
    assert "+    gap_note: No row was kept for the days between." in diff
    next_day = proposed(write_book(tmp_path, ended), candidate(), today=date(2026, 11, 1))
    assert "gap_note" not in next_day.diff()


def test_prices_with_days_of_their_own_follow_each_other(tmp_path: Path) -> None:
    first, later = date(2026, 7, 1), date(2026, 8, 1)
    proposal = proposed(
        write_book(tmp_path),
        candidate(effective_from=first, effective_to=date(2026, 7, 31)),
        candidate(effective_from=later, prices=RowPrices(input=0.5, output=2)),
        candidate(effective_from=date(2026, 8, 5), prices=RowPrices(input=0.4, output=2)),
    )
    assert proposal.outcomes == {
        "changed prices": 1,
        "new rows": 1,
        "not proposed: another price of the list holds on that day": 1,
    }
    proposal.write(tmp_path)
    rows = load_price_book(tmp_path).history("bedrock", HAIKU)
    assert [(row.prices.input, row.effective_from) for row in rows] == [
        (1.1, date(2026, 6, 1)),
        (0.9, first),
        (0.5, later),
    ]
    assert (
        "note"
        not in proposal.after["bedrock.yaml"].split("effective_from: 2026-07-01")[1].split("- model")[0]
    )


def test_a_new_model_goes_to_the_file_of_its_maker(tmp_path: Path) -> None:
    write_book(tmp_path, name="anthropic.yaml")
    write_book(tmp_path, changed(HAIKU, "openai.gpt-5.5"), name="openai.yaml")
    for model, file in [("anthropic.claude-9", "anthropic.yaml"), ("openai.gpt-9", "openai.yaml")]:
        assert proposed(tmp_path, candidate(model=model)).changed == (file,)
    assert proposed(tmp_path, candidate(model="maker.x")).changed == ("openai.yaml",)


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        (HEAD, ONE_LINE, "cannot end the row"),
        (HEAD, ONE_LINE.replace("haiku", "opus") + "schema_version: 1\n", "rows must be the last key"),
        (
            HEAD.replace("  list:", "  other-2:"),
            ROW.replace("source: list", "source: other-2"),
            "another source named other-2",
        ),
    ],
)
def test_a_file_that_cannot_be_edited_is_named(tmp_path: Path, head: str, row: str, expected: str) -> None:
    if "schema_version" in row:
        head = head.replace("schema_version: 1\n", "")
    with pytest.raises(ConfigurationError) as caught:
        proposed(write_book(tmp_path, row, head=head), candidate())
    assert expected in caught.value.message()
    assert "bedrock.yaml" in caught.value.message()


prices = st.floats(0, 1000).map(lambda price: round(price, 6))
made = st.builds(
    RowPrices, input=prices, output=prices, cache_read=st.none() | prices, cache_write=st.none() | prices
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(
    st.lists(
        st.builds(
            candidate,
            model=st.sampled_from([HAIKU, "anthropic.x-1", "zai.glm-9", "1.5", "null"]),
            provider=st.sampled_from(["bedrock", "zai", "no"]),
            region_class=st.sampled_from(RegionClass),
            context_above=st.sampled_from([0, 200_000]),
            prices=made,
            entry=st.text(min_size=1, max_size=12) | st.just("x\ud800"),
        ),
        max_size=5,
        unique_by=lambda each: each.key,
    )
)
def test_whatever_is_proposed_can_be_written_and_then_says_it(
    tmp_path: Path, candidates: list[Candidate]
) -> None:
    folder = write_book(tmp_path)
    proposal = proposed(folder, *candidates)
    proposal.write(folder)
    book = load_price_book(folder)
    for each in candidates:
        rows = [row for row in book.rows if row.key == each.key and row.holds_on(TODAY)]
        known = each.prices.model_dump(exclude_none=True)
        assert {name: rows[0].prices.model_dump()[name] for name in known} == known
    for name in proposal.changed:
        (folder / name).unlink()
