"""What the vendors' APIs and the built-in server say before a run, and what holds for every provider."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from runner.providers.anthropic import Anthropic
from runner.providers.base import ProviderSettings
from runner.providers.checks import Check, CheckState
from runner.providers.openai import OpenAI
from runner.providers.registry import PROVIDERS, provider
from runner.providers.replay import Replay
from tests.replay.tapes import tape

Answer = Callable[[httpx.Request], httpx.Response]
KEYS = {"ANTHROPIC_API_KEY": "anthropic-key-1", "OPENAI_API_KEY": "openai-key-1", "OTHER": "other-key-1"}
KINDS = (Anthropic, OpenAI)
PASS, WARN, FAIL = CheckState.PASS, CheckState.WARN, CheckState.FAIL


def checks(
    kind: type[Anthropic] | type[OpenAI],
    answer: Answer,
    settings: ProviderSettings | None = None,
    model: str = "model-1",
) -> list[Check]:
    found = kind(transport=httpx.MockTransport(answer))
    return list(found.checks(model, settings or ProviderSettings(), KEYS))


def says(status: int, body: object = None) -> Answer:
    return lambda _: httpx.Response(status, json=body if body is not None else {})


@pytest.mark.parametrize("kind", KINDS)
def test_a_described_model_passes_with_one_request_that_costs_nothing(
    kind: type[Anthropic] | type[OpenAI],
) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"id": "model-1", "max_input_tokens": 200_000})

    found = checks(kind, answer)
    assert [check.state for check in found] == [PASS] * 3
    assert found[-1].window == 200_000
    assert [(request.method, request.url.path) for request in seen] == [("GET", "/v1/models/model-1")]


def test_a_name_that_stands_for_a_dated_model_says_so() -> None:
    found = checks(Anthropic, says(200, {"id": "model-1-20990101", "max_input_tokens": 5}))
    assert "model-1 is served, which is model-1-20990101 now" in found[1].found
    assert found[2].window == 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "body", "name", "state"),
    [
        (401, {"error": {"message": "invalid"}}, "credentials", FAIL),
        (403, {}, "credentials", FAIL),
        (302, {}, "endpoint", FAIL),
        (500, {}, "endpoint", FAIL),
        (529, {}, "endpoint", FAIL),
        (429, {}, "endpoint", WARN),
        (200, ["not", "it"], "endpoint", FAIL),
    ],
)
def test_each_refusal_of_a_vendor_is_told_apart(
    kind: type[Anthropic] | type[OpenAI], status: int, body: object, name: str, state: CheckState
) -> None:
    last = checks(kind, says(status, body))[-1]
    assert (last.name, last.state, bool(last.fix)) == (name, state, True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sign_in_page_in_between_is_no_vendor(kind: type[Anthropic] | type[OpenAI]) -> None:
    last = checks(kind, lambda _: httpx.Response(200, text="<html>welcome to the hotel</html>"))[-1]
    assert (last.state, "sign-in page" in last.fix) == (FAIL, True)


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_model_offers_the_near_names_of_the_list(kind: type[Anthropic] | type[OpenAI]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": "model-11"}, {"id": "other"}]})
        return httpx.Response(404, json={"error": {"message": "not found"}})

    last = checks(kind, answer)[-1]
    assert (last.name, last.state, last.fix) == ("served model", FAIL, "--model model-11")


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_that_is_down_is_told_with_its_cause(kind: type[Anthropic] | type[OpenAI]) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused") from ConnectionRefusedError(111, "refused")

    [check] = checks(kind, answer)
    assert (check.name, check.state) == ("endpoint", FAIL)
    assert "nothing listens at api." in check.found


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_key_and_a_foreign_address_are_checks_and_nothing_is_sent(
    kind: type[Anthropic] | type[OpenAI],
) -> None:
    def never(_: httpx.Request) -> httpx.Response:
        raise AssertionError("the vendor was asked")

    found = kind(transport=httpx.MockTransport(never))
    [check] = found.checks("m", ProviderSettings(), {})
    assert (check.name, check.fix) == ("credentials", f"export {found.key_variable}=...")
    [check] = checks(kind, never, ProviderSettings(base_url="http://h/v1"))
    assert (check.name, "--provider endpoint" in check.fix) == ("endpoint", True)


def test_the_built_in_server_is_not_started_to_be_checked(tmp_path: Path) -> None:
    found = Replay()
    settings = ProviderSettings(cassettes=str(tape(tmp_path)))
    assert [check.state for check in found.checks("m", settings, {})] == [PASS, PASS]
    assert found._servers == {}


@pytest.mark.parametrize(
    ("faults", "model", "words"),
    [((), "n", "no cassette plays the model 'n'"), (("explode",), "m", "explode")],
)
def test_a_model_or_a_fault_that_is_not_known_fails_with_what_there_is(
    tmp_path: Path, faults: tuple[str, ...], model: str, words: str
) -> None:
    settings = ProviderSettings(cassettes=str(tape(tmp_path)), faults=faults)
    failed = [check for check in Replay().checks(model, settings, {}) if check.state is FAIL]
    assert [words in check.found for check in failed] == [True]
    assert all(check.fix for check in failed)


def test_a_folder_without_cassettes_fails(tmp_path: Path) -> None:
    [check] = Replay().checks("m", ProviderSettings(cassettes=str(tmp_path)), {})
    assert (check.state, "no cassettes" in check.found) == (FAIL, True)


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_without_any_settings_every_provider_fails_with_a_fix_and_raises_nothing(name: str) -> None:
    found = list(provider(name).checks("m", ProviderSettings(), {}))
    failed = [check for check in found if check.state is FAIL]
    assert failed
    assert all(check.fix for check in failed)
