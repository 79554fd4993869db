"""The provider bedrock against moto's token service and a stand-in for what Bedrock tells about models."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import EndpointConnectionError
from moto.server import ThreadedMotoServer

from runner.engine.sessions import common_protocol
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.bedrock import Bedrock
from runner.providers.bedrock_account import Account
from runner.providers.bedrock_token import ends_at, mint, region_in
from runner.providers.checks import Check, CheckState
from runner.providers.registry import provider
from tests.providers.control_plane import (
    PLAIN,
    PROFILED,
    REGION,
    ControlPlane,
    control_plane,
    refusing_tokens,
)

KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLEEXAMPLE12", "AWS_SECRET_ACCESS_KEY": "secret-of-a-test-0123456789"}
SETTINGS = ProviderSettings(aws_region=REGION, longest_seconds=7200)
Environment = Mapping[str, str]


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """The address of a token service."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    with control_plane() as running:
        yield running


@pytest.fixture
def environment(
    moto: str, plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Environment:
    """A machine with nothing of the user's AWS configuration, whose services are the stand-ins."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", *KEYS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", plane.url)
    return KEYS


def opened(
    environment: Environment, model: str = PLAIN, settings: ProviderSettings = SETTINGS
) -> ModelSession:
    with Bedrock().session(model, settings, environment) as session:
        return session


def refusal(
    environment: Environment, model: str = PLAIN, settings: ProviderSettings = SETTINGS
) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        opened(environment, model, settings)
    return caught.value


def checks(
    environment: Environment, model: str = PLAIN, settings: ProviderSettings = SETTINGS
) -> dict[str, Check]:
    return {check.name: check for check in Bedrock().checks(model, settings, environment)}


# Reaching a model


def test_an_endpoint_holds_a_short_lived_key_and_never_a_credential(environment: Environment) -> None:
    session = opened(environment, f"us.{PROFILED}")
    endpoint = session.endpoint(WireProtocol.BEDROCK_INVOKE, run="r", scenario="d/t")
    assert endpoint.base_url == "https://bedrock-runtime.us-east-1.amazonaws.com"
    assert endpoint.model == f"us.{PROFILED}"
    end = ends_at(endpoint.api_key)
    assert end is not None
    assert timedelta(hours=11) < end - datetime.now(UTC) <= timedelta(hours=12)
    assert region_in(endpoint.api_key) == REGION
    assert endpoint.key_now() == endpoint.api_key
    shown = repr(session) + repr(endpoint)
    for secret in (*KEYS.values(), endpoint.api_key):
        assert secret not in shown
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in endpoint.api_key


@pytest.mark.parametrize(
    ("model", "roots"),
    [
        (f"us.{PROFILED}", {"bedrock-invoke": "", "bedrock-converse": "", "messages": "/anthropic"}),
        (PLAIN, {"responses": "/openai/v1", "chat-completions": "/openai/v1", "bedrock-converse": ""}),
        ("qwen.qwen3-coder-30b-a3b-v1:0", {"chat-completions": "/openai/v1", "bedrock-converse": ""}),
        ("us.amazon.nova-pro-v1:0", {"bedrock-converse": "", "chat-completions": "/openai/v1"}),
    ],
)
def test_each_maker_is_asked_over_the_apis_it_has(
    model: str, roots: dict[str, str], environment: Environment, plane: ControlPlane
) -> None:
    plane.models["qwen.qwen3-coder-30b-a3b-v1:0"] = ["ON_DEMAND"]
    assert [str(each) for each in Bedrock().protocols_for(model)] == list(roots)
    session = opened(environment, model)
    for protocol in WireProtocol:
        if protocol not in roots:
            with pytest.raises(ConfigurationError, match="does not offer"):
                session.endpoint(protocol, run="r", scenario="d/t")
        else:
            endpoint = session.endpoint(protocol, run="r", scenario="d/t")
            assert (
                endpoint.base_url.removeprefix("https://bedrock-runtime.us-east-1.amazonaws.com")
                == roots[protocol]
            )


@pytest.mark.parametrize(
    ("name", "model", "protocol"),
    [
        ("claude-code", f"us.{PROFILED}", WireProtocol.BEDROCK_INVOKE),
        ("pi", f"us.{PROFILED}", WireProtocol.BEDROCK_CONVERSE),
        ("opencode", f"us.{PROFILED}", WireProtocol.MESSAGES),
        ("codex", PLAIN, WireProtocol.RESPONSES),
        ("pi", PLAIN, WireProtocol.RESPONSES),
        ("pi", "qwen.qwen3-coder-30b-a3b-v1:0", WireProtocol.CHAT_COMPLETIONS),
    ],
)
def test_each_harness_takes_the_way_that_suits_the_model(
    name: str, model: str, protocol: WireProtocol
) -> None:
    assert common_protocol(harness(name), provider("bedrock"), (), model) is protocol


def test_a_harness_that_speaks_none_of_a_models_apis_is_refused_by_name(environment: Environment) -> None:
    with pytest.raises(ConfigurationError, match="codex speaks responses; bedrock offers"):
        common_protocol(harness("codex"), provider("bedrock"), (), f"us.{PROFILED}")


def test_an_address_of_a_private_link_takes_the_place_of_the_public_one(environment: Environment) -> None:
    settings = ProviderSettings(aws_region=REGION, base_url="https://vpce-1.bedrock-runtime.example/")
    endpoint = opened(environment, settings=settings).endpoint(
        WireProtocol.RESPONSES, run="r", scenario="d/t"
    )
    assert endpoint.base_url == "https://vpce-1.bedrock-runtime.example/openai/v1"


# Regions


def test_without_a_region_nothing_starts(environment: Environment) -> None:
    error = refusal(environment, settings=ProviderSettings())
    assert "--aws-region" in error.remedy
    assert checks(environment, settings=ProviderSettings())["region"].state is CheckState.FAIL


@pytest.mark.parametrize("region", ["us east 1", "useast1", "us-east-1.evil.example", "us-east-1/../", ""])
def test_what_is_no_region_never_becomes_a_host(region: str, environment: Environment) -> None:
    assert "region" in refusal(environment, settings=ProviderSettings(aws_region=region)).what


@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_the_region_of_the_environment_is_taken(variable: str, environment: Environment) -> None:
    session = opened({**environment, variable: "eu-west-1"}, settings=ProviderSettings())
    assert "eu-west-1" in session.endpoint(WireProtocol.RESPONSES, run="r", scenario="d/t").base_url


def test_a_profile_brings_its_keys_and_its_region(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("[profile team]\nregion = eu-central-1\n", encoding="utf-8")
    keys = "\n".join(f"{name.lower()} = {value}" for name, value in KEYS.items())
    (tmp_path / "credentials").write_text(f"[team]\n{keys}\n", encoding="utf-8")
    session = opened({}, settings=ProviderSettings(aws_profile="team"))
    endpoint = session.endpoint(WireProtocol.RESPONSES, run="r", scenario="d/t")
    assert endpoint.base_url == "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1"
    assert region_in(endpoint.api_key) == "eu-central-1"


def test_a_profile_that_is_not_there_is_named(environment: Environment) -> None:
    error = refusal({}, settings=ProviderSettings(aws_region=REGION, aws_profile="nobody"))
    assert "nobody" in error.what
    assert "list-profiles" in error.remedy


# Credentials


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


# Keys that were given


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


# Models


def test_a_model_that_is_only_reached_through_a_profile_is_refused_with_its_name(
    environment: Environment,
) -> None:
    error = refusal(environment, PROFILED)
    assert "only reached through an inference profile" in error.what
    assert error.remedy == f"--model us.{PROFILED}"
    assert checks(environment, PROFILED)["served model"].fix == error.remedy


def test_without_a_near_profile_the_worldwide_one_is_named(
    plane: ControlPlane, environment: Environment
) -> None:
    plane.profiles = [f"global.{PROFILED}"]
    assert refusal(environment, PROFILED).remedy == f"--model global.{PROFILED}"


def test_a_model_that_the_region_does_not_offer_is_refused(environment: Environment) -> None:
    error = refusal(environment, "mistral.nothing-v1:0")
    assert "is not offered in us-east-1" in error.what
    assert "--aws-region" in error.remedy


def test_a_profile_that_is_not_there_fails_the_check_with_one_that_is(environment: Environment) -> None:
    check = checks(environment, f"eu.{PROFILED}")["served model"]
    assert check.state is CheckState.FAIL
    assert check.fix == f"--model global.{PROFILED}"


def test_all_is_well_is_said_line_by_line_without_the_whole_account(environment: Environment) -> None:
    found = checks(environment, f"us.{PROFILED}")
    assert {check.state for check in found.values()} == {CheckState.PASS}
    assert list(found) == ["region", "credentials", "credentials last", "served model"]
    assert "123456789012" not in found["credentials"].found
    assert found["credentials"].found.endswith("...9012")


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ({"agreementAvailability": {"status": "NOT_AVAILABLE"}}, "agreement: not available"),
        ({"authorizationStatus": "NOT_AUTHORIZED"}, "authorization: not authorized"),
        ({"regionAvailability": "NOT_AVAILABLE"}, "region: not available"),
    ],
)
def test_a_model_that_the_account_may_not_use_fails_with_what_is_lacking(
    lacking: dict[str, object], words: str, plane: ControlPlane, environment: Environment
) -> None:
    plane.lacking = lacking
    check = checks(environment)["model access"]
    assert (check.state, words in check.found) == (CheckState.FAIL, True)
    assert check.fix


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException"])
def test_an_account_that_does_not_tell_about_models_is_warned_and_can_run(
    code: str, plane: ControlPlane, environment: Environment
) -> None:
    plane.refusal = (403, code)
    assert opened(environment, PROFILED) is not None
    check = checks(environment)["served model"]
    assert check.state is CheckState.WARN
    assert "bedrock:GetFoundationModel" in check.fix


def test_temporary_keys_that_nobody_renews_are_warned_of(environment: Environment) -> None:
    check = checks({**environment, "AWS_SESSION_TOKEN": "a-session-token"})["credentials last"]
    assert check.state is CheckState.WARN


def test_nothing_that_the_checks_say_holds_a_secret(environment: Environment) -> None:
    said = repr(checks({**environment, "AWS_SESSION_TOKEN": "a-session-token"}))
    assert not [secret for secret in (*KEYS.values(), "a-session-token") if secret in said]
