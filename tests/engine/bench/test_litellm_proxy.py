"""A benchmark through the real LiteLLM proxy, a server that was not written here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runner.endpoint.request import Protocol
from runner.engine.bench.answering import Answering
from runner.engine.bench.casework import cases_again
from runner.engine.bench.command import BenchCall, bench_command
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.litellm_program import ProxyProgram, find_proxy
from runner.providers.litellm_proxy import Proxy, running_proxy
from runner.providers.litellm_routes import Route
from runner.replay.conversation import Conversation
from runner.replay.improvising import Said
from runner.replay.scenario import Faults, Scenario
from runner.replay.server import ReplayServer
from runner.store.bench_run import find_runs, newest
from tests.engine.bench.project import Project, make_project, options_of
from tests.harnesses.real.stage import INSTALLED

VARIABLE = "LOCAL_GATEWAY_KEY"
BACKEND_KEY = "replay-needs-no-key-this-is-a-dummy"
CHAT = WireProtocol.CHAT_COMPLETIONS
FIRST_MS = 150.0
ROUTES = {"steady": (f"slow{FIRST_MS:.0f}", "pace5"), "limited": ("e429",), "broken": ("e500",)}
CASES = (
    "seeded_shortest_path",
    "seeded_grounded_unknown",
    "tool_selection_exact",
    "fixed_output_stream",
)


def the_program() -> ProxyProgram:
    """The real proxy, or a skip that says how to install it."""
    try:
        return find_proxy(str(INSTALLED))
    except ConfigurationError as error:
        pytest.skip(f"{error.what}: {error.remedy}")


class Backend:
    """Right answers to the newest run of a project: its plan is written before the first request."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def __call__(self, scenario: Scenario, conversation: Conversation, faults: Faults) -> Said | None:
        """What is said behind the proxy."""
        run = newest(find_runs(self._project.places.results))
        if run is None:
            # Asked before there is a plan, which is the pre-flight.
            return Said("ready")
        manifest = run.manifest()
        return Answering(manifest, cases_again(manifest))(scenario, conversation, faults)


@contextmanager
def proxy_before(server: ReplayServer, state: Path) -> Iterator[Proxy]:
    """The proxy with a route for each behaviour of the server."""
    routes = [
        Route(
            name,
            "replay-careful",
            server.url_for(run=name, scenario="hello-world/fair-rounding", faults=faults) + "/v1",
            CHAT,
            "BACKEND_KEY",
        )
        for name, faults in ROUTES.items()
    ]
    environment = {**os.environ, "BACKEND_KEY": BACKEND_KEY}
    with running_proxy(
        the_program(), routes, state=state, environment=environment, say=lambda _: None
    ) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, ReplayServer, Proxy, Path]]:
    the_program()
    folder = tmp_path_factory.mktemp("bench-proxy")
    project = make_project(folder / "project", [("one", ())])
    log = folder / "requests.jsonl"
    cassettes = project.root / "datasets" / "cassettes"
    with (
        ReplayServer(cassettes, log=log, improviser=Backend(project)) as server,
        proxy_before(server, folder / "state") as proxy,
    ):
        yield project, server, proxy, log


Scene = tuple[Project, ReplayServer, Proxy, Path]


def bench(scene: Scene, model: str, protocol: Protocol) -> int:
    project, _, proxy, _ = scene
    root = proxy.address if protocol is Protocol.MESSAGES else f"{proxy.address}/v1"
    options = options_of(
        models=(model,), url=root, api_key_env=VARIABLE, protocol=protocol, cases=CASES, runs=2, repeats=0
    )
    return bench_command(project.places, project.said.append, BenchCall(options), {VARIABLE: proxy.key})


@pytest.mark.parametrize("protocol", [Protocol.CHAT_COMPLETIONS, Protocol.MESSAGES, Protocol.RESPONSES])
def test_a_run_through_the_proxy_is_right_and_its_times_hold_what_the_server_waited(
    scene: Scene, protocol: Protocol
) -> None:
    project, server, proxy, log = scene
    before = server.count("steady").requests
    assert bench(scene, "steady", protocol) == 0
    run = newest(find_runs(project.places.results))
    assert run is not None
    summary = run.summary()
    assert summary is not None
    (target,) = summary.targets
    requests = [request for trial in run.trials() for request in trial.requests]
    assert {request.outcome for request in requests} == {"ok"}
    # Those of the pre-flight are counted, and are in no trial.
    asked_before = sum(each.requests for each in run.manifest().preflight)
    assert server.count("steady").requests - before == asked_before + len(requests)
    assert target.score is not None
    assert (target.score.over_attempted.count, target.score.over_attempted.of) == (6, 6)
    for request in requests:
        # What the proxy adds is part of the endpoint's time; less than the server waited it never is.
        assert request.timing.ttft_ms is not None
        assert request.timing.ttft_ms >= FIRST_MS
    paths = {json.loads(line)["path"] for line in log.read_text(encoding="utf-8").splitlines()}
    assert all(path.endswith("/v1/chat/completions") for path in paths)
    written = b"".join(path.read_bytes() for path in project.places.results.rglob("*") if path.is_file())
    assert proxy.key.encode() not in written
    assert BACKEND_KEY.encode() not in written


@pytest.mark.parametrize(("model", "outcome"), [("limited", "rate_limited"), ("broken", "http_error")])
def test_a_refusal_behind_the_proxy_keeps_its_class_and_is_asked_once(
    scene: Scene, model: str, outcome: str
) -> None:
    project, server, _, _ = scene
    assert bench(scene, model, Protocol.CHAT_COMPLETIONS) == 3
    run = newest(find_runs(project.places.results))
    assert run is not None
    requests = [request for trial in run.trials() for request in trial.requests]
    assert {request.outcome for request in requests} == {outcome}
    asked_before = sum(each.requests for each in run.manifest().preflight)
    assert server.count(model).requests == asked_before + len(requests)
