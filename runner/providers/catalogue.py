"""Catalogue: what an endpoint's own list of models says, above all how large a context window is."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import httpx

from runner.errors import EndpointError
from runner.providers.asking import Asker

WINDOW_FIELDS = (
    "max_model_len",
    "max_input_tokens",
    "context_length",
    "context_window",
    "max_context_length",
)
"""In the order they are tried: vLLM, Anthropic, OpenRouter and others."""


def context_window(
    address: str, model: str, headers: Mapping[str, str], transport: httpx.BaseTransport | None
) -> int | None:
    """The context window of ``model`` in tokens as ``address`` tells it; None where it does not.

    Args:
        address: of a list of models (``{"data": [...]}``) or of the one model.
        model: id as the server lists it.
        headers: credentials and versions to send.
        transport: carries the question; None for the real network.
    """
    with contextlib.suppress(EndpointError), Asker(headers, transport) as asker:
        reply = asker.get(address)
        return window_in(reply.body, model) if reply.status == 200 else None
    return None


def window_in(body: object, model: str) -> int | None:
    """The window of ``model`` in a list of models, or in the description of the one model."""
    if not isinstance(body, dict):
        return None
    entries = body.get("data")
    for entry in entries if isinstance(entries, list) else [body]:
        if isinstance(entry, dict) and entry.get("id") == model:
            for name in WINDOW_FIELDS:
                window = entry.get(name)
                if isinstance(window, int) and not isinstance(window, bool) and window > 0:
                    return window
    return None
