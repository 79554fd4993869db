"""Checks of the provider ``vllm``: the recipe, the program, and the server, before anything is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import httpx

from runner.errors import ConfigurationError, EndpointError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.address import VERSION_PATH, api_key, checked_base_url
from runner.providers.asking import Asker
from runner.providers.base import ProviderSettings
from runner.providers.checks import CONTEXT_WINDOW, CREDENTIALS, ENDPOINT, Check, CheckState
from runner.providers.probing import Server, key_headers, probe
from runner.providers.recipe import Recipe
from runner.providers.vllm_server import (
    VllmServer,
    find_vllm,
    installed_version,
    recipe_key,
    require_free_port,
)

RESPONSES_FAIL = frozenset({"minicpm5", "minicpm5xml", "dots", "hy_v3", "hy_v4", "rust", "step3", "step3p5"})
"""Tool-call parsers from which no call came over Responses, as published for runs with codex."""
RESPONSES_WORK = ("qwen3_coder", "hermes")


@dataclass(frozen=True)
class ParserFault:
    """A tool-call parser that is known not to work."""

    what: str
    fix: str


def parser_fault(parser: str | None, protocol: WireProtocol) -> ParserFault | None:
    """What is known against ``parser`` over ``protocol``; None where nothing is."""
    if parser is None or protocol is not WireProtocol.RESPONSES or parser not in RESPONSES_FAIL:
        return None
    return ParserFault(
        f"no tool calls come over Responses from the parser {parser}",
        f"use a harness that speaks another API; parsers that work: {', '.join(RESPONSES_WORK)}",
    )


def recipe_checks(recipe: Recipe, clients: Sequence[WireProtocol]) -> Iterator[Check]:
    """What can be said of the recipe itself.

    Args:
        clients: what the harnesses of the run speak.
    """
    machine = f", meant for {recipe.instance_type}" if recipe.instance_type else ""
    yield Check("recipe", CheckState.PASS, f"{recipe.name}: {recipe.repository}{machine}")
    if recipe.tool_call_parser is None:
        yield Check(
            "tool calls",
            CheckState.FAIL,
            f"recipe {recipe.name} names no tool-call parser, so no agent can work",
            "add tool_call_parser to the recipe",
        )
    for client in clients:
        fault = parser_fault(recipe.tool_call_parser, client)
        if fault is not None:
            yield Check("tool calls", CheckState.FAIL, fault.what, fault.fix)
    if recipe.trust_remote_code and recipe.revision is None:
        yield Check(
            "remote code",
            CheckState.WARN,
            f"whatever Python {recipe.repository} holds at the time of the start runs inside the server",
            "add the revision that you have read to the recipe",
        )


def server_checks(
    model: str,
    settings: ProviderSettings,
    environment: Mapping[str, str],
    recipe: Recipe | None,
    server: VllmServer,
    transport: httpx.BaseTransport | None,
) -> Iterator[Check]:
    """The server that is named or up, or what is there to start one with."""
    try:
        key = api_key(settings.api_key_env, environment)
    except ConfigurationError as error:
        yield Check(CREDENTIALS, CheckState.FAIL, error.what, error.remedy)
        return
    if settings.base_url is None:
        if recipe is None:
            yield Check(
                ENDPOINT,
                CheckState.FAIL,
                f"no recipe serves {model}, and no server is named",
                "write a recipe for it, or give --endpoint http://host:port/v1 of a server that runs",
            )
            return
        running = server.running()
        if running is None or running.key != recipe_key(recipe):
            yield from _start_checks(recipe, environment, running.what if running else None)
            return
    try:
        base_url = (
            recipe.base_url if settings.base_url is None and recipe else checked_base_url(settings.base_url)
        )
    except ConfigurationError as error:
        yield Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy)
        return
    with Asker(key_headers(key), transport) as asker:
        yield from _version_check(base_url, recipe, asker)
        yield from probe(Server(base_url, key, settings.api_key_env), model, settings.protocols, asker)


def _start_checks(recipe: Recipe, environment: Mapping[str, str], other: str | None) -> Iterator[Check]:
    """Whether the server of ``recipe`` could be started; it is not."""
    try:
        program = find_vllm(environment)
    except ConfigurationError as error:
        yield Check("vllm program", CheckState.FAIL, error.what, error.remedy)
        return
    version = installed_version(program)
    shown = f"vLLM {version}" if version else "vLLM"
    yield from _old(version, recipe) or (Check("vllm program", CheckState.PASS, f"{shown} is installed"),)
    missing = [name for name in recipe.pass_environment if not environment.get(name)]
    if missing:
        yield Check(
            CREDENTIALS,
            CheckState.WARN,
            f"not set: {', '.join(missing)}; weights that ask for it cannot be loaded, others load slowly",
            f"export {missing[0]}=...",
        )
    if other is None:
        try:
            require_free_port(recipe)
        except EndpointError as error:
            yield Check(ENDPOINT, CheckState.FAIL, error.what, error.remedy)
            return
    then = f" in place of {other}" if other else ""
    yield Check(ENDPOINT, CheckState.PASS, f"not up; the run starts {recipe.name}{then}")
    window = recipe.max_model_len
    yield Check(CONTEXT_WINDOW, CheckState.PASS, f"{window} tokens, as the recipe says", window=window)


def _version_check(base_url: str, recipe: Recipe | None, asker: Asker) -> Iterator[Check]:
    try:
        reply = asker.get(f"{base_url.removesuffix(VERSION_PATH)}/version")
    except EndpointError:
        # What answers to nothing at all is said by the probe that follows.
        return
    version = reply.body.get("version") if isinstance(reply.body, dict) else None
    if not isinstance(version, str):
        yield Check(
            "server version",
            CheckState.WARN,
            "the server does not say its version as vLLM does",
            "check --endpoint",
        )
        return
    yield from (_old(version, recipe) if recipe else ()) or (
        Check("server version", CheckState.PASS, f"vLLM {version[:40]}"),
    )


def _old(version: str | None, recipe: Recipe) -> tuple[Check, ...]:
    wanted = recipe.minimum_vllm
    if version is None or wanted is None or _numbers(version) >= _numbers(wanted):
        return ()
    return (
        Check(
            "vllm program",
            CheckState.FAIL,
            f"vLLM {version[:40]} is older than {wanted}, which {recipe.name} needs",
            f"pip install 'vllm>={wanted}'",
        ),
    )


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split("+")[0].split(".")[:3]
    numbers = ["".join(each for each in part if each.isdigit()) for part in parts]
    return tuple(int(each) if each else 0 for each in numbers) + (0,) * (3 - len(parts))
