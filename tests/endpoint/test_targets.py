"""Targets: files with every fault in one report, the shipped catalogue, keys that are never shown."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from runner.costs.price_book import load_price_book
from runner.endpoint.address import EndpointAddress
from runner.endpoint.capabilities import Thinking
from runner.endpoint.request import Protocol
from runner.endpoint.suites.asking import Manner, request_for, unfit
from runner.endpoint.suites.case import Slot
from runner.endpoint.suites.catalogue import SUITES
from runner.endpoint.target import Target, url_fault
from runner.endpoint.targets import Catalogue, is_active, load_targets, local_target, require_unique
from runner.errors import ConfigurationError, UsageError

ROOT = Path(__file__).parents[2]
SHIPPED = load_targets(ROOT / "datasets" / "targets")
DAY = date(2026, 11, 30)
GOOD = """\
schema_version: 1
model: lamp-1
title: Lamp 1
defaults:
  temperature: false
  efforts: [low, high]
mappings:
  - provider: host
    region: eu-west
    model_id: vendor/Lamp-1
    protocol: chat-completions
    base_url: https://api.example.org/v1
    key_variable: LAMP_KEY
    price: {provider: other, model: lamp, region_class: regional}
    context_tokens: 8000
    capabilities: {efforts: [low]}
    source: https://example.org/docs
    checked_on: 2026-01-31
  - provider: host
    model_id: vendor/Lamp-1
    protocol: messages
    base_url: https://api.example.org
    deactivated_on: 2026-03-01
    source: https://example.org/docs
    checked_on: 2026-01-31
"""


def catalogue(folder: Path, text: str = GOOD, name: str = "lamp-1.yaml") -> Catalogue:
    (folder / name).write_text(text, encoding="utf-8")
    return load_targets(folder)


def faults(folder: Path, text: str, name: str = "lamp-1.yaml") -> str:
    with pytest.raises(ConfigurationError) as caught:
        catalogue(folder, text, name)
    return str(caught.value)


def test_a_file_gives_its_targets(tmp_path: Path) -> None:
    first, second = catalogue(tmp_path).targets
    assert (first.identifier, first.label) == ("host/vendor/Lamp-1:eu-west", "host:eu-west")
    assert (second.identifier, second.label) == ("host/vendor/Lamp-1", "host")
    assert (first.title, first.label) == ("Lamp 1", "host:eu-west")
    assert first.entry.protocol is Protocol.CHAT_COMPLETIONS


def test_a_mapping_has_the_last_word_over_the_defaults_of_its_file(tmp_path: Path) -> None:
    first, second = catalogue(tmp_path).targets
    assert (first.capabilities.temperature, first.capabilities.efforts) == (False, ("low",))
    assert second.capabilities.efforts == ("low", "high")


def test_a_price_is_asked_for_under_its_own_names(tmp_path: Path) -> None:
    first, second = catalogue(tmp_path).targets
    question = first.price_question(DAY, 100)
    assert (question.provider, question.model, question.prompt_tokens) == ("other", "lamp", 100)
    assert second.price_question(DAY).model == "vendor/Lamp-1"


def test_every_fault_of_every_file_is_in_one_report(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("schema_version: 1\nmodel: other\n", encoding="utf-8")
    text = (
        GOOD.replace("title: Lamp 1", "titel: Lamp 1")
        .replace("protocol: chat-completions", "protocol: chat-completion")
        .replace("context_tokens: 8000", "context_tokens: many")
        .replace("key_variable: LAMP_KEY", "key_variable: sk-live-123")
    )
    said = faults(tmp_path, text)
    for part in ("titel", "protocol", "context_tokens", "key_variable", "other.yaml", "line 11"):
        assert part in said
    assert "did you mean title?" in said
    assert "did you mean chat-completions?" in said
    assert "sk-live-123" not in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("https://api.example.org/v1", "https://user:secret-word@api.example.org/v1", "credentials"),
        ("https://api.example.org/v1", "ftp://api.example.org/v1", "http or https"),
        ("https://api.example.org/v1", "https://api.example.org/v1?key=secret-word", "path"),
        ("https://api.example.org/v1", "https://api.example.org/v1/", "slash"),
        ("    base_url: https://api.example.org/v1\n", "", "base_url, or replay"),
        ("price: {", "headers: {Authorization: secret-word}\n    price: {", "no key"),
        ("model: lamp-1\n", "model: lamp-2\n", "call it lamp-2.yaml"),
        ("efforts: [low, high]", "efforts: [low, High]", "not allowed here"),
        ("schema_version: 1", "schema_version: 2", "schema_version"),
        ("    region: eu-west\n", "", "stands in lamp-1.yaml already"),
        ("model: lamp-1\n", "model: lamp-1\nmodel: lamp-1\n", "given twice"),
        ("temperature: false", "temperature: never", "temperature"),
    ],
)
def test_a_fault_is_named_and_no_secret_repeated(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    report = faults(tmp_path, GOOD.replace(old, new, 1))
    assert said in report
    assert "secret-word" not in report


def test_a_wrong_default_is_reported_once(tmp_path: Path) -> None:
    assert faults(tmp_path, GOOD.replace("efforts: [low, high]", "efforts: 7")).count("efforts") == 1


def test_a_folder_without_files_is_an_empty_catalogue(tmp_path: Path) -> None:
    assert load_targets(tmp_path / "nowhere").targets == ()
    with pytest.raises(UsageError, match="--url"):
        load_targets(tmp_path).of_model("x", on=DAY)


def test_deactivated_mappings_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    found = catalogue(tmp_path)
    assert len(found.of_model("lamp-1", on=date(2026, 2, 28))) == 2
    assert len(found.of_model("lamp-1", on=date(2026, 3, 1))) == 1
    assert len(found.of_model("lamp-1", on=DAY, with_deactivated=True)) == 2
    assert not is_active(found.targets[1], DAY)


def test_a_key_comes_from_its_variable_and_is_shown_nowhere(tmp_path: Path) -> None:
    first, second = catalogue(tmp_path).targets
    assert first.key({"LAMP_KEY": "sk-1"}) == "sk-1"
    assert second.key({}) is None
    for value in ("", "  "):
        with pytest.raises(ConfigurationError, match="LAMP_KEY"):
            first.key({"LAMP_KEY": value})
    for value in ("sk 1\n", "sk-\u00e9", " sk-private"):
        with pytest.raises(ConfigurationError) as caught:
            first.key({"LAMP_KEY": value})
        assert value not in str(caught.value)
    assert "sk-1" not in repr(first)


def test_an_endpoint_of_the_command_line_is_a_target() -> None:
    found = local_target("http://127.0.0.1:8000/v1/", "m", model="m", key_variable="MY_KEY", on=DAY)
    assert (found.identifier, found.origin, found.entry.base_url) == (
        "local/m",
        "flags",
        "http://127.0.0.1:8000/v1",
    )
    assert found.key({"MY_KEY": "k"}) == "k"


@pytest.mark.parametrize(
    "url", ["localhost:8000", "http://", "http://u:secret-word@h/v1", "http://h/v1?k=secret-word"]
)
def test_an_address_that_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        local_target(url, "m", model="m", on=DAY)
    assert "secret-word" not in str(caught.value)


def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError, match="name of a variable") as caught:
        local_target("http://h/v1", "m", model="m", key_variable="sk-live-99", on=DAY)
    assert "sk-live-99" not in str(caught.value)


def test_the_same_target_twice_is_refused() -> None:
    one = SHIPPED.targets[0]
    with pytest.raises(UsageError, match="twice"):
        require_unique([one, one])


@pytest.mark.parametrize("target", SHIPPED.targets, ids=lambda target: target.identifier)
def test_a_shipped_target_can_be_asked_every_case_that_fits(target: Target) -> None:
    if target.entry.base_url is not None:
        assert url_fault(target.entry.base_url) == ""
        assert target.entry.key_variable is not None
        assert EndpointAddress(target.entry.base_url, "key").host
    manner = Manner("test")
    fitting = [case for case in SUITES["quality"] if not unfit(case, target)]
    assert len(fitting) >= 25
    for case in fitting:
        request = request_for(case, case.puzzle(1, Slot(1)), Slot(1), target, manner).request
        assert request.tool_choice in {None, *target.capabilities.tool_choice}
        assert request.effort is None or request.effort in target.capabilities.efforts
        if target.capabilities.thinking is Thinking.ALWAYS:
            assert (request.max_output_tokens or 0) >= 16_000


def test_the_main_vendors_and_the_built_in_server_are_there() -> None:
    providers = {target.entry.provider for target in SHIPPED.targets}
    assert {"anthropic", "openai", "google", "bedrock", "xai", "mistral", "deepseek", "replay"} <= providers
    assert len([target for target in SHIPPED.targets if target.entry.replay]) == 4


def test_shipped_targets_of_vendors_with_prices_find_their_row() -> None:
    book = load_price_book(ROOT / "datasets" / "prices" / "tokens")
    priced = {"anthropic", "openai", "google", "xai", "moonshot", "zai", "bedrock"} & set(book.providers())
    for target in SHIPPED.targets:
        if target.entry.provider in priced:
            answer = book.lookup(target.price_question(DAY, 1000))
            assert answer.row is not None, answer.missing_reason
