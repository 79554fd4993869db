"""The calculator of serving economics in a real browser, and its formulas beside those of Python."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from generators.pages import serving
from generators.pages.rendering import Renderer
from generators.pages.world import World
from runner.costs.hardware import LatencyLimit, blended_rate, cheapest_level, split_rates
from runner.records import Level, Quantiles
from tests.browser.site import served
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

WEIGHT = 0.25


@pytest.fixture(scope="module")
def economics(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site with the page of all committed sweeps."""
    index = next(iter(serving.pages(world)))
    files = {asset.path: asset.content.decode() for asset in index.assets}
    files["index.md"] = "# Home\n\n[Serving](serving/index.md)\n"
    files[index.path] = Renderer().render(index)
    for name in world.rates.deployments():
        files[f"serving/{name}.md"] = f"# {name}\n"
    files["methodology/cost.md"] = "# Methodology\n"
    with served(tmp_path_factory.mktemp("serving"), files, policy=True) as url:
        yield url


@pytest.fixture
def calculator(context: BrowserContext, economics: str) -> Iterator[Page]:
    page = context.new_page()
    watch = Watch(page, economics)
    page.goto(f"{economics}serving/")
    expect(page.locator("form[data-serving]")).to_be_visible()
    yield page
    watch.assert_quiet()


def cell(page: Page, deployment: str, column: int) -> str:
    row = page.locator("table.hm-table tbody tr", has=page.get_by_role("link", name=deployment, exact=True))
    return row.locator("td").nth(column - 1).inner_text()


def test_the_readers_task_and_price_change_the_table_and_reset_brings_it_back(calculator: Page) -> None:
    assert cell(calculator, "glm-5.2", 5) == "$3.91"
    calculator.get_by_label("Tokens read").fill("1000000")
    calculator.get_by_label("Tokens written").fill("0")
    assert cell(calculator, "glm-5.2", 5) == "$0.49"
    calculator.get_by_label("Machine price").select_option("on_demand")
    assert cell(calculator, "glm-5.2", 2).split("\n") == ["$63.296", "hardware-derived, 2026-09-01"]
    assert cell(calculator, "glm-5.2", 5) == "$1.11"
    expect(calculator.locator(".hm-form__status")).to_contain_text(
        "hardware-derived at on demand prices of 2026-09-01"
    )
    calculator.get_by_role("button", name="As published").click()
    assert cell(calculator, "glm-5.2", 2).split("\n") == ["$27.72", "hardware-derived, 2026-09-01"]
    assert cell(calculator, "glm-5.2", 5) == "$3.91"
    expect(calculator.locator(".hm-form__status")).to_have_text("")


def test_an_own_price_reaches_machines_that_the_list_does_not_have(calculator: Page) -> None:
    assert cell(calculator, "minimax-m3", 5) == "not priced"
    calculator.get_by_label("USD per hour of the whole machine").fill("10")
    own = ["$10", "hardware-derived, at your price of the machine"]
    assert cell(calculator, "glm-5.2", 2).split("\n") == own
    # Its share of the machine is unknown, so a price of the whole does not help.
    assert cell(calculator, "minimax-m3", 5) == "not priced"


def test_a_limit_leaves_slow_levels_out_and_an_impossible_one_all(calculator: Page) -> None:
    assert cell(calculator, "qwen3.8-27b", 3) == "30"
    calculator.get_by_label("First token within").fill("3000")
    assert cell(calculator, "qwen3.8-27b", 3) == "7"
    calculator.get_by_label("First token within").fill("1")
    assert cell(calculator, "qwen3.8-27b", 3) == "no level"
    assert cell(calculator, "qwen3.8-27b", 5) == "not priced"
    expect(calculator.locator(".hm-form__status")).to_contain_text(": 0 of ")


def test_a_changed_table_still_sorts_by_what_it_shows(calculator: Page) -> None:
    calculator.get_by_label("Tokens read").fill("0")
    calculator.get_by_role("button", name="Task, split").click()
    values = calculator.locator("table.hm-table tbody tr td:nth-child(7)").evaluate_all(
        "cells => cells.map((cell) => cell.dataset.value)"
    )
    known = [float(value) for value in values if value]
    assert known == sorted(known)
    assert values[: len(known)] == [value for value in values if value]


def test_without_scripts_the_table_is_complete_and_the_form_stays_away(
    chromium_scriptless: BrowserContext, economics: str
) -> None:
    page = chromium_scriptless.new_page()
    page.goto(f"{economics}serving/")
    expect(page.locator("form[data-serving]")).to_be_hidden()
    assert cell(page, "glm-5.2", 5) == "$3.91"


def some(source: random.Random, low: float, high: float) -> float | None:
    """A number of the range, over all magnitudes, or one time in eight unknown."""
    return None if source.random() < 0.125 else math.exp(source.uniform(math.log(low), math.log(high)))


def python_side(case: dict[str, Any]) -> dict[str, Any]:
    """What Python makes of a case."""
    hourly, limits = case["hourly"], LatencyLimit(tpot_mean_ms=case["limits"]["tpot_ms"])
    levels = [
        Level(
            concurrency=each["concurrency"],
            prompt_tokens_per_second=each["prompt"],
            output_tokens_per_second=each["output"],
            tpot_ms_mean=each["tpot_ms"],
            ttft_ms_upper=Quantiles(),
        )
        for each in case["levels"]
    ]
    best = None if hourly is None else cheapest_level(levels, hourly, limits)
    if best is None or hourly is None:
        return {
            "concurrency": None,
            "rate": None,
            "input": None,
            "output": None,
            "blended": None,
            "split": None,
        }
    level, rate = best
    prompt, output = level.prompt_tokens_per_second or 0.0, level.output_tokens_per_second or 0.0
    split = split_rates(hourly, prompt, output, WEIGHT)
    assert rate == blended_rate(hourly, prompt, output)
    read, written = case["read"], case["written"]
    known = read is not None and written is not None
    return {
        "concurrency": level.concurrency,
        "rate": rate,
        "input": split.input_usd,
        "output": split.output_usd,
        "blended": (read + written) * rate if known else None,
        "split": read * split.input_usd + written * split.output_usd if known else None,
    }


IN_THE_BROWSER = """(cases) => cases.map((given) => {
  const a = window.Harnessmark.arithmetic;
  const best = a.cheapestLevel(given.levels, given.hourly, given.limits);
  const rates = best && a.splitRates(given.hourly, best.level.prompt, best.level.output, 0.25);
  return {
    concurrency: best && best.level.concurrency,
    rate: best && best.rate,
    input: rates && rates.input,
    output: rates && rates.output,
    blended: a.blendedTaskCost(given.read, given.written, best && best.rate),
    split: a.splitTaskCost(given.read, given.written, rates),
  };
})"""


def test_browser_and_python_agree_on_a_thousand_sweeps(calculator: Page) -> None:
    source = random.Random(20261130)
    cases = [
        {
            "hourly": some(source, 0.01, 1000),
            "read": some(source, 1, 1e9),
            "written": some(source, 1, 1e7),
            "limits": {"ttft_ms": None, "tpot_ms": some(source, 1, 100)},
            "levels": [
                {
                    "concurrency": source.randint(1, 100),
                    "prompt": some(source, 0.1, 1e5),
                    "output": some(source, 0.1, 1e4),
                    "tpot_ms": some(source, 1, 200),
                    "ttft_ms": None,
                }
                for _ in range(source.randint(0, 6))
            ],
        }
        for _ in range(1000)
    ]
    found = calculator.evaluate(IN_THE_BROWSER, cases)
    known = 0
    for case, there in zip(cases, found, strict=True):
        here = python_side(case)
        for name, value in here.items():
            if value is None:
                assert there[name] is None, (name, case)
            else:
                known += 1
                assert there[name] == pytest.approx(value, rel=1e-12), (name, case)
    assert known > 2000
