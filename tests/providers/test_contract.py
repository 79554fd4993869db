"""The contract that every registered provider keeps."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import ConfigurationError, UsageError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ProviderSettings, protocols_for
from runner.providers.registry import PROVIDERS, provider
from runner.records import Hosting
from tests.harnesses.kiro_standin import put_stand_in
from tests.ports import held_port
from tests.providers.proxy_standin import install_standin
from tests.providers.vllm_stage import VllmStage
from tests.providers.vllm_standin import install_program
from tests.replay.tapes import tape

KEY = "provider-key-0123456789"
NAMES = sorted(PROVIDERS)


@pytest.fixture(autouse=True)
def programs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for programs that no registry has or no test machine could run, first on the search path."""
    folder = put_stand_in(tmp_path_factory.mktemp("programs")).parent
    install_program(folder)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def settings(tmp_path: Path, name: str) -> Iterator[ProviderSettings]:
    with held_port() as port:
        stage = VllmStage(tmp_path, port)
        stage.recipe("m")
        yield ProviderSettings(
            recipes=str(stage.recipes),
            state=str(tmp_path / "state"),
            base_url="http://127.0.0.1:9/v1" if name in {"endpoint", "litellm"} else None,
            installed=str(install_standin(tmp_path / "installed")) if name == "litellm" else None,
            api_key_env="SOME_KEY",
            aws_region="eu-west-1",
            context_window=1234,
            cassettes=str(tape(tmp_path)),
        )


@pytest.mark.parametrize("name", NAMES)
def test_it_says_who_it_is_and_who_runs_the_machines(name: str) -> None:
    found = provider(name)
    assert found.name == name
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", found.name)
    assert found.hosting in Hosting
    assert found.protocols
    assert found.demonstration == (found.hosting is Hosting.BUILT_IN)


@pytest.mark.parametrize("name", NAMES)
def test_a_session_makes_endpoints_for_each_of_its_protocols(name: str, settings: ProviderSettings) -> None:
    found = provider(name)
    with found.session("m", settings, {"SOME_KEY": KEY}) as session:
        for protocol in protocols_for(found, "m"):
            endpoint = session.endpoint(protocol, run="r-1", scenario="demo/t")
            assert endpoint.protocol is protocol
            assert endpoint.model == "m"
            if protocol is WireProtocol.MANAGED:
                assert endpoint.base_url == ""
            else:
                assert endpoint.base_url.startswith(("http://", "https://"))
            versioned = protocol in {WireProtocol.CHAT_COMPLETIONS, WireProtocol.RESPONSES}
            assert endpoint.base_url.endswith("/v1") == versioned
            assert not endpoint.base_url.endswith("/")
            assert endpoint.context_window == 1234
            assert endpoint.api_key
            assert endpoint.api_key not in repr(endpoint) + repr(session)
            assert endpoint.api_key not in endpoint.base_url


@pytest.mark.parametrize("name", NAMES)
def test_a_protocol_it_does_not_offer_is_refused(name: str, settings: ProviderSettings) -> None:
    found = provider(name)
    with found.session("m", settings, {"SOME_KEY": KEY}) as session:
        for protocol in set(WireProtocol) - set(protocols_for(found, "m")):
            with pytest.raises(ConfigurationError):
                session.endpoint(protocol, run="r", scenario="demo/t")


@pytest.mark.parametrize("name", NAMES)
def test_only_the_protocols_that_the_user_names_are_offered(name: str, settings: ProviderSettings) -> None:
    found = provider(name)
    *others, named = protocols_for(found, "m")
    with found.session("m", replace(settings, protocols=(named,)), {"SOME_KEY": KEY}) as session:
        assert session.endpoint(named, run="r", scenario="demo/t").protocol is named
        for protocol in others:
            with pytest.raises(ConfigurationError) as caught:
                session.endpoint(protocol, run="r", scenario="demo/t")
            assert named in caught.value.remedy


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_counts_saw_nothing_yet_and_another_says_nothing(
    name: str, settings: ProviderSettings
) -> None:
    with provider(name).session("m", settings, {"SOME_KEY": KEY}) as session:
        assert session.requests_seen("r-1") == (0 if name == "replay" else None)


@pytest.mark.parametrize("name", NAMES)
def test_missing_settings_are_a_mistake_of_the_user(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught, provider(name).session("m", ProviderSettings(), {}):
        pytest.fail("a session without any settings")
    assert caught.value.remedy


def test_an_unknown_name_offers_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'replay'"):
        provider("reply")


def test_an_import_path_stands_for_a_provider_outside_the_registry() -> None:
    assert provider("runner.providers.compatible:CompatibleEndpoint").name == "endpoint"
    with pytest.raises(ConfigurationError, match="no provider: it has no"):
        provider("pathlib:PurePath")
