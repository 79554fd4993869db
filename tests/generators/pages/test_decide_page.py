"""Decide on the home page: the form, the answer in words, common answers, and the file for the browser."""

from __future__ import annotations

import inspect
import json
import random
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from generators.escape.html import Json
from generators.pages import decide, decide_data, decide_words, home
from generators.pages.decide_dictionary import CELL_KEYS, PAIR_COLUMNS, decide_dictionary
from generators.pages.decide_figures import Told
from generators.pages.rendering import Page, Renderer
from generators.pages.world import World
from generators.sources import load_worlds
from generators.tables.decision import Wish
from generators.tables.decision import decide as decided
from runner.engine.run_form import run_form
from runner.records import CheckStatus, CostBasis, ModelName
from tests import examples
from tests.generators.committed import committed_world
from tests.generators.pages.dollars import amounts
from tests.generators.pages.shown import Shown
from tests.generators.tables.made import ROOT, Made, write
from tests.generators.tables.wishes import wish

HOSTILE = 'x"><img src=x onerror="window.__hacked=1"> $(touch /tmp/hacked) `id` \'; rm'


@pytest.fixture(scope="module")
def published() -> World:
    return committed_world()


@pytest.fixture(scope="module")
def page(published: World) -> Page:
    return next(iter(home.pages(published, None)))


@pytest.fixture(scope="module")
def front(published: World) -> Told:
    board = home.front_board(published)
    assert board is not None
    return decide_data.told(published, board, "index.md")


def world_of(root: Path, made: Sequence[Made]) -> World:
    """The world of a store with these trials."""
    write(root / "results", made)
    return load_worlds(root / "results", ROOT / "datasets")[0]


def plain(sentence: Json) -> str:
    """A sentence without its links."""
    return "".join(
        part if isinstance(part, str) else str(cast(Sequence[Json], part)[0]) for part in cast(Any, sentence)
    )


def asked(told: Told, wanted: Wish) -> dict[str, Any]:
    """What the page says to a wish."""
    return cast(dict[str, Any], decide_words.view(told, decided(told.choices, wanted), wanted))


def test_the_answer_stands_before_everything_else_and_says_how_sure_it_is(page: Page) -> None:
    source = Renderer().render(page)
    text = Shown(page, source).body.text
    answer = text[text.index("Cheapest seen at 60 or more") :]
    assert "qwen3.8-27b · pi" in answer[:60]
    for said in ("66.4 (5 of 5)", "not enough data", "$2.12 (5 of 5)", "hardware-derived, 2026-09-01"):
        assert said in answer[:700]
    for heading in ("How sure", "What would change the answer", "The next run, and its price"):
        assert source.index(heading) < source.index("## All results")
    assert "invoke run --dataset mcp-gateway-registry" in answer


def test_no_word_on_the_published_five_tasks_claims_more_than_they_carry(front: Told) -> None:
    source = random.Random(3)
    for _ in range(200):
        said = asked(front, wish(source, front.choices.candidates))
        assert {line[0] for line in said["sure"]} <= {"", "not enough data"}
        assert {row[2][0] for row in said["rows"]} <= {"not enough data"}
        assert {row[7][0] for row in said["rows"]} <= {"not enough data", "the answer", "no verdict"}
        assert "claim" in said["facts"][1][2] if said["facts"] else True


def test_whoever_chooses_is_told_of_the_one_repository_and_the_judge_nobody_tried(
    front: Told, tmp_path: Path
) -> None:
    sure = [plain(line) for line in asked(front, Wish(floor=60.0))["sure"]]
    assert "All 5 tasks are of one repository: how far yours would differ is unknown." in sure
    assert any("openai.gpt-5.6-sol: never asked twice about the same work nor held" in line for line in sure)
    assert json.loads(decide_data.content(front, "swe3"))["caveats"] == [list(each) for each in front.caveats]
    assert asked(front, Wish(floor=100.0))["sure"] == []
    twice = [
        Made(f"task-{place}", points, trial=trial, checks=(status,))
        for trial in (1, 2)
        for place, (points, status) in enumerate(
            [((20, 20, 20, 20), CheckStatus.PASSED), ((9, 9, 9, 9), CheckStatus.FAILED)]
        )
    ]
    world = world_of(tmp_path, twice)
    board = home.front_board(world)
    assert board is not None
    [said] = [plain(each) for each in decide_data.told(world, board, "index.md").caveats]
    assert "never asked twice about the same work; work that passes its tests scores higher in 100 %" in said


def test_a_headline_says_reaches_only_where_the_data_show_it(published: World, front: Told) -> None:
    assert plain(asked(front, Wish(floor=60.0))["headline"]).startswith("Cheapest seen at 60 or more: ")
    board = home.front_board(
        replace(published, cells=published.select(skill="swe3", dataset="mcp-gateway-registry-v2"))
    )
    assert board is not None
    carried = decide_data.told(published, board, "index.md")
    assert plain(asked(carried, Wish(floor=60.0))["headline"]).startswith("Cheapest that reaches 60: ")
    assert plain(asked(carried, Wish(floor=78.0))["headline"]).startswith("Cheapest seen at 78 or more: ")


def test_twenty_one_tasks_do_carry_claims(published: World) -> None:
    section = decide.section(published, "index.md")
    assert section is not None
    board = next(each for each in section.boards if "v2" in each.name)
    assert any("reaches it: clears it" in entry.note for row in board.common.rows for entry in row)


def test_every_dollar_of_every_answer_stands_beside_its_basis_and_day(published: World, page: Page) -> None:
    found = amounts(Renderer().render(page))
    assert len(found) > 60
    assert [each for each in found if not each.complete] == []
    source = random.Random(4)
    for skill, dataset in sorted({(cell.identity.skill, cell.identity.dataset) for cell in published.cells}):
        board = home.front_board(replace(published, cells=published.select(skill=skill, dataset=dataset)))
        assert board is not None
        told = decide_data.told(published, board, "index.md")
        for _ in range(40):
            said = asked(told, wish(source, told.choices.candidates))
            lines = [said["headline"], *said["sure"], *said["changes"], *said["run"]]
            html = "".join(f"<p>{plain(line)}</p>" for line in lines)
            assert [each for each in amounts(html) if not each.complete] == []


def test_costs_on_different_bases_are_named_apart_and_marked(front: Told) -> None:
    (line,) = [plain(line) for line in asked(front, Wish(floor=60))["sure"] if "each: " in plain(line)]
    assert "compare in direction only" in line
    for basis in ("hardware-derived", "credits", "metered"):
        assert basis in line
    only = asked(front, Wish(floor=60, hosting=frozenset({"cloud"})))
    assert not any("each: " in plain(line) for line in only["sure"])


def test_what_would_change_the_answer_is_told_with_the_figure_at_which_it_does(front: Told) -> None:
    said = [plain(line) for line in asked(front, Wish(floor=60, hosting=frozenset({"cloud"})))["changes"]]
    assert said[0].startswith("Floor 47.12 or lower, 12.88 less: claude-haiku-4-5 · pi at $0.64 (metered")
    assert said[1].startswith("Floor above 66.52: claude-opus-5 · pi at $8.28 (metered")
    assert said[2].startswith("Budget below $3.81 (metered")
    assert said[2].endswith("nothing here fits.")
    assert said[-1].startswith("Hosting by self-hosted allowed: qwen3.8-27b · pi at $2.12")


def test_where_nothing_fits_the_nearest_and_its_distance_are_told(front: Told) -> None:
    said = asked(front, Wish(floor=99))
    assert plain(said["headline"]) == (
        "No cell here does all you ask. Nearest: claude-opus-5 · kiro-cli: 77.52 is 21.48 below the floor."
    )
    assert (said["facts"], said["rows"], said["run"], said["commands"]) == ([], [], [], [])
    assert said["summary"] == "0 of 33 cells do what you ask. A cell is one model under one harness."


def test_commands_are_ones_that_invoke_run_takes(front: Told) -> None:
    known = set(inspect.signature(run_form).parameters)
    for command in front.commands:
        invoke, run, *rest = shlex.split(command)
        flags = dict(zip(rest[::2], rest[1::2], strict=True))
        assert (invoke, run) == ("invoke", "run")
        assert {name.removeprefix("--").replace("-", "_") for name in flags} <= known
        assert (flags["--dataset"], flags["--skill"]) == ("mcp-gateway-registry", "swe3")


def test_hostile_model_names_stay_text_on_the_page_and_one_word_in_the_command(tmp_path: Path) -> None:
    cell = examples.cell("a").model_copy(update={"model": ModelName(slug="a", raw_id=HOSTILE)})
    scores = ((25, 25, 25, 25), (10, 10, 10, 10), (20, 20, 15, 15))
    world = world_of(tmp_path, [Made(f"task-{at}", each, cell=cell) for at, each in enumerate(scores)])
    page = next(iter(home.pages(world, None)))
    html = Renderer().render(page)
    assert "<img" not in html
    section = decide.section(world, "index.md")
    assert section is not None
    (command,) = cast(Sequence[str], section.answer["commands"])
    words = shlex.split(command)
    assert words[words.index("--model") + 1] == HOSTILE


def test_all_costs_unknown_gives_no_answer_and_never_zero(tmp_path: Path) -> None:
    world = world_of(tmp_path, [Made(f"task-{place}", cost=None) for place in range(3)])
    section = decide.section(world, "index.md")
    assert section is not None
    assert "at a cost that is not known, so none is the cheapest" in plain(section.answer["headline"])
    assert "$0" not in Renderer().render(next(iter(home.pages(world, None))))
    assert {entry.text for row in section.boards[0].common.rows for entry in row[1:]} == {"none here"}


def test_a_store_without_results_has_no_form(tmp_path: Path) -> None:
    world = world_of(tmp_path, [])
    assert decide.section(world, "index.md") is None
    assert "data-decide" not in Renderer().render(next(iter(home.pages(world, None))))


def test_a_mark_stands_on_costs_that_disagree(front: Told) -> None:
    marked = [at for at, flag in enumerate(front.flags) if flag is not None]
    assert marked
    said = asked(front, Wish())
    rows = {row[0][0]: row[3][3] for row in said["rows"]}
    for at in marked:
        if front.names[at] in rows:
            assert rows[front.names[at]] == list(front.flags[at] or ())


def test_the_file_of_a_board_holds_all_figures_unrounded(front: Told) -> None:
    content = json.loads(decide_data.content(front, "swe3"))
    assert content["schema"] == "decide/1"
    for cell, candidate in zip(content["cells"], front.choices.candidates, strict=True):
        assert cell["quality"]["amount"] == candidate.quality.amount
        assert cell["cost"] == candidate.cost.amount
        assert (cell["cost_n"], cell["cost_m"]) == (candidate.cost.n, candidate.cost.m)
    assert all(len(pair) == len(content["pair_columns"]) for pair in content["pairs"])
    assert len(content["pairs"]) == 33 * 32 / 2


def test_every_key_of_the_file_of_a_board_stands_in_the_dictionary(front: Told) -> None:
    data = json.loads(decide_data.content(front, "swe3"))
    assert all(list(cell) == list(CELL_KEYS) for cell in data["cells"])
    assert data["pair_columns"] == list(PAIR_COLUMNS)
    assert {len(pair) for pair in data["pairs"]} == {len(PAIR_COLUMNS)}
    assert len(decide_dictionary().rows) == len(CELL_KEYS) + len(PAIR_COLUMNS)


def test_names_tell_the_provider_only_where_model_and_harness_do_not_tell_cells_apart(tmp_path: Path) -> None:
    one, two = examples.cell("a"), examples.cell("a").model_copy(update={"provider": "elsewhere"})
    world = world_of(
        tmp_path, [Made(cell=one), Made(cell=two, basis=CostBasis.CREDITS), Made(cell=examples.cell("b"))]
    )
    board = home.front_board(world)
    assert board is not None
    assert sorted(decide_data.told(world, board, "index.md").names) == [
        "a · loop · elsewhere",
        f"a · loop · {one.provider}",
        "b · loop",
    ]
