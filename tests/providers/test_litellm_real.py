"""Real agents through the real proxy: their counts equal those of the server behind it, or say the loss."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.errors import ConfigurationError
from runner.harnesses.accounting_cassette import DATASET, EDIT, MODEL, WINDOW, write_cassette
from runner.harnesses.base import Assignment, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.address import root_for
from runner.providers.litellm_program import ProxyProgram, find_proxy
from runner.providers.litellm_proxy import Proxy, running_proxy
from runner.providers.litellm_routes import FOLDED, NO_CACHE, NO_REASONING, Route, loss_warnings, losses
from runner.records import Limits
from runner.replay import ReplayServer, RunCount
from tests.harnesses.real.stage import INSTALLED, installed_harness

CHAT, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES
RESPONSES, GENERATE = WireProtocol.RESPONSES, WireProtocol.GENERATE_CONTENT
PATHS = {CHAT: "/v1/chat/completions", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}


@dataclass(frozen=True)
class Way:
    """A harness, what it speaks, and what the server behind the proxy speaks."""

    harness: str
    client: WireProtocol
    backend: WireProtocol
    faults: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the route and of the server's run."""
        return "-".join([self.harness, self.client, "to", self.backend, *self.faults])


WAYS = (
    Way("claude-code", MESSAGES, CHAT),
    Way("claude-code", MESSAGES, CHAT, ("first1-e500",)),
    Way("claude-code", MESSAGES, MESSAGES),
    Way("codex", RESPONSES, CHAT),
    Way("codex", RESPONSES, CHAT, ("first1-e500",)),
    Way("pi", CHAT, MESSAGES),
    Way("gemini-cli", GENERATE, CHAT),
    Way("loop", CHAT, RESPONSES),
    Way("loop", CHAT, CHAT, ("e400",)),
)


def the_program() -> ProxyProgram:
    """The real proxy, or a skip that says how to install it."""
    try:
        return find_proxy(str(INSTALLED))
    except ConfigurationError as error:
        pytest.skip(f"{error.what}: {error.remedy}")


@dataclass(frozen=True)
class Scene:
    """One proxy with a route for each way, and the server behind all of them."""

    server: ReplayServer
    proxy: Proxy
    log: Path

    def run(self, way: Way, folder: Path) -> Reading:
        """Let the harness do the task of the cassette over its way."""
        harness = installed_harness(way.harness)
        for name in ("workspace", "artifacts", "home"):
            (folder / name).mkdir(parents=True)
        (folder / "workspace" / "calc.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
        base = root_for(f"{self.proxy.address}/v1", way.client)
        places = f"workspace: {folder / 'workspace'}\nartifacts_dir: {folder / 'artifacts'}"
        assignment = Assignment(
            prompt=f"{places}\n\nFix add() in calc.py.",
            workspace=folder / "workspace",
            artifacts=folder / "artifacts",
            home=folder / "home",
            endpoint=Endpoint(base, way.client, way.name, self.proxy.key, context_window=WINDOW),
            limits=Limits(),
            installed=INSTALLED,
        )
        supervise(
            harness.launch(assignment),
            stdout=folder / "stdout",
            timeout_seconds=900,
            cancelled=threading.Event(),
        )
        return harness.read(folder / "stdout", assignment)

    def paths(self, way: Way) -> set[str]:
        """The API's paths that the server was asked at."""
        lines = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        mine = [line["path"] for line in lines if f"/{way.name}/" in line["path"]]
        return {path[path.index("/v1/") :] for path in mine}

    def count(self, way: Way) -> RunCount:
        """What the server counted."""
        return self.server.count(way.name)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    program, folder = the_program(), tmp_path_factory.mktemp("proxy")
    log = folder / "requests.jsonl"
    with ReplayServer(write_cassette(folder / "cassettes"), log=log) as server:
        routes = [
            Route(
                way.name,
                MODEL,
                server.url_for(run=way.name, scenario=f"{DATASET}/{EDIT}", faults=way.faults) + "/v1",
                way.backend,
                "BACKEND_KEY",
            )
            for way in WAYS
        ]
        environment = {**os.environ, "BACKEND_KEY": "replay-needs-no-key-this-is-a-dummy"}
        with running_proxy(
            program, routes, state=folder / "state", environment=environment, say=lambda _: None
        ) as proxy:
            yield Scene(server, proxy, log)


@pytest.mark.parametrize("way", [pytest.param(way, id=way.name) for way in WAYS])
def test_an_agent_works_through_the_proxy_and_its_counts_agree_or_the_loss_is_named(
    scene: Scene, way: Way, tmp_path: Path
) -> None:
    reading, counted = scene.run(way, tmp_path), scene.count(way)
    fails = "e400" in way.faults
    assert reading.is_error is fails, reading
    assert counted.requests == (1 if fails else 4 + len(way.faults))
    assert scene.paths(way) == {PATHS[way.backend]}
    if fails:
        return
    assert "a + b" in (tmp_path / "workspace" / "calc.py").read_text()
    usage, told, lost = reading.usage, counted.told, losses(way.backend, way.client)
    assert usage is not None
    assert usage.output_tokens == told.output
    if NO_CACHE in lost:
        assert usage.input_tokens == told.uncached + told.cache_read
        assert not usage.cache_read_tokens
    else:
        assert (usage.input_tokens, usage.cache_read_tokens) == (told.uncached, told.cache_read)
    assert (usage.cache_write_tokens or 0) == told.cache_write
    assert (FOLDED in lost) is (way.client is MESSAGES and counted.reported.cache_write > told.cache_write)
    assert (usage.reasoning_tokens or 0) == (0 if NO_REASONING in lost else told.reasoning)
    codes = {warning.code for warning in loss_warnings(way.backend, way.client)}
    assert codes == ({"lost-in-translation"} if lost else set())
