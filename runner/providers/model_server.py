"""Model server: what ``invoke model-server`` shows, starts and stops: vLLM and proxies of this project."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from runner.errors import EndpointError, UsageError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.address import api_key
from runner.providers.asking import Asker, printable
from runner.providers.background import is_up
from runner.providers.base import ProviderSettings
from runner.providers.catalogue import window_in
from runner.providers.litellm import route_of
from runner.providers.litellm_program import find_proxy
from runner.providers.litellm_proxy import MASTER_KEY_ENV, is_healthy, proxies, start_proxy, stop_proxies
from runner.providers.litellm_routes import FORMS
from runner.providers.probing import key_headers
from runner.providers.recipe_file import all_recipes, find_recipe
from runner.providers.served import LISTED, served_ids
from runner.providers.vllm import Vllm
from runner.providers.vllm_server import VllmServer

Say = Callable[[str], None]


def start_model_server(
    name: str,
    *,
    recipes: Path,
    state: Path,
    environment: Mapping[str, str],
    say: Say,
    api_key_env: str | None = None,
) -> str:
    """Start the server of a recipe, try it with one tool call, and leave it up; what it is now.

    Raises:
        ConfigurationError: the recipe has faults, the key's variable is not set, or vLLM is not there.
        EndpointError: it does not come up, or fails the test; then it stays up, to be looked at.
        UsageError: there is no such recipe.
    """
    recipe = find_recipe(name, recipes)
    server = VllmServer(state, environment, say)
    started = server.start(recipe, api_key(api_key_env, environment))
    settings = ProviderSettings(recipe=name, recipes=str(recipes), state=str(state), api_key_env=api_key_env)
    with Vllm().session(recipe.served_names[0], settings, environment) as session:
        session.endpoint(WireProtocol.CHAT_COMPLETIONS, run="test", scenario="test/test")
    stop = "invoke model-server --stop"
    return f"{recipe.name} answers at {started.base_url} and calls tools; stop it with: {stop}"


def start_model_proxy(
    model: str,
    behind: Mapping[str, str | None],
    *,
    installed: Path,
    state: Path,
    environment: Mapping[str, str],
    say: Say,
) -> str:
    """Start a LiteLLM proxy for one model and leave it up; how it is reached.

    A run with ``--provider litellm`` starts one of its own and needs none of these.

    Args:
        behind: what is known of the server behind it: ``endpoint`` or ``aws_region``, ``backend_model``,
            ``backend_protocol``, ``api_key_env``.

    Raises:
        ConfigurationError: the address is missing or wrong, a key's variable is not set, or the proxy is not
            installed.
        EndpointError: it does not come up.
        UsageError: there is no such protocol.
    """
    settings = ProviderSettings(
        base_url=behind.get("endpoint"),
        api_key_env=behind.get("api_key_env"),
        backend_model=behind.get("backend_model"),
        backend_protocol=_protocol(behind.get("backend_protocol")),
        aws_region=behind.get("aws_region"),
    )
    route = route_of(model, settings)
    api_key(route.api_key_env, environment)
    proxy = start_proxy(find_proxy(str(installed)), [route], state=state, environment=environment, say=say)
    flags = f"--provider endpoint --endpoint {proxy.base_url}/v1 --api-key-env {MASTER_KEY_ENV}"
    stop = "invoke model-server --stop"
    return f"the proxy for {model} is up: {flags} --model {shlex.quote(model)}; stop it with: {stop}"


def _protocol(name: str | None) -> WireProtocol | None:
    if name is None or name in set(WireProtocol):
        return None if name is None else WireProtocol(name)
    raise UsageError(f"there is no protocol {name!r}", remedy=f"--backend-protocol {'|'.join(FORMS)}")


def stop_model_servers(state: Path, environment: Mapping[str, str]) -> list[str]:
    """Stop what was started from here and no run uses; a line for each.

    Raises:
        EndpointError: a run uses the server.
    """
    stopped = VllmServer(state, environment).stop()
    lines = [f"stopped the server of {stopped.what}"] if stopped else []
    lines += [f"stopped a proxy for {what}" for what in stop_proxies(state)]
    lines += [
        f"the proxy for {proxy.what} is left up: the run of process {proxy.owner} uses it"
        for _, proxy in proxies(state)
        if is_up(proxy)
    ]
    return lines or ["nothing of ours was up"]


def model_server_lines(
    recipes: Path, state: Path, environment: Mapping[str, str], api_key_env: str | None = None
) -> Iterator[str]:
    """What is up, and what could be started.

    Raises:
        ConfigurationError: a recipe has faults, or the key's variable is not set.
    """
    running = VllmServer(state, environment).running()
    if running is None:
        yield "no model server of ours is up"
    else:
        yield f"{running.what}: process {running.pid} at {running.base_url}, log {running.log}"
        yield f"  {_answer(running.base_url, api_key(api_key_env, environment))}"
    for _, proxy in proxies(state):
        if is_up(proxy):
            health = "healthy" if is_healthy(proxy) else "does not answer"
            yield f"proxy for {proxy.what}: {health}, process {proxy.pid} at {proxy.base_url}"
            yield f"  log: {proxy.log}"
    for recipe in all_recipes(recipes):
        machine = f", for {recipe.instance_type}" if recipe.instance_type else ""
        yield f"recipe {recipe.name}: {recipe.repository}, {recipe.max_model_len} tokens{machine}"


def _answer(base_url: str, key: str) -> str:
    try:
        with Asker(key_headers(key)) as asker:
            version = asker.get(f"{base_url.removesuffix('/v1')}/version").body
            reply = asker.get(f"{base_url}/models")
    except EndpointError as error:
        return f"does not answer yet: {error.what}"
    served = served_ids(reply.body) or ()
    shown = [f"{printable(name)} ({window_in(reply.body, name) or 'unknown'} tokens)" for name in served]
    more = [f"{len(shown) - LISTED} more"] if len(shown) > LISTED else []
    number = printable(str(version.get("version", "")), 40) if isinstance(version, dict) else ""
    names = ", ".join([*shown[:LISTED], *more])
    return f"vLLM {number} serves {names or f'nothing that can be read ({reply.status})'}"
