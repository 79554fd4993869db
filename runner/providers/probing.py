"""Probing: what a server with one of the common APIs says before a run, asked without spending tokens.

A protocol is probed with a request that no server can answer: the messages have the wrong type, and one token
is the most that may be made. A server that has the route refuses the request (400 or 422, as vLLM, LiteLLM,
llama.cpp, Ollama and the vendors do); one that has not says 404 or 405. Should a server take it all the same,
it makes one token at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from runner.errors import EndpointError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.address import VERSION_PATH, root_for
from runner.providers.asking import Asker, Reply, printable
from runner.providers.catalogue import window_in
from runner.providers.checks import CONTEXT_WINDOW, CREDENTIALS, ENDPOINT, PROTOCOL, Check, CheckState
from runner.providers.served import served_check, served_ids

KEY_NAME = "MODEL_API_KEY"
"""A name to offer for the variable of a key."""
NO_ROUTE = frozenset({404, 405, 501})
NOT_A_LIST = "correct the address with --endpoint: it ends where the API begins, as in http://host:port/v1"
IMPOSSIBLE = "a pre-flight that must be refused"
WRONG_TYPES: Mapping[WireProtocol, Mapping[str, object]] = {
    WireProtocol.CHAT_COMPLETIONS: {"messages": IMPOSSIBLE, "max_tokens": 1},
    WireProtocol.MESSAGES: {"messages": IMPOSSIBLE, "max_tokens": 1},
    WireProtocol.RESPONSES: {"input": 0, "max_output_tokens": 1},
    WireProtocol.GENERATE_CONTENT: {"contents": IMPOSSIBLE, "generationConfig": {"maxOutputTokens": 1}},
}
OTHERS = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES)


@dataclass(frozen=True)
class Server:
    """A server as the pre-flight asks it.

    Args:
        base_url: where its API begins; the list of models is ``<base_url>/models``.
        key: sent with every request; empty for none.
        key_variable: the environment variable it came from, for messages.
    """

    base_url: str
    key: str = field(default="", repr=False)
    key_variable: str | None = None


def key_headers(key: str) -> dict[str, str]:
    """The key as the servers of Chat Completions and Responses want it."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def probe(server: Server, model: str, protocols: Sequence[WireProtocol], asker: Asker) -> Iterator[Check]:
    """Reachable, key accepted, model served, window, and each protocol; it stops where nothing can follow."""
    try:
        reply = asker.get(f"{server.base_url}/models")
    except EndpointError as error:
        yield Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy)
        return
    refusal = refused(reply, server)
    if refusal is not None:
        yield refusal
        return
    served = served_ids(reply.body) if reply.status == 200 else None
    if served is None:
        check = _without_list(server, reply, asker)
        yield check
        if check.state is CheckState.FAIL:
            return
    else:
        yield Check(ENDPOINT, CheckState.PASS, f"{printable(server.base_url)} answers, {_models(served)}")
        named = served_check(model, served)
        yield named
        if named.state is CheckState.FAIL:
            return
        window = window_in(reply.body, model)
        if window is not None:
            found = f"{window} tokens, as the server says"
            yield Check(CONTEXT_WINDOW, CheckState.PASS, found, window=window)
    yield from _protocols(server, model, protocols, asker)


def refused(reply: Reply, server: Server) -> Check | None:
    """The check for an answer that ends the pre-flight of a server; None for one that does not."""
    said = f": {_without_key(reply.said, server.key)}" if reply.said else ""
    variable = server.key_variable
    if reply.status == 401:
        what = f"does not accept the key in {variable}"
        fix = f"export {variable}=... with a key of this server"
        if not server.key:
            what = "wants a key, and none was sent"
            fix = f"export {KEY_NAME}=..., and --api-key-env {KEY_NAME}"
        return Check(CREDENTIALS, CheckState.FAIL, f"the server {what} (401){said}", fix)
    if reply.status == 403:
        held = f"the key in {variable}" if server.key else "a request without a key"
        return Check(
            CREDENTIALS,
            CheckState.FAIL,
            f"the server knows {held} and does not allow it this (403){said}",
            "give the key the right to use the model, or name another with --api-key-env",
        )
    if reply.status in range(300, 400):
        return Check(
            ENDPOINT,
            CheckState.FAIL,
            f"the server redirects ({reply.status}), and a key does not follow a redirect",
            f"give the final address: --endpoint {reply.location.removesuffix('/models') or '...'}",
        )
    if reply.status >= 500 and reply.status not in NO_ROUTE:
        return Check(
            ENDPOINT,
            CheckState.FAIL,
            f"the server fails ({reply.status}){said}",
            "look into the server's log, then: invoke preflight",
        )
    return None


def protocol_check(protocol: WireProtocol, reply: Reply, server: Server) -> Check | None:
    """What the answer to an impossible request says of ``protocol``; None where there is no such route."""
    name = f"{PROTOCOL} {protocol}"
    said = _without_key(reply.said, server.key)
    if reply.status in {401, 403}:
        return refused(reply, server)
    if reply.status in NO_ROUTE:
        if reply.status == 404 and "model" in said.lower():
            found = f"the route is there, but not the model: {said}"
            return Check(name, CheckState.FAIL, found, "correct --model")
        return None
    if reply.status in {402, 429}:
        return Check(
            name,
            CheckState.WARN,
            f"the server refuses for now ({reply.status}){': ' + said if said else ''}",
            "look at the quota of the key; trials may fail until it is free",
        )
    if reply.status >= 500:
        return Check(
            name,
            CheckState.WARN,
            f"cannot be told: the server fails at a faulty request ({reply.status})",
            "try one trial first: --count 1",
        )
    return Check(name, CheckState.PASS, f"the route is there ({reply.status} for a faulty request)")


def _protocols(
    server: Server, model: str, protocols: Sequence[WireProtocol], asker: Asker
) -> Iterator[Check]:
    """A check for each of ``protocols``, and one for the key, which a list of models may not ask for."""
    accepted = True
    for protocol in protocols:
        if protocol not in WRONG_TYPES:
            found = "no server of this kind speaks it"
            yield Check(f"{PROTOCOL} {protocol}", CheckState.FAIL, found, "leave --protocol out")
            continue
        try:
            check = protocol_check(protocol, _impossible(server, model, protocol, asker), server)
        except EndpointError as error:
            yield Check(f"{PROTOCOL} {protocol}", CheckState.FAIL, error.what, error.remedy)
            return
        if check is None:
            check = Check(
                f"{PROTOCOL} {protocol}",
                CheckState.FAIL,
                "the server has no such route",
                _instead(server, model, protocol, asker),
            )
        accepted = accepted and check.name != CREDENTIALS
        yield check
        if not accepted:
            return
    if server.key:
        yield Check(CREDENTIALS, CheckState.PASS, f"the key in {server.key_variable} is not refused")


def _instead(server: Server, model: str, missing: WireProtocol, asker: Asker) -> str:
    """What to do where a protocol is missing: another one that is there, or a proxy."""
    for other in OTHERS:
        if other is missing:
            continue
        try:
            check = protocol_check(other, _impossible(server, model, other, asker), server)
        except EndpointError:
            break
        if check is not None and check.state is CheckState.PASS:
            return f"--protocol {other}, with a harness that speaks it, or a proxy: --provider litellm"
    return NOT_A_LIST


def _impossible(server: Server, model: str, protocol: WireProtocol, asker: Asker) -> Reply:
    root = root_for(server.base_url, protocol)
    named = {} if protocol is WireProtocol.GENERATE_CONTENT else {"model": model}
    headers = key_headers(server.key)
    address = {
        WireProtocol.CHAT_COMPLETIONS: f"{root}/chat/completions",
        WireProtocol.RESPONSES: f"{root}/responses",
        WireProtocol.MESSAGES: f"{root}/v1/messages",
        WireProtocol.GENERATE_CONTENT: f"{root}/v1beta/models/{quote(model, safe='')}:generateContent",
    }[protocol]
    if protocol is WireProtocol.MESSAGES:
        headers |= {"anthropic-version": "2023-06-01", **({"x-api-key": server.key} if server.key else {})}
    if protocol is WireProtocol.GENERATE_CONTENT and server.key:
        headers |= {"x-goog-api-key": server.key}
    return asker.post(address, {**named, **WRONG_TYPES[protocol]}, headers)


def _without_list(server: Server, reply: Reply, asker: Asker) -> Check:
    """The endpoint's check where ``/models`` is no list of models."""
    if not server.base_url.endswith(VERSION_PATH):
        longer = server.base_url + VERSION_PATH
        try:
            if served_ids(asker.get(f"{longer}/models").body) is not None:
                found = "the API begins one step deeper"
                return Check(ENDPOINT, CheckState.FAIL, found, f"--endpoint {printable(longer)}")
        except EndpointError as error:
            return Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy)
    if reply.status == 200:
        return Check(ENDPOINT, CheckState.FAIL, "it answers, but with no list of models", NOT_A_LIST)
    return Check(
        ENDPOINT,
        CheckState.WARN,
        f"it answers, but has no list of models ({reply.status}): neither model nor window can be asked for",
        "make sure of the model's name, and give its window with --context-window",
    )


def _models(served: Sequence[str]) -> str:
    return "1 model" if len(served) == 1 else f"{len(served)} models"


def _without_key(text: str, key: str) -> str:
    return text.replace(key, "<key>") if key else text
