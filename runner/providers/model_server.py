"""Model server: what ``invoke model-server`` shows, starts and stops: vLLM and proxies of this project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from runner.errors import EndpointError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.address import api_key
from runner.providers.asking import Asker, printable
from runner.providers.background import is_up
from runner.providers.base import ProviderSettings
from runner.providers.catalogue import window_in
from runner.providers.litellm_proxy import proxies, stop_proxies
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
            yield f"proxy for {proxy.what}: process {proxy.pid} at {proxy.base_url}, log {proxy.log}"
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
