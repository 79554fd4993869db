"""The proxy's configuration: one path per backend whatever a client speaks, keys by name, no second tries."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.litellm_routes import FORMS, Route, configuration, losses

BASE = "https://host/v1"
CHAT, RESPONSES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.RESPONSES
MESSAGES, GENERATE = WireProtocol.MESSAGES, WireProtocol.GENERATE_CONTENT


def parameters(speaks: WireProtocol, key: str | None = "SOME_KEY") -> dict[str, object]:
    found = Route("m", "vendor/raw:0", BASE, speaks, key).entry()["litellm_params"]
    assert isinstance(found, dict)
    return found


def test_a_chat_server_gets_chat_even_from_clients_of_responses() -> None:
    assert parameters(CHAT) == {
        "model": "hosted_vllm/vendor/raw:0",
        "api_base": BASE,
        "api_key": "os.environ/SOME_KEY",
        "use_chat_completions_api": True,
    }


def test_a_server_of_messages_is_named_without_the_version_that_its_client_adds() -> None:
    assert parameters(MESSAGES)["api_base"] == "https://host"
    assert parameters(MESSAGES)["model"] == "anthropic/vendor/raw:0"


def test_a_server_of_responses_is_asked_for_responses_only() -> None:
    assert parameters(RESPONSES)["model"] == "openai/responses/vendor/raw:0"


def test_a_server_without_a_key_gets_a_word_that_is_none() -> None:
    assert parameters(CHAT, None)["api_key"] == "no-key"


@pytest.mark.parametrize("speaks", sorted(set(WireProtocol) - set(FORMS)))
def test_no_route_is_made_where_nothing_was_measured(speaks: WireProtocol) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parameters(speaks)
    assert "--backend-protocol" in caught.value.remedy


def test_nothing_is_tried_again_or_kept_away_behind_the_agents_back() -> None:
    document = yaml.safe_load(
        configuration([Route("m", "m", BASE, CHAT, "SOME_KEY")], master_key_env="MASTER")
    )
    assert document["litellm_settings"]["num_retries"] == 0
    assert document["router_settings"] == {"num_retries": 0, "disable_cooldowns": True}
    assert document["general_settings"] == {"master_key": "os.environ/MASTER"}


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_any_name_of_a_model_comes_back_from_the_file_as_it_was(model: str, backend: str) -> None:
    document = yaml.safe_load(configuration([Route(model, backend, BASE, CHAT, None)], master_key_env="M"))
    (entry,) = document["model_list"]
    assert entry["model_name"] == model
    assert entry["litellm_params"]["model"] == "hosted_vllm/" + backend


@pytest.mark.parametrize("speaks", sorted(FORMS))
def test_nothing_is_lost_to_a_client_of_the_same_api(speaks: WireProtocol) -> None:
    assert losses(speaks, speaks) == ()


@pytest.mark.parametrize("speaks", sorted(FORMS))
def test_cached_counts_are_lost_to_every_client_of_generate_content(speaks: WireProtocol) -> None:
    assert any("cached input" in loss for loss in losses(speaks, GENERATE))


def test_cache_writes_are_lost_only_where_the_server_cannot_say_them() -> None:
    assert any("wrote to its cache" in loss for loss in losses(CHAT, MESSAGES))
    assert any("wrote to its cache" in loss for loss in losses(RESPONSES, MESSAGES))
    assert losses(MESSAGES, CHAT) == losses(MESSAGES, RESPONSES) == ()
