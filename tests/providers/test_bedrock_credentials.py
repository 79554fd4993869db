"""Credentials and keys for Bedrock: what is missing, wrong or over stops a run with what puts it right."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import EndpointConnectionError

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ProviderSettings
from runner.providers.bedrock_account import Account
from runner.providers.bedrock_token import mint
from runner.providers.checks import CheckState
from tests.providers.aws import KEYS, Environment, checks, opened, refusal
from tests.providers.control_plane import REGION, ControlPlane, refusing_tokens


def test_without_credentials_nothing_starts_and_every_way_in_is_named(environment: Environment) -> None:
    error = refusal({})
    assert "no AWS credentials" in error.what
    for way in ("aws sso login", "aws configure", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"):
        assert way in error.remedy
    assert checks({})["credentials"].state is CheckState.FAIL


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("ExpiredToken", "expired"),
        ("InvalidClientTokenId", "does not know"),
        ("SignatureDoesNotMatch", "does not know"),
    ],
)
def test_wrong_and_expired_credentials_stop_the_run_with_the_command_that_helps(
    code: str, words: str, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refusing_tokens(code) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
        error = refusal(environment)
        assert words in error.what
        assert "aws sso login" in error.remedy
        failed = checks(environment)["credentials"]
        assert (failed.state, failed.found) == (CheckState.FAIL, error.what)


def test_a_profiles_name_stands_in_the_command_that_helps(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = "\n".join(f"{name.lower()} = {value}" for name, value in KEYS.items())
    (tmp_path / "credentials").write_text(f"[team]\n{keys}\n", encoding="utf-8")
    with refusing_tokens("ExpiredToken") as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
        error = refusal({}, settings=ProviderSettings(aws_region=REGION, aws_profile="team"))
    assert "aws sso login --profile team" in error.remedy


def test_a_sign_in_that_ran_out_is_told_from_missing_credentials(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "config").write_text(
        "[profile sso]\nregion = us-east-1\nsso_region = us-east-1\n"
        "sso_start_url = https://x.awsapps.com/start\n"
        "sso_account_id = 123456789012\nsso_role_name = Developer\n",
        encoding="utf-8",
    )
    error = refusal({}, settings=ProviderSettings(aws_profile="sso"))
    assert "sign-in" in error.what
    assert "aws sso login --profile sso" in error.remedy


def test_where_nobody_answers_a_run_is_not_held_up_but_warned(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:9")
    assert opened(environment) is not None
    assert checks(environment)["credentials"].state is CheckState.WARN


def test_credentials_that_cannot_be_renewed_are_said_with_what_to_do() -> None:
    class Unreachable:
        """A session whose sign-in nobody answers."""

        region_name = REGION

        def get_credentials(self) -> object:
            raise EndpointConnectionError(endpoint_url="https://portal.sso.us-east-1.amazonaws.com")

    with pytest.raises(ConfigurationError, match="cannot be renewed") as caught:
        Account(Unreachable(), REGION).frozen()
    assert "resume" in caught.value.remedy


def token(seconds: int, region: str = REGION) -> str:
    return mint(ReadOnlyCredentials("AKIAEXAMPLE", "secret-0123", None), region, seconds=seconds)


def test_a_given_key_is_used_as_it_is_and_no_credential_is_asked_for(
    plane: ControlPlane, environment: Environment
) -> None:
    given = "ABSKlong-lived-key-of-a-test-0123456789"
    session = opened({"AWS_BEARER_TOKEN_BEDROCK": given})
    assert session.endpoint(WireProtocol.RESPONSES, run="r", scenario="d/t").api_key == given
    assert plane.asked == []
    assert given not in repr(session)


def test_a_given_key_that_outlives_an_invocation_is_taken_with_a_warning(environment: Environment) -> None:
    given = token(12 * 3600)
    assert opened({"AWS_BEARER_TOKEN_BEDROCK": given}) is not None
    check = checks({"AWS_BEARER_TOKEN_BEDROCK": given})["credentials"]
    assert check.state is CheckState.WARN
    assert given not in check.found


@pytest.mark.parametrize("seconds", [1, 3600, 7200])
def test_a_given_key_that_ends_within_an_invocation_is_never_handed_out(
    seconds: int, environment: Environment
) -> None:
    error = refusal({"AWS_BEARER_TOKEN_BEDROCK": token(seconds)})
    assert "ends in" in error.what
    assert "--timeout-seconds" in error.remedy


def test_a_given_key_for_another_region_is_refused_with_both_names(environment: Environment) -> None:
    error = refusal({"AWS_BEARER_TOKEN_BEDROCK": token(43_200, "eu-west-1")})
    assert "eu-west-1" in error.what
    assert REGION in error.what
    assert "--aws-region eu-west-1" in error.remedy


def test_a_profile_goes_before_a_key_in_the_environment(environment: Environment, tmp_path: Path) -> None:
    keys = "\n".join(f"{name.lower()} = {value}" for name, value in KEYS.items())
    (tmp_path / "credentials").write_text(f"[team]\n{keys}\n", encoding="utf-8")
    settings = ProviderSettings(aws_region=REGION, aws_profile="team")
    session = opened({"AWS_BEARER_TOKEN_BEDROCK": "given-key-0123456789"}, settings=settings)
    endpoint = session.endpoint(WireProtocol.RESPONSES, run="r", scenario="d/t")
    assert endpoint.api_key.startswith("bedrock-api-key-")
