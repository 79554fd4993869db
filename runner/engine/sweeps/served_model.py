"""Served model: asks a server before a sweep whether it serves the model that is to be measured."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from runner.errors import EndpointError
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.address import VERSION_PATH
from runner.providers.asking import Asker
from runner.providers.checks import CheckState
from runner.providers.probing import NO_ROUTE, Server, key_headers, refused
from runner.providers.served import served_check, served_ids

LISTING = frozenset({WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES})
"""Protocols whose servers list their models at ``/v1/models``."""


def require_served(
    endpoint: Endpoint,
    key_variable: str | None,
    say: Callable[[str], None],
    transport: httpx.BaseTransport | None = None,
) -> None:
    """Refuse a model that the server does not list; some servers answer for it all the same.

    A server without such a list is gone on with, and that is said.

    Args:
        endpoint: where the model answers.
        key_variable: the environment variable of its key, for messages.
        say: gets the note about a server without a list.
        transport: carries the request; None for the real network.

    Raises:
        EndpointError: another model is served, or the server refuses the key or fails; with a remedy.
    """
    if endpoint.protocol not in LISTING or not endpoint.base_url:
        return
    base_url = endpoint.base_url.removesuffix(VERSION_PATH) + VERSION_PATH
    key = endpoint.key_now()
    with Asker(key_headers(key), transport) as asker:
        reply = asker.get(f"{base_url}/models")
    served = served_ids(reply.body) if reply.status == 200 else None
    if served is not None:
        check = served_check(endpoint.model, served)
    elif (found := refused(reply, Server(base_url, key, key_variable))) is not None:
        check = found
    elif reply.status in NO_ROUTE or reply.status == 200:
        say(f"the server has no list of models: whether it serves {endpoint.model} is not checked")
        return
    else:
        raise EndpointError(
            f"the list of models is refused ({reply.status}){': ' + reply.said if reply.said else ''}",
            where=base_url,
            remedy="see that the address ends with /v1",
        )
    if check.state is CheckState.FAIL:
        raise EndpointError(check.found, where=base_url, remedy=check.fix)
