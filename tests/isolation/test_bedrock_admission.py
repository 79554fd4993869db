"""Bedrock through a gateway: one model, streams only, a key that is renewed, and a real client behind it."""

from __future__ import annotations

import json
from pathlib import Path

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from runner.engine.isolation import Gateway
from runner.engine.isolation.admission import admit
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.replay import ReplayServer
from tests.harnesses.rig import turn, write_cassette
from tests.isolation.upstream import reply, upstream

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"


def endpoint(protocol: WireProtocol, model: str = MODEL) -> Endpoint:
    return Endpoint("https://bedrock-runtime.us-east-1.amazonaws.com", protocol, model, "real-key-0123")


@pytest.mark.parametrize("name", [MODEL, MODEL.replace(":", "%3A")])
def test_the_model_of_the_trial_is_admitted_however_its_name_is_written(name: str) -> None:
    invoke, converse = endpoint(WireProtocol.BEDROCK_INVOKE), endpoint(WireProtocol.BEDROCK_CONVERSE)
    for target, path in (
        (invoke, f"/model/{name}/invoke-with-response-stream"),
        (converse, f"/model/{name}/converse-stream"),
        (converse, f"/model/{name}/converse"),
    ):
        admitted = admit(target, "POST", path)
        assert admitted is not None
        assert admitted.for_an_answer
        assert admitted.path == path


def test_a_profile_that_is_an_arn_is_admitted() -> None:
    path = f"/model/{ARN.replace(':', '%3A').replace('/', '%2F')}/converse-stream"
    assert admit(endpoint(WireProtocol.BEDROCK_CONVERSE, ARN), "POST", path) is not None


def test_counting_tokens_passes_and_is_no_answer() -> None:
    admitted = admit(endpoint(WireProtocol.BEDROCK_INVOKE), "POST", f"/model/{MODEL}/count-tokens")
    assert admitted is not None
    assert not admitted.for_an_answer


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/model/us.anthropic.claude-opus-5-5/invoke-with-response-stream"),
        ("POST", "/model/us.anthropic.claude-opus-5-5/count-tokens"),
        ("POST", f"/model/{MODEL}/invoke"),
        ("POST", f"/model/{MODEL}/invoke-with-bidirectional-stream"),
        ("POST", f"/model/{MODEL}/converse-stream"),
        ("GET", f"/model/{MODEL}/invoke-with-response-stream"),
        ("GET", "/inference-profiles?type=SYSTEM_DEFINED"),
        ("POST", "/guardrail/g/version/1/apply"),
        ("POST", f"/model/other%2F..%2F{MODEL}/invoke-with-response-stream"),
        ("POST", "/async-invoke"),
    ],
)
def test_other_models_and_other_calls_of_the_account_are_refused(method: str, path: str) -> None:
    assert admit(endpoint(WireProtocol.BEDROCK_INVOKE), method, path) is None


@pytest.mark.parametrize("on_socket", [False])
def test_a_client_of_amazons_own_works_through_the_gateway_and_is_counted(
    tmp_path: Path, on_socket: bool
) -> None:
    cassettes = write_cassette(tmp_path, [turn(0, say="done")], model=MODEL)
    body = {"messages": [{"role": "user", "content": "workspace: /w\nDo it."}], "max_tokens": 9}
    with ReplayServer(cassettes) as server:
        real = Endpoint(
            server.url_for(run="r", scenario="demo/t"), WireProtocol.BEDROCK_INVOKE, MODEL, "real-key-0123"
        )
        with Gateway(real, on_socket=on_socket) as gateway:
            runtime = boto3.client(
                "bedrock-runtime",
                endpoint_url=gateway.endpoint.base_url,
                region_name="us-east-1",
                aws_access_key_id="AKIAEXAMPLE",
                aws_secret_access_key="no-secret",
                config=Config(retries={"total_max_attempts": 1}),
            )
            # A signature is no way in: only the dummy that was given out is.
            with pytest.raises(ClientError) as caught:
                runtime.invoke_model_with_response_stream(modelId=MODEL, body=json.dumps(body))
            assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 401
            answer = httpx.post(
                f"{gateway.endpoint.base_url}/model/{MODEL}/invoke-with-response-stream",
                json=body,
                headers={"authorization": f"Bearer {gateway.endpoint.api_key}"},
            )
            traffic = gateway.count()
        assert answer.headers["content-type"] == "application/vnd.amazon.eventstream"
        assert (traffic.model_requests, traffic.refused) == (1, 1)
        assert server.count("r").answered == 1


def test_every_request_goes_with_the_key_that_is_valid_then_and_no_answer_shows_it() -> None:
    keys = iter(["key-number-one-0123", "key-number-two-0123"])
    with upstream(reply(b'{"said": "key-number-one-0123 key-number-two-0123"}')) as server:
        given = server.endpoint("/v1", WireProtocol.CHAT_COMPLETIONS)
        renewed = Endpoint(
            given.base_url, given.protocol, "m", "stale-key-01234567", renewed_key=lambda: next(keys)
        )
        with Gateway(renewed, on_socket=False) as gateway:
            headers = {"authorization": f"Bearer {gateway.endpoint.api_key}"}
            said = [
                httpx.post(
                    f"{gateway.endpoint.base_url}/chat/completions", content=b"{}", headers=headers
                ).text
                for _ in range(2)
            ]
    assert [each.header("authorization") for each in server.requests] == [
        "Bearer key-number-one-0123",
        "Bearer key-number-two-0123",
    ]
    assert "key-number-one" not in said[0]
    assert "key-number-two" not in said[1]
    assert "key-number" not in repr(renewed)


def test_credentials_that_ran_out_stop_the_request_before_it_leaves() -> None:
    def fail() -> str:
        raise ConfigurationError("the sign-in has run out", remedy="aws sso login")

    with upstream(reply(b"{}")) as server:
        given = server.endpoint("/v1", WireProtocol.CHAT_COMPLETIONS)
        expired = Endpoint(given.base_url, given.protocol, "m", "stale-key-01234567", renewed_key=fail)
        with Gateway(expired, on_socket=False) as gateway:
            answer = httpx.post(
                f"{gateway.endpoint.base_url}/chat/completions",
                content=b"{}",
                headers={"authorization": f"Bearer {gateway.endpoint.api_key}"},
            )
            assert answer.status_code == 503
            assert gateway.count().failure == "NoValidKey"
        assert server.requests == []
