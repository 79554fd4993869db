"""Reconciliation page: both figures of every disagreement, each class explained, every flag leads to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest

from generators.build import write_sources
from generators.pages.links import served_path
from generators.pages.money_flag import ratio_words
from generators.pages.rendering import Page
from runner.costs.disagreement import CLASSES, Reason
from runner.records import CacheSemantics, CostBasis, Hosting, SemanticsDecision, Serving, Usage
from tests import examples
from tests.generators.markup import read
from tests.generators.pages.dollars import Node, tree
from tests.generators.pages.partial import copy_datasets, copy_results
from tests.generators.pages.shown import Shown
from tests.generators.tables.made import ROOT, Made, write

PAGE = "methodology/reconciliation.md"
V1 = "mcp-gateway-registry"
AGREES = f"claude-opus-5-5_bedrock/strands/swe3/{V1}-v2"
BEYOND = f"claude-opus-4-8_bedrock/claude-code/swe2/{V1}"
NOTIONAL = f"gemma-4-31b_endpoint/claude-code/swe2/{V1}"
OPUS, OPUS_SWE3 = (f"claude-opus-5_bedrock/claude-code/{skill}/{V1}" for skill in ("swe2", "swe3"))
KIMI = f"kimi-k2.7-code_endpoint/claude-code/swe2/{V1}"
KEY = ("model", "provider", "harness", "skill", "dataset", "task", "trial")
BASE = "https://example.org/"


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources of a site with a cell that agrees, one that does not, and one with notional prices."""
    root = tmp_path_factory.mktemp("flags")
    cells = (AGREES, BEYOND, NOTIONAL, OPUS, OPUS_SWE3, KIMI)
    results = copy_results(root / "results", cells)
    write_sources(results, copy_datasets(root / "datasets"), ROOT / "site_src", root / "docs")
    return root / "docs"


def shown(docs: Path) -> Shown:
    """The page as a reader sees it."""
    source = (docs / PAGE).read_text(encoding="utf-8")
    return Shown(Page(PAGE, "", "", ""), source)


def flags(page: Path) -> Iterator[Node]:
    """The marks of a page."""
    for node in tree(page.read_text(encoding="utf-8")).walk():
        if node.tag == "a" and node.attributes.get("class") == "hm-flag":
            yield node


def flagged_pages(docs: Path) -> dict[str, list[Node]]:
    """Marks by page."""
    found = {page.relative_to(docs).as_posix(): list(flags(page)) for page in sorted(docs.rglob("*.md"))}
    return {name: marks for name, marks in found.items() if marks}


def test_a_cost_beyond_5_percent_is_marked_on_every_kind_of_page_that_shows_it(docs: Path) -> None:
    pages = set(flagged_pages(docs))
    wanted = {
        "index.md",
        "harnesses/claude-code.md",
        "harnesses/claude-code/swe2.md",
        "skills/swe2.md",
        "models/claude-opus-4-8.md",
        "models/gemma-4-31b.md",
        f"datasets/{V1}.md",
        f"cells/{BEYOND}/index.md",
        f"cells/{NOTIONAL}/index.md",
        f"tasks/{V1}/remove-faiss.md",
    }
    costs = {name for name in wanted if "$" in (docs / name).read_text(encoding="utf-8")}
    assert costs <= pages
    assert len(costs) >= 8


def test_a_cell_that_agrees_has_no_mark_anywhere(docs: Path) -> None:
    assert not list(flags(docs / "cells" / AGREES / "index.md"))
    assert not list(flags(docs / "models" / "claude-opus-5-5.md"))
    assert not list(flags(docs / "harnesses" / "strands" / "swe3.md"))


def test_a_mark_says_in_words_what_it_means_and_leads_to_its_class(docs: Path) -> None:
    ids = {
        node.attributes["id"]
        for node in tree((docs / PAGE).read_text(encoding="utf-8")).walk()
        if "id" in node.attributes
    }
    for name, marks in flagged_pages(docs).items():
        for mark in marks:
            said = mark.text.split()
            assert "≠" in said
            assert "Money figures differ by more than 5 %" in " ".join(said)
            target, _, fragment = urljoin(BASE + served_path(name), mark.attributes["href"]).partition("#")
            assert target == BASE + served_path(PAGE)
            assert fragment in ids
            title = CLASSES[Reason(fragment)].title
            assert title in " ".join(said)


def test_every_row_of_a_marked_cell_carries_the_mark_where_its_cost_is(docs: Path) -> None:
    page = docs / "cells" / BEYOND / "index.md"
    rows = [
        node
        for node in tree(page.read_text(encoding="utf-8")).walk()
        if node.tag == "tr" and any("/tasks/" in each.attributes.get("href", "") for each in node.walk())
    ]
    priced = [row for row in rows if re.search(r"\$\d", row.text)]
    assert len(priced) == 5
    assert all("≠" in row.text for row in priced)


def test_a_point_on_a_chart_says_it_too(docs: Path) -> None:
    chart = (docs / "harnesses" / "claude-code" / "swe2.md").read_text(encoding="utf-8")
    assert "≠ money figures differ" in chart
    agreeing = (docs / "harnesses" / "strands" / "swe3.md").read_text(encoding="utf-8")
    assert "≠" not in agreeing


def test_the_page_is_reached_from_the_methodology_page(docs: Path) -> None:
    source = (docs / "methodology" / "cost.md").read_text(encoding="utf-8")
    addresses = read("\n".join(line for line in source.splitlines() if line.startswith("<"))).values("href")
    start = BASE + served_path("methodology/cost.md")
    assert BASE + served_path(PAGE) in {urljoin(start, address) for address in addresses}


def test_every_class_is_explained_with_its_test_on_the_page(docs: Path) -> None:
    text = shown(docs).body.text
    for each in CLASSES.values():
        assert each.title in text
        assert each.sentence in text
        assert each.test in text


def test_the_cells_stand_with_both_figures_ratio_basis_and_day(docs: Path) -> None:
    rows = shown(docs).table("Cells: sums over the same trials")
    (row,) = [each for each in rows if each["Cell"].startswith("claude-opus-5, claude-code, swe2")]
    assert row["First figure"].startswith("$180.73 metered")
    assert row["Second figure"].startswith("$77.09 price table, 20")
    assert row["Ratio"] == "2.34"
    assert row["Agreement"] == "differ by more than 5 %"
    assert row["Class"].startswith("Subagents")


def test_a_trial_stands_with_its_class_and_the_numbers_that_decided_it(docs: Path) -> None:
    rows = shown(docs).table("Trials with two figures or an oddity")
    (row,) = [
        each
        for each in rows
        if "kimi-k2.7-code, claude-code, swe2" in each["Task"] and each["Task"].startswith("ssrf")
    ]
    assert row["Class"].startswith("Notional price")
    assert "also: Subagents" in row["Class"]
    assert "The class is likely" not in row["What was found"], "the notional price is shown, not likely"
    (faiss,) = [
        each
        for each in rows
        if "claude-opus-5, claude-code, swe2" in each["Task"] and each["Task"].startswith("remove-faiss")
    ]
    assert "a factor of 10.77" in faiss["What was found"]
    assert faiss["What was found"].endswith("The class is likely, not shown.")


def test_the_counts_are_those_of_the_export(docs: Path) -> None:
    content = json.loads((docs / "data" / "cost_comparisons.json").read_text(encoding="utf-8"))["columns"]
    counted = {row["Class"]: row["Trials"] for row in shown(docs).table("Classes of disagreement that occur")}
    found: dict[str, set[tuple[object, ...]]] = {}
    keys = zip(*(content[name] for name in KEY), strict=True)
    for key, scope, reasons in zip(keys, content["scope"], content["reasons"], strict=True):
        for reason in (reasons or "").split() if scope == "trial" else ():
            found.setdefault(CLASSES[Reason(reason)].title, set()).add(key)
    assert {title: str(len(trials)) for title, trials in found.items()} == {
        title: count for title, count in counted.items() if count != "0"
    }


def test_the_demonstration_has_a_page_of_its_own_and_never_mixes(tmp_path: Path) -> None:
    demo = Made(
        "task-a",
        None,
        cost=0.0,
        basis=CostBasis.NONE,
        cell=examples.cell("replay-careful"),
        changes={"demonstration": True, "serving": Serving(hosting=Hosting.BUILT_IN)},
    )
    real = Made("task-a", cell=examples.cell("real-one"))
    write(tmp_path / "results", [real])
    write(tmp_path / "results" / "demonstration", [demo])
    write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "none", tmp_path / "docs")
    theirs = (tmp_path / "docs" / "demonstration" / PAGE).read_text(encoding="utf-8")
    ours = (tmp_path / "docs" / PAGE).read_text(encoding="utf-8")
    assert 'class="hm-demo"' in theirs
    assert "No cost by design" in theirs
    assert "real-one" not in theirs
    assert "replay-careful" not in ours
    assert (tmp_path / "docs" / "demonstration" / "data" / "cost_comparisons.csv").is_file()


def test_a_run_of_our_own_is_marked_on_its_page_too(tmp_path: Path) -> None:
    usage = Usage(
        input_tokens=1_000,
        output_tokens=500,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cache_semantics=CacheSemantics.DISJOINT,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )
    cell = examples.cell("claude-haiku-4-5", provider="bedrock")
    raw = cell.model.model_copy(update={"raw_id": "us.anthropic.claude-haiku-4-5"})
    made = Made("task-a", cost=9.0, cell=cell.model_copy(update={"model": raw}), changes={"usage": usage})
    write(tmp_path / "results", [made])
    write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "none", tmp_path / "docs")
    (own,) = (tmp_path / "docs" / "cells").rglob("task-a/1.md")
    (mark,) = list(flags(own))
    assert "Unexplained" in mark.text


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [(0.909091, "0.909"), (1.0, "1.000"), (2.344, "2.34"), (57.84, "58"), (0.0001, "0.0001")],
)
def test_ratios_are_short_and_exact_where_it_matters(ratio: float, shown: str) -> None:
    assert ratio_words(ratio) == shown
