"""invoke prices, prices-import and prices-fetch: what they say, write, refuse, and their exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError
from rich.console import Console

from runner.costs import PriceQuestion, load_price_book
from runner.engine.credits_command import credits_command
from runner.engine.places import Places
from runner.engine.prices_command import prices_command
from runner.engine.prices_proposing import Wanted, fetch_bedrock_prices, import_prices
from runner.errors import ConfigurationError, EndpointError, UsageError
from tests.costs.price_examples import HAIKU, HEAD, ROW, changed, write_book

PROJECT = Path(__file__).resolve().parents[2]
LITELLM = {
    "us.anthropic.claude-haiku-4-5-20251001-v1:0": {
        "litellm_provider": "bedrock_converse",
        "mode": "chat",
        "input_cost_per_token": 9e-7,
        "output_cost_per_token": 4.5e-6,
    },
    "xai/grok-9": {
        "litellm_provider": "xai",
        "mode": "chat",
        "input_cost_per_token": 2e-6,
        "output_cost_per_token": 6e-6,
    },
    "other": {"litellm_provider": "openrouter"},
}


def unheard(line: str) -> None:
    """Nobody is to be told anything."""
    raise AssertionError(line)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A project with a book of one row."""
    write_book(tmp_path / "datasets" / "prices" / "tokens")
    return Places(tmp_path)


def run(places: Places, **flags: Any) -> tuple[int, str]:
    """Exit code and output of ``invoke prices``."""
    screen = io.StringIO()

    def say(line: str) -> None:
        screen.write(line + "\n")

    given: dict[str, Any] = {
        "model": "",
        "provider": "",
        "on": "2026-08-01",
        "region_class": "",
        "tier": "",
        "prompt_tokens": None,
    }
    code = prices_command(
        places,
        Console(file=screen, width=80),
        say,
        **{**given, **flags},
    )
    return code, screen.getvalue()


def test_the_book_is_listed_with_prices_days_source_and_day_of_checking(places: Places) -> None:
    code, shown = run(places)
    assert code == 0
    for expected in ("1.1 / 5.5 / 0.11 / 1.375 / -", "since", "2026-06-01", "A price list", "2026-11-30"):
        assert expected in shown
    assert "1 of 1 rows of the price book" in shown


@pytest.mark.parametrize(
    ("flags", "code", "shown"),
    [
        ({}, 0, ("kiro pro-plus", "0.04", "2026-11-30", "https://kiro.dev", "note on power", "3 of 3 plans")),
        ({"provider": "kiro", "on": "2026-04-02"}, 0, ("from 2026-04-02 on", "3 of 3 plans")),
        ({"on": "2026-04-01"}, 3, ("0 of 3 plans",)),
        ({"provider": "nobody"}, 3, ("0 of 3 plans",)),
    ],
)
def test_credit_plans_are_listed_with_their_prices_days_and_sources(
    flags: dict[str, str], code: int, shown: tuple[str, ...]
) -> None:
    screen = io.StringIO()

    def say(line: str) -> None:
        screen.write(line + "\n")

    console = Console(file=screen, width=80)
    asked = {"provider": "", "on": "", **flags}
    assert credits_command(Places(PROJECT), console, say, **asked) == code
    for part in shown:
        assert part in screen.getvalue()


@pytest.mark.parametrize("flags", [{"on": "2026-05-01"}, {"provider": "nobody"}])
def test_a_list_of_nothing_says_so_with_its_exit_code(places: Places, flags: dict[str, str]) -> None:
    code, shown = run(places, **flags)
    assert code == 3
    assert "0 of 1 rows" in shown


@pytest.mark.parametrize(
    ("flags", "count"),
    [
        ({"tier": "standard"}, 1),
        ({"tier": "batch"}, 0),
        ({"region_class": "regional"}, 1),
        ({"region_class": "global"}, 0),
    ],
)
def test_a_list_is_of_what_was_asked_for(places: Places, flags: dict[str, str], count: int) -> None:
    code, shown = run(places, **flags)
    assert code == (0 if count else 3)
    assert f"{count} of 1 rows" in shown


def test_what_is_piped_into_another_program_has_one_line_for_each_price(places: Places) -> None:
    name = "anthropic.claude-of-a-long-name-that-fills-half-a-screen-5-5"
    write_book(places.prices, ROW.replace(HAIKU, name), name="other.yaml")
    (line,) = (line for line in run(places)[1].splitlines() if name in line)
    assert "1.1 / 5.5 / 0.11 / 1.375 / -" in line
    assert "2026-06-01" in line


def test_markup_in_a_file_is_shown_as_text(places: Places) -> None:
    write_book(places.prices, head=changed("A price list", "'[red]A[/red] [/] list'", HEAD))
    code, shown = run(places)
    assert code == 0
    assert "[red]A[/red]" in shown


def test_one_lookup_is_explained_step_by_step(places: Places) -> None:
    code, shown = run(places, model="us.anthropic.claude-haiku-4-5-20251001-v1:0", provider="bedrock")
    assert code == 0
    assert "  1. the id is us.anthropic.claude-haiku-4-5-20251001-v1:0 at bedrock\n" in shown
    assert "  2. the prefix us. says regional" in shown
    assert "the row is $1.1 in, $5.5 out" in shown


def test_without_a_provider_everyone_who_has_the_model_is_asked(places: Places) -> None:
    write_book(places.prices, name="other.yaml", head=HEAD.replace("bedrock", "other"))
    code, shown = run(places, model=HAIKU)
    assert code == 0
    assert f"{HAIKU} at bedrock on 2026-08-01" in shown
    assert f"{HAIKU} at other on 2026-08-01" in shown


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            {"model": "anthropic.claude-haiku-4-9"},
            "no provider of the price book has anthropic.claude-haiku-4-9",
        ),
        ({"model": "anthropic.claude-haiku-4-9"}, f"the nearest name is {HAIKU}"),
        ({"model": HAIKU, "on": "2020-01-01"}, "no price is known for 2020-01-01"),
        ({"model": HAIKU, "tier": "batch"}, "no price of the service tier batch"),
        ({"model": HAIKU, "region_class": "any"}, "no price of region class any"),
        ({"model": HAIKU, "provider": "openai"}, "the price book has no provider 'openai'"),
    ],
)
def test_a_lookup_without_an_answer_says_why_and_leaves_with_3(
    places: Places, flags: dict[str, str], expected: str
) -> None:
    code, shown = run(places, **flags)
    assert code == 3
    assert expected in shown


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"on": "today"}, "write it as 2026-09-01"),
        ({"model": HAIKU, "tier": "cheap"}, "known: standard, batch, flex, priority"),
        ({"model": HAIKU, "region_class": "moon"}, "known: regional, global, any"),
        ({"tier": "cheap"}, "known: standard, batch, flex, priority"),
        ({"model": HAIKU, "prompt_tokens": -5}, "-5 is no length of a prompt"),
        ({"prompt_tokens": 5}, "5 says nothing without a model"),
    ],
)
def test_a_flag_that_is_none_is_told_what_it_may_be(
    places: Places, flags: dict[str, str], expected: str
) -> None:
    with pytest.raises(UsageError) as caught:
        run(places, **flags)
    assert expected in caught.value.message()


def offered(places: Places, document: object = LITELLM, **wanted: Any) -> tuple[int, str]:
    """Exit code and output of ``invoke prices-import litellm``."""
    file = places.root / "list.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    lines: list[str] = []
    code = import_prices(places, lines.append, "litellm", file, "2.0 (new)", Wanted(**wanted))
    return code, "\n".join(lines)


def test_an_import_shows_a_diff_and_counts_and_writes_nothing(places: Places) -> None:
    before = {path.name: path.read_bytes() for path in places.prices.iterdir()}
    code, shown = offered(places)
    assert code == 0
    assert "+    prices: {input: 0.9, output: 4.5}" in shown
    assert "+++ b/xai.yaml" in shown
    assert '+    version: "2.0 (new)"' in shown
    assert "2 prices read, 2 of them asked for:\n  1 x changed prices\n  1 x new rows" in shown
    assert "1 entries left out:\n  1 x a provider that the book does not keep" in shown
    assert "nothing is written; --write does" in shown
    assert {path.name: path.read_bytes() for path in places.prices.iterdir()} == before


def test_an_import_that_is_to_write_changes_the_book(places: Places) -> None:
    code, shown = offered(places, write=True)
    assert code == 0
    assert "written: bedrock.yaml, xai.yaml" in shown
    book = load_price_book(places.prices)
    answer = book.lookup(PriceQuestion("bedrock", f"us.{HAIKU}", date.today()))
    assert answer.token_prices is not None
    assert (answer.token_prices.input, answer.token_prices.cache_read) == (0.9, None)
    assert "LiteLLM price map 2.0 (new)" in "\n".join(answer.steps)
    assert "written: nothing" in offered(places, write=True)[1]


@pytest.mark.parametrize(
    "wanted", [{"provider": "xai"}, {"model": "grok-*"}, {"model": "grok-9", "provider": "xai"}]
)
def test_an_import_can_be_narrowed(places: Places, wanted: dict[str, str]) -> None:
    shown = offered(places, **wanted)[1]
    assert "2 prices read, 1 of them asked for" in shown
    assert "bedrock.yaml" not in shown


def test_only_models_that_the_book_knows_can_be_asked_for(places: Places) -> None:
    shown = offered(places, known=True)[1]
    assert "+++ b/bedrock.yaml" in shown
    assert "xai.yaml" not in shown


def test_the_diff_can_go_to_a_file(places: Places, tmp_path: Path) -> None:
    out = tmp_path / "proposal.diff"
    shown = offered(places, out=out)[1]
    assert "+++ b/xai.yaml" in out.read_text(encoding="utf-8")
    assert "+++" not in shown


def test_a_place_that_cannot_be_written_to_is_named(places: Places, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the diff cannot be written"):
        offered(places, out=tmp_path / "nowhere" / "proposal.diff")
    (places.prices / ".bedrock.yaml.new").mkdir()
    with pytest.raises(ConfigurationError, match="cannot be written"):
        offered(places, write=True)
    assert len(load_price_book(places.prices).rows) == 1


def test_a_list_with_nothing_of_use_leaves_with_3(places: Places) -> None:
    code, shown = offered(places, {"other": {"litellm_provider": "openrouter"}})
    assert code == 3
    assert "0 prices read" in shown


def test_an_unknown_list_and_a_file_that_is_none_are_refused_by_name(places: Places) -> None:
    with pytest.raises(UsageError, match="known: litellm, llm-prices"):
        import_prices(places, unheard, "models", Path("x"), "", Wanted())
    with pytest.raises(ConfigurationError) as caught:
        offered(places, ["no", "map"])
    assert "list.json" in caught.value.message()


def test_a_faulty_book_is_never_written_to(places: Places) -> None:
    write_book(places.prices, ROW, ROW)
    before = (places.prices / "bedrock.yaml").read_bytes()
    with pytest.raises(ConfigurationError, match="overlaps"):
        offered(places, write=True)
    assert (places.prices / "bedrock.yaml").read_bytes() == before


def test_the_other_list_is_read_too_and_its_source_named_by_digest(places: Places) -> None:
    file = places.root / "current.json"
    prices = {"prices": [{"id": "grok-9", "vendor": "xai", "input": 2, "output": 6}]}
    file.write_text(json.dumps(prices), encoding="utf-8")
    lines: list[str] = []
    assert import_prices(places, lines.append, "llm-prices", file, "", Wanted()) == 0
    assert "+    title: llm-prices" in lines
    assert any(line.startswith("+    version: file with SHA-256 ") for line in lines)


class Listed:
    """A price list service that answers with one page, or fails."""

    def __init__(self, products: list[str], failure: Exception | None = None) -> None:
        self.products, self.failure = products, failure

    def get_products(self, **request: object) -> Mapping[str, object]:
        """One page of the marketplace service; nothing of the other."""
        if self.failure is not None:
            raise self.failure
        return {"PriceList": self.products if request["ServiceCode"] != "AmazonBedrock" else []}


def priced(use: str, usd: str) -> str:
    """A product of the model that the book has."""
    dimension = {"unit": "1M tokens", "pricePerUnit": {"USD": usd}}
    named = {"usagetype": f"USE1-MP:USE1_{use}-Units", "servicename": "Claude Haiku 4.5"}
    return json.dumps(
        {
            "product": {"attributes": named},
            "terms": {"OnDemand": {"t": {"priceDimensions": {"d": dimension}}}},
        }
    )


def test_prices_of_the_cloud_are_proposed_the_same_way(places: Places) -> None:
    client = Listed([priced("InputTokenCount", "1.2"), priced("OutputTokenCount", "6")])
    lines: list[str] = []
    assert fetch_bedrock_prices(places, lines.append, client, "us-east-1", Wanted("bedrock")) == 0
    shown = "\n".join(lines)
    assert "+    prices: {input: 1.2, output: 6}" in shown
    assert f'+    version: "us-east-1, asked on {date.today().isoformat()}"' in shown
    assert "1 x changed prices" in shown
    assert "nothing is written" in shown


@pytest.mark.parametrize(
    "failure",
    [
        NoCredentialsError(),
        ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "GetProducts"),
    ],
)
def test_a_service_that_cannot_be_asked_is_explained(places: Places, failure: Exception) -> None:
    with pytest.raises(EndpointError) as caught:
        fetch_bedrock_prices(places, unheard, Listed([], failure), "us-east-1", Wanted())
    assert "pricing:GetProducts" in caught.value.message()


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (
            ["prices", "--model", "us.anthropic.claude-opus-5[1m]", "--on", "2026-09-01"],
            0,
            "$5.5 in, $27.5 out",
        ),
        (["prices", "--model", "nobody-has-this"], 3, "no provider of the price book has nobody-has-this"),
        (["prices-import", "litellm", "nowhere.json"], 1, "cannot be read"),
        (["prices-fetch", "moon"], 1, "known: bedrock"),
    ],
)
def test_the_commands_answer_as_typed(arguments: list[str], code: int, expected: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "invoke", *arguments], cwd=PROJECT, capture_output=True, text=True, timeout=60
    )
    shown = done.stdout + done.stderr
    assert (done.returncode, "Traceback" in shown) == (code, False), shown
    assert expected in shown
