"""Decide: the browser decides as Python does, in the same words, and the home page follows what is asked."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from generators.pages import decide_data, decide_figures, decide_words, home
from generators.pages.decide_figures import Told
from generators.pages.rendering import Renderer
from generators.pages.world import World
from generators.tables.boards import build_boards
from generators.tables.choices import Choices
from generators.tables.decision import Decision, NextRun, Wish, decide
from tests.browser.site import served
from tests.browser.watch import Watch
from tests.generators.pages.dollars import amounts
from tests.generators.tables.wishes import any_cell, made_choices, wish

pytestmark = pytest.mark.browser

COMMITTED_WISHES = 650
MADE_BOARDS, MADE_WISHES = 35, 10
HOSTILE = "\"><img src=x onerror='window.__hacked=1'>${7*7}"
ASKED = """([datas, asked]) => asked.map(([at, wish]) => {
  const { decision, decideWords } = window.Harnessmark;
  return { found: decision.decide(datas[at], wish), view: decideWords.view(datas[at], wish) };
})"""
HEADLINE = "[data-part=headline]"


@pytest.fixture(scope="module")
def boards(world: World) -> list[Told]:
    """Every board of the committed results."""
    pairs = sorted({(cell.identity.skill, cell.identity.dataset) for cell in world.cells})
    return [
        decide_data.told(world, build_boards(world.select(skill=skill, dataset=dataset))[0], "index.md")
        for skill, dataset in pairs
    ]


@pytest.fixture(scope="module")
def site(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site with the home page of the committed results."""
    page = next(iter(home.pages(world, None)))
    files = {asset.path: asset.content.decode() for asset in page.assets}
    files[page.path] = Renderer().render(page)
    with served(tmp_path_factory.mktemp("decide"), files, policy=True) as url:
        yield url


@pytest.fixture
def page(context: BrowserContext, site: str) -> Iterator[Page]:
    opened = context.new_page()
    watch = Watch(opened, site)
    opened.goto(site)
    yield opened
    watch.assert_quiet()


def as_asked(wanted: Wish) -> dict[str, Any]:
    """A wish as the browser takes it."""
    return {
        "floor": wanted.floor,
        "budget": wanted.budget,
        "minutes": wanted.minutes,
        "hosting": None if wanted.hosting is None else sorted(wanted.hosting),
        "harness": wanted.harness,
        "private": wanted.private,
    }


def as_found(found: Decision) -> dict[str, Any]:
    """A decision as the browser gives it."""

    def run(each: NextRun | None) -> dict[str, Any] | None:
        if each is None:
            return None
        return {"candidates": [*each.candidates], "more": each.plan.more, "prices": [*each.prices]}

    return {
        "answer": found.answer,
        "fits": [*found.fits],
        "holds": [{"word": each.word.value, "probability": each.probability} for each in found.holds],
        "rival": found.rival,
        "nearMiss": found.near_miss,
        "why": [[why.value for why in each] for each in found.why],
        "unpriced": [*found.unpriced],
        "cheapestOfBasis": [*found.cheapest_of_basis],
        "surely": found.surely,
        "nearest": found.nearest,
        "changes": [
            {"limit": each.limit.value, "raised": each.raised, "at": each.at, "candidate": each.candidate}
            for each in found.changes
        ],
        "separate": run(found.separate),
        "settle": run(found.settle),
    }


def assert_alike(one: object, other: object, where: str) -> None:
    """Equal in shape and text, and in numbers up to a billionth of their size."""
    if isinstance(one, Mapping):
        assert isinstance(other, Mapping)
        assert set(one) == set(other), where
        for name in one:
            assert_alike(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, Sequence) and not isinstance(one, str):
        assert isinstance(other, Sequence)
        assert len(one) == len(other), where
        for place, (this, that) in enumerate(zip(one, other, strict=True)):
            assert_alike(this, that, f"{where}[{place}]")
    elif isinstance(one, float) and isinstance(other, (int, float)):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-15), where
    else:
        assert one == other, where


def told(choices: Choices) -> Told:
    """Made choices with names and addresses."""
    count = len(choices.candidates)
    return Told(
        choices,
        names=[f"cell-{at}{HOSTILE if at == 1 else ''}" for at in range(count)],
        hrefs=[f"cells/{at}/" for at in range(count)],
        flags=[("figures differ", "flag/") if at % 4 == 0 else None for at in range(count)],
        commands=[f"invoke run --model {at}" for at in range(count)],
        caveats=[["Scores are those of ", ["a judge", "judges/a/"], "."]],
    )


def test_python_and_the_browser_agree_on_a_thousand_wishes(
    page: Page, boards: list[Told], tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = random.Random(20240517)
    cell = any_cell(tmp_path_factory.mktemp("cell"))
    made = [told(made_choices(source, cell)) for _ in range(MADE_BOARDS)]
    everything = [*boards, *made]
    asked = [(source.randrange(len(boards)), None) for _ in range(COMMITTED_WISHES)]
    asked += [(len(boards) + at, None) for at in range(MADE_BOARDS) for _ in range(MADE_WISHES)]
    wishes = [(at, wish(source, everything[at].choices.candidates)) for at, _ in asked]
    assert len(wishes) >= 1000
    datas = [json.loads(decide_data.content(each, "made")) for each in everything]
    there = page.evaluate(ASKED, [datas, [[at, as_asked(wanted)] for at, wanted in wishes]])
    words: set[str] = set()
    answered = numbers = 0
    for (at, wanted), browser in zip(wishes, there, strict=True):
        found = decide(everything[at].choices, wanted)
        assert_alike(as_found(found), browser["found"], f"{at} {wanted}")
        view = decide_words.view(everything[at], found, wanted)
        assert_alike(view, browser["view"], f"{at} {wanted}")
        words.update(str(line[0]) for line in browser["view"]["sure"])
        words.update(str(row[2][0]) for row in browser["view"]["rows"])
        answered += found.answer is not None
        numbers += sum(each.probability is not None for each in found.holds)
    # The wishes are worth something only if they lead to every kind of answer.
    assert answered > 300
    assert answered < len(wishes) - 100
    assert numbers > 1000
    assert words >= {"better", "tie: take the cheaper", "not enough data", "clears it"}


def test_the_distributions_agree_with_those_of_python(page: Page) -> None:
    from scipy import stats

    source = random.Random(1)
    points = [(source.gauss(0, 6), source.randint(1, 200)) for _ in range(400)] + [(0.0, 1), (-40.0, 4)]
    found = page.evaluate(
        "(points) => points.map((p) => window.Harnessmark.decision.studentShare(...p))", points
    )
    for (t, degrees), share in zip(points, found, strict=True):
        assert share == pytest.approx(float(stats.t.cdf(t, degrees)), rel=1e-9, abs=1e-300), (t, degrees)
    shares = [(source.randint(1, 60), source.randint(1, 60), source.random()) for _ in range(400)]
    found = page.evaluate(
        "(points) => points.map((p) => window.Harnessmark.decision.betaShare(...p))", shares
    )
    for (a, b, x), share in zip(shares, found, strict=True):
        assert share == pytest.approx(float(stats.beta.cdf(x, a, b)), rel=1e-9, abs=1e-15), (a, b, x)


def test_numbers_are_written_as_python_writes_them(page: Page) -> None:
    from generators.pages import words

    source = random.Random(2)
    values = [source.uniform(0, 2000) for _ in range(200)] + [10 ** source.uniform(-7, 4) for _ in range(300)]
    values += [0.0, 0.25, 0.125, 45.25, 45.75, 2.675, 0.1, 0.05, 1234567.125, 0.5, 1.5, 1e-5, 12.345e-4]
    values += [9e-9, 3e-10]
    found = page.evaluate(
        """(values) => values.map((each) => {
          const { dollars, hourlyDollars, number, fixed, percent } = window.Harnessmark.amounts;
          const share = Math.min(each, 1);
          return [dollars(each), hourlyDollars(each), number(each), fixed(each, 1), percent(share)];
        })""",
        values,
    )
    for value, written in zip(values, found, strict=True):
        wanted = [
            words.dollars(value),
            f"${words.hourly(value)}",
            decide_figures.number(value),
            f"{value:.1f}",
            words.percent(min(value, 1.0)),
        ]
        assert written == wanted, value


def test_what_python_wrote_on_the_page_is_what_the_browser_would_write(page: Page) -> None:
    shown = "() => ['answer', 'shortlist'].map((name) => document.querySelector(`[data-${name}]`).innerText)"
    before = page.evaluate(shown)
    page.get_by_label("Budget per task").fill("1000000")
    expect(page.locator("form .hm-form__status")).to_contain_text("Cheapest seen at 60 or more")
    assert page.evaluate(shown) == before


def test_a_wish_changes_the_answer_the_list_and_the_address_and_a_reload_keeps_it(page: Page) -> None:
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 60 or more: qwen3.8-27b · pi")
    page.get_by_label("Minutes per task").fill("20")
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 60 or more: kimi-k2.7-code · pi")
    page.get_by_label("self-hosted", exact=True).uncheck()
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 60 or more: claude-sonnet-5 · pi")
    assert "minutes=20" in page.url
    assert "hosting=cloud%2Cvendor-managed" in page.url
    page.reload()
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 60 or more: claude-sonnet-5 · pi")
    assert page.locator("[data-shortlist] tbody tr").count() == 3
    page.get_by_role("button", name="Start over").click()
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 60 or more: qwen3.8-27b · pi")
    assert "?" not in page.url


def test_another_board_is_answered_from_its_own_data_with_its_claims(page: Page) -> None:
    page.get_by_label("Skill and dataset").select_option(label="swe3 on mcp-gateway-registry-v2")
    expect(page.locator(HEADLINE)).to_have_text("Cheapest that reaches 60: claude-sonnet-5-5 · strands")
    expect(page.locator("[data-part=facts]")).to_contain_text("clears it")
    expect(page.locator("[data-part=sure]")).to_contain_text("better")
    assert "board=swe3+on+mcp-gateway-registry-v2" in page.url


def test_private_code_leaves_self_hosted_models_only(page: Page) -> None:
    page.get_by_label("stays on my machines").check()
    expect(page.locator("[data-part=summary]")).to_contain_text("4 of 33 cells do what you ask.")
    hosts = page.locator("[data-shortlist] tbody tr td:nth-child(6)").all_inner_texts()
    assert set(hosts) == {"self-hosted"}


def test_a_wish_that_nothing_fulfils_says_what_is_nearest_and_hides_what_there_is_not(page: Page) -> None:
    page.get_by_label("Quality floor").fill("99")
    expect(page.locator(HEADLINE)).to_contain_text("Nearest: claude-opus-5 · kiro-cli: 77.52 is 21.48 below")
    expect(page.locator("[data-shortlist]")).to_be_hidden()
    expect(page.get_by_role("heading", name="The next run")).to_be_hidden()
    expect(page.get_by_role("heading", name="What would change the answer")).to_be_visible()


def test_everything_can_be_asked_with_the_keyboard_alone(page: Page) -> None:
    page.get_by_label("Skill and dataset").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("70")
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 70 or more: glm-5.2 · pi")
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 70 or more: glm-5.2 · pi")
    assert "hosting=self-hosted%2Cvendor-managed" in page.url
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 70 or more: claude-opus-5 · kiro-cli")


def test_every_dollar_the_browser_writes_stands_beside_its_basis_and_day(page: Page) -> None:
    for floor, budget in (("0", ""), ("60", "3"), ("70", "1"), ("99", "1"), ("40", "0.2")):
        page.get_by_label("Quality floor").fill(floor)
        page.get_by_label("Budget per task").fill(budget)
        page.wait_for_timeout(50)
        found = amounts(page.content())
        assert len(found) > 50
        assert [each for each in found if not each.complete] == []


def test_hostile_names_stay_text(page: Page, site: str) -> None:
    address = f"{site}data/decide/swe3-mcp-gateway-registry.json"
    data = page.evaluate("async (url) => (await fetch(url)).json()", address)
    for cell in data["cells"]:
        cell["name"] += HOSTILE
        cell["command"] += HOSTILE
        cell["provider"] = HOSTILE
        cell["flag"] = [HOSTILE, "flag/"]
        cell["text"] = {name: f"{text} {HOSTILE}" for name, text in cell["text"].items()}
    data["texts"] = [text + HOSTILE for text in data["texts"]]
    page.route("**/data/decide/*.json", lambda route: route.fulfill(json=data))
    page.get_by_label("Quality floor").fill("65")
    expect(page.locator(HEADLINE)).to_contain_text(HOSTILE)
    assert page.locator("[data-answer] img, [data-shortlist] img").count() == 0


def test_an_address_with_nonsense_is_read_as_far_as_it_makes_sense(page: Page, site: str) -> None:
    page.goto(f"{site}?floor=abc&budget=-3&hosting=moon&harness=%3Cimg%3E&board=none&minutes=20")
    expect(page.locator(HEADLINE)).to_contain_text("No cell here does all you ask")
    page.goto(f"{site}?floor=70&harness=nobody&board=none")
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 70 or more: glm-5.2 · pi")


def test_data_that_cannot_be_loaded_changes_nothing_and_says_so(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.goto(site)
    page.route("**/data/decide/**", lambda route: route.fulfill(status=503))
    page.get_by_label("Quality floor").fill("70")
    expect(page.locator("form .hm-form__status")).to_have_text(
        "Nothing changed: the data of this board could not be loaded."
    )
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 60 or more: qwen3.8-27b · pi")


def test_without_scripts_the_answer_and_the_common_ones_are_there_and_no_form(
    chromium_scriptless: BrowserContext, site: str
) -> None:
    page = chromium_scriptless.new_page()
    page.goto(site)
    expect(page.locator(HEADLINE)).to_have_text("Cheapest seen at 60 or more: qwen3.8-27b · pi")
    expect(page.locator("form[data-decide]")).to_be_hidden()
    expect(page.get_by_role("heading", name="Answers to common questions")).to_be_visible()
    row = page.locator('[aria-label$="swe3 on mcp-gateway-registry-v2"] tbody tr', has_text="70 or more")
    expect(row).to_contain_text("claude-sonnet-5-5 · strands")


def test_with_scripts_the_common_answers_give_way_to_the_form(page: Page) -> None:
    expect(page.locator("form[data-decide]")).to_be_visible()
    expect(page.get_by_text("Answers to common questions")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (768, 1024), (390, 844)])
def test_the_answer_stands_on_the_first_screen(
    context: BrowserContext, site: str, width: int, height: int
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(site)
    box = page.locator(HEADLINE).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
