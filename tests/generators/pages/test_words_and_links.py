"""Numbers in words, and addresses between pages."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.pages import about_run, cost_methodology, links, words
from generators.pages.interval_words import span
from generators.pages.table import Column, Entry, table, value_entry
from generators.statistics.intervals import Interval
from generators.tables.sample import Unit, Value
from generators.tables.scoring import ScoreState
from runner.costs.instances import Commitment
from runner.errors import PathEscapeError
from runner.records import CheckStatus, CostBasis, Hosting, Outcome, Standing
from tests import examples

NAME = st.from_regex(r"[a-z0-9]{1,4}", fullmatch=True)
PAGES = st.lists(NAME, min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from(["/".join(parts) + ".md", "/".join(parts) + "/index.md", "index.md"])
)


@given(PAGES, st.one_of(PAGES, PAGES.map(lambda page: page.removesuffix("md") + "json")))
def test_a_relative_address_leads_to_the_target_from_any_page(origin: str, target: str) -> None:
    site = "https://example.org/portal/"
    found = urljoin(site + links.served_path(origin), links.relative(origin, target))
    assert found == site + links.served_path(target)


def test_a_fragment_stays() -> None:
    assert links.relative("a/b.md", "methodology/cost.md", "figures") == "../../methodology/cost/#figures"


@pytest.mark.parametrize("name", ["..", "a/b", "A", ""])
def test_no_page_leaves_the_site(name: str) -> None:
    with pytest.raises(PathEscapeError):
        links.task_page("hello-world", name)


def test_pages_of_the_demonstration_lie_apart() -> None:
    assert links.cell_page(examples.cell(), links.DEMONSTRATION) == (
        "demonstration/cells/model-a_endpoint/loop/fix/hello-world/index.md"
    )


@pytest.mark.parametrize(
    ("number", "unit", "written"),
    [
        (70.76, Unit.POINTS, "70.8"),
        (0.642, Unit.DOLLARS, "$0.64"),
        (120.25, Unit.DOLLARS, "$120.25"),
        (1234.5, Unit.DOLLARS, "$1,234.50"),
        (0.0084, Unit.DOLLARS, "$0.0084"),
        (0.0000004853, Unit.DOLLARS, "$0.00000049"),
        (0.0, Unit.DOLLARS, "$0.00"),
        (18_071_729.0, Unit.TOKENS, "18.07 M"),
        (9_388.0, Unit.TOKENS, "9,388"),
        (80.0, Unit.PERCENT, "80 %"),
        (99.7, Unit.PERCENT, "> 99 %"),
        (0.3, Unit.PERCENT, "< 1 %"),
        (23.04, Unit.MINUTES, "23.0"),
        (0.024, Unit.MINUTES, "0.02"),
    ],
)
def test_amounts_as_a_reader_sees_them(number: float, unit: Unit, written: str) -> None:
    assert words.amount(number, unit) == written


@given(st.floats(1e-7, 1e9))
def test_a_cost_above_zero_is_never_written_as_zero(number: float) -> None:
    assert any(digit in "123456789" for digit in words.dollars(number))


@pytest.mark.parametrize(
    ("share", "written"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.0001, "< 1 %"), (0.9999, "> 99 %"), (0.734, "73 %")],
)
def test_a_probability_is_not_rounded_to_certainty(share: float, written: str) -> None:
    assert words.percent(share) == written


def test_differences_carry_their_sign() -> None:
    assert words.signed(1.2, Unit.POINTS) == "+1.2"
    assert words.signed(-1.2, Unit.DOLLARS) == "−$1.20"
    assert words.signed(0.0, Unit.POINTS) == "±0.0"
    assert words.signed(-20.0, Unit.PERCENT) == "−20 %"
    assert words.signed(0.3, Unit.PERCENT) == "+0.3 %"


@pytest.mark.parametrize(("usd", "written"), [(3.465, "3.465"), (27.72, "27.72"), (1000.0, "1,000")])
def test_the_price_of_a_machine_is_not_rounded_to_cents(usd: float, written: str) -> None:
    assert words.hourly(usd) == written


@pytest.mark.parametrize(
    ("lower", "unit", "written"),
    [
        (0.0, Unit.DOLLARS, "95 %: at most $0.89"),
        (0.0, Unit.MINUTES, "95 %: at most 0.89"),
        (0.000266, Unit.DOLLARS, "95 %: at most $0.89"),
        (0.0, Unit.POINTS, "95 %: 0.0 to 0.9"),
        (0.2, Unit.DOLLARS, "95 %: $0.20 to $0.89"),
    ],
)
def test_an_interval_of_costs_does_not_begin_at_a_run_for_nothing(
    lower: float, unit: Unit, written: str
) -> None:
    assert span(Interval(0.8, lower, 0.89, 5), unit) == written


def test_long_lists_are_cut_with_the_number_of_the_rest() -> None:
    assert words.listing(["a", "b", "c"], 2) == "a, b and 1 more"
    assert words.listing([], 2) == ""


def test_a_figure_carries_its_n_of_m() -> None:
    assert value_entry(Value(70.76, 5, 5), Unit.POINTS).text == "70.8 (5 of 5)"
    below = value_entry(Value(70.76, 4, 5), Unit.POINTS, count_below=True)
    assert (below.text, below.note) == ("70.8", "4 of 5")


def test_an_unknown_figure_says_why_and_sorts_last() -> None:
    entry = value_entry(Value(None, 0, 5, "no trial was scored"), Unit.POINTS)
    assert entry.unknown
    assert entry.sort is None
    assert entry.note == "no trial was scored"
    assert words.with_count(Value(None, 0, 5, "no bill"), Unit.DOLLARS) == "unknown (no bill)"


def test_a_row_with_a_missing_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="1 entries for 2 columns"):
        table("pairs", [Column("a"), Column("b")], [[Entry("x")]])


def test_every_word_of_the_records_has_a_meaning_on_the_pages() -> None:
    assert set(words.BASIS_WORDS) == set(words.BASIS_ADJECTIVES) == set(CostBasis)
    assert set(words.HOSTING_WORDS) == set(Hosting)
    assert set(words.COMMITMENT_WORDS) == set(Commitment)
    assert set(words.STATE_WORDS) == set(about_run.STATE_MEANING) == set(ScoreState)
    assert set(about_run.OUTCOME_MEANING) == set(Outcome)
    assert set(about_run.STANDING_MEANING) == set(Standing)
    assert set(about_run.CHECK_MEANING) == set(CheckStatus)
    assert set(cost_methodology.BASIS_MEANING) == set(CostBasis)
