"""The provider bedrock: addresses, regions and models, and what can be said of them before a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from runner.engine.sessions import common_protocol
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from runner.providers.base import ProviderSettings
from runner.providers.bedrock import Bedrock
from runner.providers.bedrock_token import ends_at, region_in
from runner.providers.checks import CheckState
from runner.providers.registry import provider
from tests.providers.aws import KEYS, Environment, checks, opened, refusal
from tests.providers.control_plane import PLAIN, PROFILED, REGION, ControlPlane


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
    assert list(found) == ["region", "credentials", "credentials last", "served model", "endpoint"]
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


def test_a_service_that_nobody_answers_for_stops_a_run_even_where_sts_does_not_tell(
    environment: Environment,
) -> None:
    def nobody(request: httpx.Request) -> httpx.Response:
        assert not {"authorization", "x-amz-security-token"} & set(request.headers), "no key is shown"
        raise httpx.ConnectError("no route to host")

    assert checks(environment)["endpoint"].state is CheckState.PASS
    found = checks(environment, transport=httpx.MockTransport(nobody))["endpoint"]
    assert found.state is CheckState.FAIL
    assert "https://bedrock-runtime.us-east-1.amazonaws.com" in found.found
    assert "--endpoint" in found.fix
