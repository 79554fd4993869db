"""Keys made from credentials: how long they last, what they tell, and that they are made anew in time."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.providers.bedrock_models import area_for, area_of, base_model, maker_of, protocols_of
from runner.providers.bedrock_token import PREFIX, RENEWED_SECONDS, KeyMaker, ends_at, mint, region_in

FROZEN = ReadOnlyCredentials("AKIAEXAMPLE", "secret-0123456789", "session/token+==")


def fields_of(token: str) -> dict[str, list[str]]:
    signed = base64.b64decode(token.removeprefix(PREFIX)).decode()
    return parse_qs(urlsplit(f"https://{signed}").query)


def test_a_key_is_a_signed_request_for_permission_to_call_and_holds_no_secret() -> None:
    token = mint(FROZEN, "eu-west-1", seconds=900)
    found = fields_of(token)
    assert found["Action"] == ["CallWithBearerToken"]
    assert (found["X-Amz-Expires"], found["Version"]) == (["900"], ["1"])
    assert found["X-Amz-Security-Token"] == [FROZEN.token]
    assert found["X-Amz-SignedHeaders"] == ["host"]
    assert FROZEN.secret_key not in base64.b64decode(token.removeprefix(PREFIX)).decode()


def test_its_signature_is_the_one_that_amazon_would_compute() -> None:
    found = fields_of(mint(FROZEN, "us-east-1"))
    again = AWSRequest("POST", "https://bedrock.amazonaws.com/", params={"Action": "CallWithBearerToken"})
    again.context["timestamp"] = found["X-Amz-Date"][0]
    signer = SigV4QueryAuth(FROZEN, "bedrock", "us-east-1", expires=43_200)
    again.headers["host"] = "bedrock.amazonaws.com"
    signer._modify_request_before_signing(again)
    canonical = signer.string_to_sign(again, signer.canonical_request(again))
    assert found["X-Amz-Signature"] == [signer.signature(canonical, again)]


@pytest.mark.parametrize("seconds", [60, 3600, 43_200])
def test_a_key_tells_its_end_and_its_region(seconds: int) -> None:
    token = mint(FROZEN, "ap-southeast-2", seconds=seconds)
    end = ends_at(token)
    assert end is not None
    assert abs(end - datetime.now(UTC) - timedelta(seconds=seconds)) < timedelta(seconds=50)
    assert region_in(token) == "ap-southeast-2"


@given(st.text(max_size=80))
def test_a_key_that_is_broken_or_of_another_kind_tells_nothing(text: str) -> None:
    for token in (text, PREFIX + text, PREFIX + base64.b64encode(text.encode()).decode()):
        assert ends_at(token) is None or "X-Amz-Date" in text
        assert region_in(token) is None or "X-Amz-Credential" in text


def test_a_key_is_made_anew_when_it_is_old_and_not_before() -> None:
    now, made = [0.0], []

    def frozen() -> ReadOnlyCredentials:
        made.append(now[0])
        return ReadOnlyCredentials(f"AKIA{len(made)}", "secret-0123456789", None)

    maker = KeyMaker(frozen, "us-east-1", clock=lambda: now[0])
    first = maker()
    now[0] = RENEWED_SECONDS - 1
    assert maker() == first
    now[0] = RENEWED_SECONDS
    assert maker() != first
    assert made == [0.0, RENEWED_SECONDS]
    assert first not in repr(maker)


def test_many_threads_get_one_key() -> None:
    made: list[int] = []
    gate = threading.Barrier(8)

    def frozen() -> ReadOnlyCredentials:
        made.append(1)
        return FROZEN

    maker = KeyMaker(frozen, "us-east-1")

    def ask(_: int) -> str:
        gate.wait(120)
        return maker()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert made == [1]


def test_credentials_that_ran_out_are_said_at_each_request_and_the_old_key_is_not_used() -> None:
    now, ran_out = [0.0], [False]

    def frozen() -> ReadOnlyCredentials:
        if ran_out[0]:
            raise ConfigurationError("the sign-in has run out", remedy="aws sso login")
        return FROZEN

    maker = KeyMaker(frozen, "us-east-1", clock=lambda: now[0])
    first = maker()
    ran_out[0], now[0] = True, 10_000.0
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="run out"):
            maker()
    ran_out[0] = False
    assert maker().startswith(PREFIX)
    assert first.startswith(PREFIX)


@pytest.mark.parametrize(
    ("model", "area", "maker"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us", "anthropic"),
        ("global.anthropic.claude-opus-5", "global", "anthropic"),
        ("us-gov.anthropic.claude-x", "us-gov", "anthropic"),
        ("apac.amazon.nova-lite-v1:0", "apac", "amazon"),
        ("openai.gpt-oss-120b-1:0", None, "openai"),
        ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.x", None, None),
        ("m", None, None),
    ],
)
def test_an_id_tells_area_and_maker(model: str, area: str | None, maker: str | None) -> None:
    assert (area_of(model), maker_of(model)) == (area, maker)
    assert base_model(model) == (model if area is None else model[len(area) + 1 :])


@given(st.text(max_size=60))
def test_every_id_has_apis_and_none_twice(model: str) -> None:
    found = protocols_of(model)
    assert found
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("region", "area"),
    [
        ("us-east-1", "us"),
        ("eu-north-1", "eu"),
        ("ap-northeast-1", "apac"),
        ("us-gov-west-1", "us-gov"),
        ("me-south-1", "global"),
    ],
)
def test_the_area_of_a_region(region: str, area: str) -> None:
    assert area_for(region) == area
