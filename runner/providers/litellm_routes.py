"""Routes of the LiteLLM proxy: what its configuration says of a backend, and what a translation loses.

The forms below were measured with version 1.108.7: each sends every client's requests to the one path that
the backend speaks, with its errors under their own status. Others that look right do not: a plain ``openai/``
sends Messages to ``/v1/responses`` and answers an error of the backend with 200 and ``null``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.address import root_for
from runner.records import DataWarning

CHAT = WireProtocol.CHAT_COMPLETIONS
MESSAGES = WireProtocol.MESSAGES
RESPONSES = WireProtocol.RESPONSES
GENERATE = WireProtocol.GENERATE_CONTENT

FORMS: Mapping[WireProtocol, tuple[str, Mapping[str, object]]] = {
    # Without the flag the clients of Responses would be sent on to /v1/responses.
    CHAT: ("hosted_vllm/", {"use_chat_completions_api": True}),
    RESPONSES: ("openai/responses/", {}),
    MESSAGES: ("anthropic/", {}),
}
"""Prefix of the model, and parameters, by what the backend speaks."""
NO_KEY = "no-key"
REQUEST_SECONDS = 3600

FOLDED = "what the backend wrote to its cache is part of the fresh input"
NO_REASONING = "how much of the output was reasoning is not said"
NO_CACHE = "cached input is not told apart and counts as fresh"


@dataclass(frozen=True)
class Route:
    """One model of the proxy and the backend that answers for it."""

    model: str
    """As clients ask for it."""
    backend_model: str
    base_url: str
    speaks: WireProtocol
    api_key_env: str | None
    """Environment variable of the backend's key; the configuration names it and holds no key."""

    def entry(self) -> dict[str, object]:
        """The route as an entry of ``model_list``.

        Raises:
            ConfigurationError: the proxy translates nothing for a backend of this kind.
        """
        if self.speaks not in FORMS:
            raise ConfigurationError(
                f"the proxy is not used with a backend that speaks {self.speaks}",
                remedy=f"name one that it speaks of {', '.join(FORMS)} with --backend-protocol, "
                "or use --provider endpoint",
            )
        prefix, parameters = FORMS[self.speaks]
        return {
            "model_name": self.model,
            "litellm_params": {
                "model": prefix + self.backend_model,
                "api_base": root_for(self.base_url, self.speaks),
                "api_key": f"os.environ/{self.api_key_env}" if self.api_key_env else NO_KEY,
                **parameters,
            },
        }


def configuration(routes: list[Route], *, master_key_env: str) -> str:
    """The proxy's configuration file. Keys stand in it by the names of their environment variables only.

    Nothing is tried again and nothing is left out for a while after an error: every request that the backend
    counts is then one that an agent knows of, and an agent sees every error.
    """
    return yaml.safe_dump(
        {
            "model_list": [route.entry() for route in routes],
            "litellm_settings": {
                "drop_params": True,
                "num_retries": 0,
                "request_timeout": REQUEST_SECONDS,
                "telemetry": False,
            },
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
            "general_settings": {"master_key": f"os.environ/{master_key_env}"},
        },
        sort_keys=False,
    )


def losses(speaks: WireProtocol, client: WireProtocol) -> tuple[str, ...]:
    """What of the token counts does not survive between a backend and a client, one sentence each."""
    if client is GENERATE:
        return (NO_CACHE, NO_REASONING)
    if client is MESSAGES and speaks is not MESSAGES:
        return (FOLDED, NO_REASONING)
    return ()


def loss_warnings(speaks: WireProtocol, client: WireProtocol) -> tuple[DataWarning, ...]:
    """The losses as warnings of a record."""
    return tuple(
        DataWarning(code="lost-in-translation", text=f"{speaks} to {client} through the proxy: {loss}")
        for loss in losses(speaks, client)
    )
