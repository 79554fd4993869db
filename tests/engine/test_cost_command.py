"""``invoke cost explain``: five imported trials of different bases, each figure found again or named."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from runner.costs.price_choice import PriceChoice, read_price_choice
from runner.engine.cost_command import cost_command, find_trial
from runner.engine.places import Places
from runner.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
PLACES = Places(ROOT)
USUAL = PriceChoice()
V1, V2 = "swe3/mcp-gateway-registry", "swe3/mcp-gateway-registry-v2"
METERED = f"claude-opus-5_bedrock/claude-code/{V1}/remove-faiss/1"
STRANDS = f"claude-haiku-4-5_bedrock/strands/{V2}/configurable-ui-title/1"
CREDITS = f"claude-opus-5_kiro/kiro-cli/{V1}/remove-faiss/1"
NOTIONAL = f"glm-5.2_endpoint/claude-code/{V1}/remove-faiss/1"
HARDWARE = f"glm-5.2_endpoint/pi/{V1}/remove-faiss/1"


@cache
def explained(trial: str, choice: PriceChoice = USUAL) -> list[str]:
    """Every line that the command prints."""
    lines: list[str] = []
    assert cost_command(PLACES, lines.append, "explain", trial, choice) == 0
    return [line.strip() for line in lines]


def part(lines: list[str], begin: str, end: str) -> list[str]:
    """The lines between two titles."""
    return lines[lines.index(begin) + 1 : lines.index(end)]


@pytest.mark.parametrize(
    ("trial", "way"),
    [(METERED, "bill"), (STRANDS, "price book"), (CREDITS, "credits"), (NOTIONAL, "notional price")],
)
def test_the_published_figure_is_found_again_by_the_way_that_made_it(trial: str, way: str) -> None:
    found = explained(trial)
    published = found[found.index("published figure") :]
    assert published[1].startswith("the source publishes $")
    assert any(line.startswith(f"reproduced by: {way}") for line in published), published


def test_a_self_hosted_trial_names_the_class_of_its_notional_price() -> None:
    found = explained(NOTIONAL)
    assert any(line.startswith("class: Notional price") for line in found)
    headline = part(found, "headline", "how far the ways agree")
    assert headline[0] == "$24.260747; basis hardware-derived, prices of 2026-09-01"


def test_the_hardware_derivation_shows_machine_commitment_share_level_and_each_product() -> None:
    found = "\n".join(explained(HARDWARE))
    for text in (
        "deployment glm-5.2",
        "on p5en.48xlarge",
        "commit_3yr: 27.72 USD an hour x share 1 of the machine = 27.72 USD an hour",
        "level: concurrency 5, the cheapest of the sweep: 15,678.55 prompt + 188.85 output tokens a second",
        "27.72 / 3600 / (15,678.55 + 188.85) = 4.852717e-07 USD a token",
        "= 1.874169e-06; input: 0.25 x output = 4.685423e-07 USD a token",
    ):
        assert text in found


def test_the_price_lookup_stands_step_by_step_with_every_product_and_its_sum() -> None:
    found = explained(STRANDS)
    assert "the prefix us. says regional: anthropic.claude-haiku-4-5-20251001-v1:0" in found
    products = [line for line in found if " / 1,000,000 = $" in line]
    assert [line.split(":")[0] for line in products] == ["fresh input", "output", "cache read", "cache write"]
    total = sum(float(line.rsplit("$", 1)[1].replace(",", "")) for line in products)
    [said] = [line for line in found if "sum, to six decimals" in line]
    assert total == pytest.approx(float(said.rsplit("$", 1)[1]), abs=2e-6)


def test_every_trial_says_its_rule_and_how_far_the_ways_agree() -> None:
    for trial in (METERED, CREDITS, HARDWARE):
        found = explained(trial)
        assert any(line.startswith("rule: A known metered amount comes first") for line in found)
        assert len(part(found, "how far the ways agree", "published figure")) >= 1


def test_other_prices_change_the_headline_and_are_told_first() -> None:
    found = explained(CREDITS, read_price_choice(usd_per_credit="0.02"))
    assert found[0].startswith("Costs are worked out at other prices")
    usual = explained(NOTIONAL, read_price_choice(commitment="on_demand"))
    assert any("on_demand: 63.296 USD an hour" in line for line in usual)


@pytest.mark.parametrize(
    ("plan", "day", "amount", "said"),
    [
        ("pro", None, "$4.742800", "plan pro of kiro: 20 USD a month for 1,000 credits, all of them used"),
        ("power:overage", None, "$9.485600", "plan power of kiro: 200 USD a month for 10,000 credits, for"),
        ("pro", "2025-01-01", "not priced: ", "no price of a credit of plan pro on 2025-01-01 is known"),
    ],
)
def test_credits_are_priced_by_a_plan_of_the_day(plan: str, day: str | None, amount: str, said: str) -> None:
    choice = read_price_choice(price_date=day, credit_plan=plan, datasets=ROOT / "datasets")
    headline = part(explained(CREDITS, choice), "headline", "how far the ways agree")
    assert headline[0].startswith(f"{amount}" if day else f"{amount}; basis credits, prices of 2026-08-15")
    assert said in headline[1]


def test_what_the_credits_cost_by_each_known_plan_stands_beside_and_a_plan_moves_no_other_cost() -> None:
    lines = explained(CREDITS)
    assert sum(line.startswith("plan p") and "at 0.02 $4.742800" in line for line in lines) == 3
    chosen = read_price_choice(credit_plan="pro", datasets=ROOT / "datasets")
    assert part(explained(METERED, chosen), "headline", "how far the ways agree") == part(
        explained(METERED), "headline", "how far the ways agree"
    )


def test_a_list_found_from_the_dollars_is_not_called_a_second_way_with_a_ratio_of_one() -> None:
    [line] = [
        line for line in explained(NOTIONAL) if "tokens x the agent's default" in line and " / " in line[60:]
    ]
    assert line.endswith("; the list was found from such dollars, so this confirms nothing")
    assert not any(line.endswith("only one way is known") and ": 1.0" in line for line in explained(NOTIONAL))


def test_a_published_figure_that_other_prices_cannot_give_is_not_called_a_disagreement() -> None:
    found = explained(CREDITS, read_price_choice(usd_per_credit="0.02"))
    published = found[found.index("published figure") :]
    assert published[2] == "at the prices asked for, which are not those of the run, no way gives this amount"


def test_a_path_and_words_of_it_name_the_same_trial() -> None:
    record = ROOT / "results" / "swe" / Path(NOTIONAL) / "trial.json"
    by_record = find_trial(PLACES, str(record))[1]
    for text in (str(record.parent), f"results/swe/{NOTIONAL}", NOTIONAL, "glm-5.2_ claude-code swe3 faiss"):
        assert find_trial(PLACES, text)[1].record == by_record.record


@pytest.mark.parametrize(
    ("text", "said"), [("no-such-trial", "no stored trial"), ("claude-code", "trials have this name")]
)
def test_a_name_that_is_not_of_one_trial_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_trial(PLACES, text)


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(UsageError, match="no 'guess'"):
        cost_command(PLACES, lambda _: None, "guess", NOTIONAL, PriceChoice())
