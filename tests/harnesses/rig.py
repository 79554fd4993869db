"""Rig: a real child process of ``loop`` against a real replay server, in a temporary workspace."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.harnesses.loop import Loop
from runner.harnesses.loop_agent.job import Patience
from runner.records import Limits
from runner.replay import ReplayServer, RunCount

QUICK = Patience(attempts=3, base_seconds=0.01, cap_seconds=0.1, silence_seconds=60.0)
RUN = "run/1"
PATIENCE = 120.0
KEY = "a-key-that-nobody-may-see"
SHORT = "{artifacts}/implementation.md"

Turn = Mapping[str, object]


def turn(step: int, *actions: Mapping[str, object], task: str = "t", say: str = "on it") -> Turn:
    """A cassette turn with token counts that no other step has."""
    usage = {
        "uncached": 1000 + step,
        "cache_read": 20_000 + 3 * step,
        "cache_write": 300 + 7 * step,
        "output": 40 + 11 * step,
        "reasoning": 5 + step,
    }
    return {"task": task, "step": step, "say": say, "actions": list(actions), "usage": usage}


def write_cassette(folder: Path, turns: Sequence[Turn], *, dataset: str = "demo", model: str = "m") -> Path:
    """A cassette file below ``folder``; returns ``folder``."""
    header = {
        "kind": "cassette",
        "schema_version": 1,
        "dataset": dataset,
        "model": model,
        "context_window": 32_768,
        "note": "scripted for a test",
    }
    path = folder / dataset / f"{model}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *turns)), encoding="utf-8")
    return folder


EDITING: tuple[Turn, ...] = (
    turn(0, {"do": "list"}, {"do": "read", "path": "a.py"}),
    turn(1, {"do": "edit", "path": "a.py", "old": "x = 1", "new": "x = 2"}),
    turn(2, {"do": "write", "path": SHORT, "content": "## What changed\n"}),
    turn(3, say="done"),
)


@dataclass(frozen=True)
class Result:
    """How a run of the child ended."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    reading: Reading
    count: RunCount
    launch: Launch

    @property
    def events(self) -> list[dict[str, object]]:
        """Every event of the child."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.strip()]

    def tools(self) -> list[tuple[str, bool, str]]:
        """Name, success and result of every tool call."""
        return [
            (str(event["name"]), event["ok"] is True, str(event["result"]))
            for event in self.events
            if event["event"] == "tool"
        ]


@dataclass(frozen=True)
class Rig:
    """A server, a workspace and a harness, ready to run."""

    server: ReplayServer
    folder: Path
    loop: Loop = field(default_factory=lambda: Loop(patience=QUICK))
    limits: Limits = field(default_factory=Limits)
    prices: TokenPrices | None = None
    prompt: str | None = None
    run_id: str = RUN

    @property
    def workspace(self) -> Path:
        """Where the agent works."""
        return self.folder / "workspace"

    @property
    def artifacts(self) -> Path:
        """Where its artifacts go."""
        return self.folder / "artifacts"

    def with_limits(self, limits: Limits, prices: TokenPrices | None = None) -> Rig:
        """The same rig with other limits."""
        return replace(self, limits=limits, prices=prices)

    def assignment(self, base_url: str, model: str = "m") -> Assignment:
        """An assignment for the model at ``base_url``."""
        plain = f"workspace: {self.workspace}\nartifacts_dir: {self.artifacts}\nDo it."
        return Assignment(
            prompt=self.prompt or plain,
            workspace=self.workspace,
            artifacts=self.artifacts,
            home=self.folder / "home",
            endpoint=Endpoint(
                base_url, WireProtocol.CHAT_COMPLETIONS, model, KEY, context_window=32_768, prices=self.prices
            ),
            limits=self.limits,
        )

    def run(
        self,
        *faults: str,
        scenario: str = "demo/t",
        model: str = "m",
        until: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Run the child to its end, or kill it as soon as ``until`` says so."""
        base = self.server.url_for(run=self.run_id, scenario=scenario, faults=faults) + "/v1"
        return self.run_at(base, model=model, until=until)

    def run_at(self, base_url: str, *, model: str = "m", until: Callable[[], bool] = lambda: False) -> Result:
        """Run the child against any address."""
        assignment = self.assignment(base_url, model)
        launch = self.loop.launch(assignment)
        with subprocess.Popen(
            launch.command,
            env=dict(launch.environment),
            cwd=launch.working_directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as child:
            killer = threading.Thread(target=_kill, args=(child, until))
            killer.start()
            out, err = child.communicate(launch.stdin)
            killer.join()
        stdout = self.folder / "stdout"
        stdout.write_bytes(out)
        reading = self.loop.read(stdout, assignment)
        return Result(child.returncode, out, err, reading, self.server.count(self.run_id), launch)


def _kill(child: subprocess.Popen[bytes], until: Callable[[], bool]) -> None:
    """Kill the child when that is so, or when it takes far too long."""
    deadline = time.monotonic() + PATIENCE
    while child.poll() is None and not until() and time.monotonic() < deadline:
        time.sleep(0.02)
    child.kill()


@contextmanager
def open_rig(folder: Path, turns: Sequence[Turn] = EDITING) -> Iterator[Rig]:
    """A rig whose workspace holds one small program."""
    for name in ("workspace", "artifacts", "home"):
        (folder / name).mkdir()
    (folder / "workspace" / "a.py").write_text("x = 1\ny = 1\n", encoding="utf-8")
    with ReplayServer(write_cassette(folder / "cassettes", turns)) as server:
        yield Rig(server, folder)


def assert_counts_agree(reading: Reading, count: RunCount) -> None:
    """The harness's usage equals what the server says it reported, class by class."""
    usage, truth = reading.usage, count.reported
    assert usage is not None
    assert usage.input_tokens == truth.uncached + truth.cache_write
    assert usage.cache_read_tokens == truth.cache_read
    assert usage.cache_write_tokens == 0
    assert usage.output_tokens == truth.output
    assert usage.reasoning_tokens == truth.reasoning
