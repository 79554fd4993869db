"""Server command: ``invoke model-server`` from its flags to what is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runner.engine.places import Places
from runner.engine.server_flags import BEHIND
from runner.errors import UsageError
from runner.providers.model_server import (
    model_server_lines,
    start_model_proxy,
    start_model_server,
    stop_model_servers,
)


def server_command(
    places: Places, say: Callable[[str], None], *, environment: Mapping[str, str], given: Mapping[str, Any]
) -> int:
    """Stop, then start what the flags ``given`` say; show what is up where they say nothing; returns 0.

    Raises:
        ConfigurationError: a key's variable is not set, or a program or a recipe is not there.
        EndpointError: a server does not come up, or a run uses it.
        UsageError: there is no such recipe or protocol, or a flag is for a proxy and none is to be started.
    """
    needless = [name for name in BEHIND if given[name] and name != "api_key_env"]
    if needless and not given["proxy"]:
        shown = "--" + needless[0].replace("_", "-")
        raise UsageError(f"{shown} says what is behind a proxy", remedy="name its model with --proxy")
    state, key = places.servers, given["api_key_env"]
    if given["stop"]:
        for line in stop_model_servers(state, environment):
            say(line)
    if given["start"]:
        started = start_model_server(
            given["start"],
            recipes=places.recipes,
            state=state,
            environment=environment,
            say=say,
            api_key_env=key,
        )
        say(started)
    if given["proxy"]:
        behind = {name: given[name] for name in BEHIND}
        started = start_model_proxy(
            given["proxy"],
            behind,
            installed=places.harnesses,
            state=state,
            environment=environment,
            say=say,
        )
        say(started)
    if not any(given[name] for name in ("start", "stop", "proxy")):
        for line in model_server_lines(places.recipes, state, environment, key):
            say(line)
    return 0
