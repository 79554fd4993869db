"""The comparison pages say of each pair what the policy says, with the number that decided."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from generators.pages import compare, links, model
from generators.pages.compare_data import data_path
from generators.pages.pair_words import amounts_of, deciding_text, names_of, pair_words
from generators.pages.rendering import Page, Renderer
from generators.pages.world import World
from generators.sources import load_worlds
from generators.statistics.multiplicity import p_text
from generators.statistics.verdict import Word
from runner.records import CheckStatus
from tests import examples
from tests.generators.committed import committed_world
from tests.generators.pages.dollars import amounts
from tests.generators.pages.shown import Shown
from tests.generators.tables import compare_made
from tests.generators.tables.made import ROOT, Made, write

BOARD = "compare/fix_hello-world.md"
HARNESSES = "compare/harnesses.md"


def rendered(pages: Iterable[Page]) -> dict[str, Shown]:
    """Pages as a reader sees them."""
    renderer = Renderer()
    return {page.path: Shown(page, renderer.render(page)) for page in pages}


def compared(root: Path, trials: Sequence[Made]) -> dict[str, Shown]:
    """The comparison pages of a store with these trials."""
    write(root, trials)
    return rendered(compare.pages(load_worlds(root, ROOT / "datasets")[0]))


@pytest.fixture(scope="module")
def published() -> dict[str, Shown]:
    """The pages of comparisons and of models of the committed results."""
    world = committed_world()
    return rendered([*compare.pages(world), *model.pages(world)])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The made world."""
    return compare_made.world(tmp_path_factory.mktemp("compare"))


@pytest.fixture(scope="module")
def shown(world: World) -> dict[str, Shown]:
    """The comparison pages of the made world."""
    return rendered(compare.pages(world))


@pytest.fixture(scope="module")
def data(shown: dict[str, Shown]) -> dict[str, Any]:
    """The file that the browser reads."""
    (asset,) = shown["compare.md"].page.assets
    found: dict[str, Any] = json.loads(asset.content)
    return found


def pair_of(data: dict[str, Any], one: str, other: str) -> dict[str, Any]:
    """A pair of the data by the names of its cells."""
    names = [cell["name"] for cell in data["cells"]]
    wanted = {names.index(one), names.index(other)}
    found: dict[str, Any] = next(pair for pair in data["pairs"] if set(pair["cells"]) == wanted)
    return found


def test_the_data_hold_every_pair_with_its_numbers_and_its_words(world: World, data: dict[str, Any]) -> None:
    (table,) = world.pair_tables
    names = names_of(table)
    assert len(data["pairs"]) == len(table.compared) == 10
    for pair, each in zip(data["pairs"], table.compared, strict=True):
        said = pair_words(each, table.kind, names, amounts_of(each))
        assert each.verdict is not None
        assert data["texts"][pair["verdict"]] == said.verdict
        assert [data["texts"][text] for text, _ in pair["facts"]] == [fact.text for fact in said.facts]
        assert pair["numbers"]["deciding_number"] == each.verdict.deciding_number
        assert pair["numbers"]["word"] == each.verdict.word.value
        assert pair["numbers"]["p"] == each.verdict.evidence.p_value
        assert deciding_text(each.verdict) == said.facts[0].text


def test_the_verdict_names_whom_it_favours(data: dict[str, Any]) -> None:
    better = pair_of(data, "strong · loop", "weak · loop")
    assert data["texts"][better["verdict"]] == "better: strong · loop"
    tie = pair_of(data, "strong · loop", "twin · loop")
    assert data["texts"][tie["verdict"]] == "tie: take the cheaper: twin · loop"
    short = pair_of(data, "strong · pi", "weak · loop")
    assert data["texts"][short["verdict"]] == "not enough data"
    assert data["texts"][short["facts"][0][0]] == "4 common tasks, at least 6 needed"
    assert (better["good"], tie["good"], short["good"]) == (True, True, False)


def test_costs_across_bases_carry_the_mark_and_no_price_of_the_next_run(data: dict[str, Any]) -> None:
    pair = pair_of(data, "strong · loop", "strong · pi")
    cost = pair["measures"][1]
    assert "≠ bases differ: metered" in data["texts"][cost[3][1]]
    assert pair["amounts"]["cost"]["across_bases"]
    assert [data["texts"][text] for text in pair["facts"][3]] == [
        "not priced",
        "costs rest on different bases",
    ]
    same = pair_of(data, "strong · loop", "weak · loop")
    assert not same["amounts"]["cost"]["across_bases"]
    assert "≠" not in data["texts"][same["measures"][1][3][1]]


def test_missing_trials_are_counted_and_bounded(data: dict[str, Any]) -> None:
    open_pair = pair_of(data, "strong · loop", "weak · loop")["facts"][5]
    assert data["texts"][open_pair[0]] == "1 trial"
    assert "the difference may be +" in data["texts"][open_pair[1]]
    assert data["texts"][pair_of(data, "strong · loop", "twin · loop")["facts"][5][0]] == "no trial"


def test_tasks_without_a_result_say_why(data: dict[str, Any]) -> None:
    place = [task["name"] for task in data["tasks"]].index("task-z")
    texts = {cell["name"]: cell["quality_texts"][place] for cell in data["cells"]}
    assert texts["weak · loop"] == "never recorded"
    assert texts["strong · loop"] == "no trial"


def test_the_static_page_shows_the_first_pair_task_by_task(
    shown: dict[str, Shown], data: dict[str, Any]
) -> None:
    page = shown["compare.md"]
    first, second = (data["cells"][place] for place in data["pairs"][0]["cells"])
    (label,) = [label for label in page.labels() if label.startswith("Task by task. Costs: ")]
    rows = page.table(label)
    assert [row["Task"] for row in rows] == [task["name"] for task in data["tasks"]]
    assert [row["First"] for row in rows] == first["quality_texts"]
    assert [row["Cost, second"] for row in rows] == second["cost_texts"]
    assert data["texts"][data["pairs"][0]["verdict"]] in page.body.text
    assert page.source.count("<select") == 2


def test_the_full_table_holds_every_pair_once(world: World, shown: dict[str, Shown]) -> None:
    (table,) = world.pair_tables
    page = shown[BOARD]
    assert page.headings[1:] == [
        "The same model",
        "loop with different models",
        "pi with different models",
        "Different models and harnesses",
    ]
    rows = [row for _, found in page.tables() for row in found]
    assert len(rows) == len({row["Pair"] for row in rows}) == len(table.compared)
    said = {row["Pair"]: row["Verdict"] for row in rows}
    names = names_of(table)
    for each in table.compared:
        title = f"{names[each.first.key]} against {names[each.second.key]}"
        assert each.verdict is not None
        assert said[title].startswith(each.verdict.word.value)
    counts = page.facts()
    numbers = [int(counts[word]) for word in ("Better", "Tie", "Not enough data", "Not comparable")]
    assert numbers == [table.count(word) for word in (*Word, None)]


def test_a_pair_leads_to_its_comparison(world: World, shown: dict[str, Shown]) -> None:
    (table,) = world.pair_tables
    each = table.compared[0]
    address = links.pair(BOARD, each.first.identity, each.second.identity)
    assert address.startswith("../?first=")
    assert address.replace("&", "&amp;") in shown[BOARD].source


def test_every_dollar_has_its_basis_and_day(shown: dict[str, Shown]) -> None:
    looked_at = 0
    for page in shown.values():
        for amount in amounts(page.source):
            looked_at += 1
            assert amount.complete, (page.page.path, amount.written, amount.near[:300])
    assert looked_at > 40


def test_harnesses_have_the_published_tally_and_our_verdicts(shown: dict[str, Shown]) -> None:
    page = shown[HARNESSES]
    tally = {
        row["Measure"]: row for row in page.table("Tally of loop and pi by the published rule, and ours")
    }
    assert (tally["Score"]["loop ahead"], tally["Score"]["pi ahead"], tally["Score"]["Tie"]) == (
        "0",
        "0",
        "2",
    )
    assert tally["Score"]["Our verdicts on the same data"].count("1 ") == 2
    assert tally["Cost per task"]["Not comparable"] == "1"
    rows = {row["Model"].split()[0]: row for row in page.table("Cost per task: loop and pi")}
    assert rows["twin"]["Our verdict"].startswith("better: pi")
    assert rows["strong"]["Our verdict"].startswith("no verdict costs rest on different bases")


def test_a_store_without_two_cells_compares_nothing(tmp_path: Path) -> None:
    pages = compared(tmp_path, [Made("task-a")])
    assert "No two cells have results" in pages["compare.md"].body.text
    assert pages["compare.md"].page.assets == ()
    assert BOARD not in pages


def test_checks_are_compared_where_nobody_judged(tmp_path: Path) -> None:
    made = compare_made.checked(compare_made.cell("all"), 8) + compare_made.checked(
        compare_made.cell("few"), 1
    )
    pages = compared(tmp_path, made)
    assert "compared by resolved" in pages[BOARD].body.text
    (row,) = pages[BOARD].table("loop with different models: fix on hello-world")
    assert row["Verdict"] == "better: all · loop"
    assert row["Difference, percent"].startswith("+88 %")


def test_cells_alike_in_model_and_harness_are_told_apart_by_provider(tmp_path: Path) -> None:
    near, far = examples.cell("model-c"), examples.cell("model-c", provider="bedrock")
    made = compare_made.trials(near, (20, 20, 20, 20), 1.0)
    made += compare_made.trials(far, (20, 20, 20, 20), 1.0, shift=1)
    pages = compared(tmp_path, made)
    (row,) = pages[BOARD].table("The same model: fix on hello-world")
    assert row["Pair"] == "model-c · loop · bedrock against model-c · loop · endpoint"


def test_a_failed_check_is_a_zero_and_no_gap(tmp_path: Path) -> None:
    made = [
        Made(
            task,
            None,
            cell=compare_made.cell(name),
            checks=(CheckStatus.PASSED if name == "all" else CheckStatus.FAILED,),
        )
        for name in ("all", "none")
        for task in compare_made.TASKS
    ]
    pages = compared(tmp_path, made)
    (asset,) = pages["compare.md"].page.assets
    found = json.loads(asset.content)
    assert {tuple(cell["quality"]) for cell in found["cells"]} == {(100.0,) * 8, (0.0,) * 8}
    assert found["quality"] == "check"


def test_the_published_tally_and_choices_stand_beside_not_enough_data(published: dict[str, Shown]) -> None:
    page = published[HARNESSES]
    assert page.headings[1] == "claude-code and pi: swe3 on mcp-gateway-registry"
    said = "Score by the published rule: pi 6, claude-code 5, 1 tie."
    assert f"{said} Our verdicts on the same data: all 12 not enough data." in page.body.text
    label = "Tally of claude-code and pi by the published rule, and ours"
    tally = {row["Measure"]: row for row in page.table(label)}
    numbers = {
        name: tuple(int(row[head]) for head in ("claude-code ahead", "pi ahead", "Tie"))
        for name, row in tally.items()
    }
    assert numbers == {
        "Score": (5, 6, 1),
        "Cost per task": (0, 12, 0),
        "Tokens per task": (0, 12, 0),
        "Minutes per task": (2, 10, 0),
    }
    assert {row["Our verdicts on the same data"] for row in tally.values()} == {"all 12 not enough data"}
    choices = {
        row["Model"]: row for row in page.table("Best harness by the published rule: claude-code and pi")
    }
    for name, decided in (
        ("claude-opus-4-8", "cost per point"),
        ("claude-sonnet-5", "cost per point"),
        ("claude-haiku-4-5", "dominates"),
    ):
        assert choices[name]["Chosen by the published rule"] == "pi"
        assert choices[name]["Decided by"] == decided
        assert choices[name]["Our verdict on the scores"].startswith("not enough data")
    assert "60.7 (5 of 5) at $4.60" in choices["claude-opus-4-8"]["Its score and cost"]
    assert "$0.0758 a point" in choices["claude-opus-4-8"]["Its score and cost"]


def test_a_model_page_has_its_harnesses_against_each_other(published: dict[str, Shown]) -> None:
    page = published["models/claude-haiku-4-5.md"]
    assert "The same model under its harnesses" in page.headings
    (row,) = page.table("claude-haiku-4-5 under its harnesses: swe3 on mcp-gateway-registry-v2")
    everywhere = published["compare/swe3_mcp-gateway-registry-v2.md"]
    assert row in everywhere.table("The same model: swe3 on mcp-gateway-registry-v2")
    assert row["Common tasks"] == "20 of 21"
    assert re.match(r"−\$0\.16 95 %: −\$0\.\d\d to [−+]\$[\d.]+; metered, ", row["Cost per task, difference"])


def test_small_p_values_are_never_zero() -> None:
    assert (p_text(0.0004), p_text(0.0123), p_text(1.0)) == ("< 0.001", "0.012", "1.000")
    assert (p_text(0.04997), p_text(0.05), p_text(0.0502)) == ("0.0499", "0.050", "0.050")


def test_every_table_has_a_file_of_its_own(shown: dict[str, Shown], world: World) -> None:
    paths = [asset.path for asset in shown["compare.md"].page.assets]
    assert paths == [data_path(table) for table in world.pair_tables]
