"""Measurement: what the engine itself costs in time, from trials whose agents take a known time."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from runner.datasets import load_dataset
from runner.engine.attempt import Attempt
from runner.engine.isolation import Isolation, choose
from runner.engine.places import Places
from runner.engine.planning import Group, Parts, make_plan
from runner.engine.running import Run, RunSummary, Stop, run_plan
from runner.engine.sessions import open_sessions
from runner.engine.settings import RunSettings
from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation
from runner.providers.about import About
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.checks import Check
from runner.providers.fixed import FixedSession
from runner.records import CacheSemantics, Hosting, PlannedTrial, PlanRecord
from runner.secrets import Scanner
from runner.skills import skill
from runner.store import ResultsStore

DATASET = "measurement"
BUNDLE = "repositories/clockbook.bundle"
KEY = "a-key-that-opens-nothing"
IN_FLIGHT, CHILD_SECONDS, ROUNDS = 8, 2.0, 8
ONE_BY_ONE = 20
AIM_RATIO, AIM_MILLISECONDS = 1.05, 150.0
CHILD = """
import socket, sys, time
address, key, artifacts, seconds = sys.argv[1:]
host, _, port = address.partition(":")
with socket.create_connection((host, int(port))) as model:
    head = f"POST /v1/chat/completions HTTP/1.1\\r\\nhost: {address}\\r\\nauthorization: Bearer {key}\\r\\n"
    model.sendall(f"{head}content-type: application/json\\r\\ncontent-length: 2\\r\\n\\r\\n{{}}".encode())
    model.recv(65536)
time.sleep(float(seconds))
open("measured.py", "w").write("x = 1\\n")
open(artifacts + "/implementation.md", "w").write("# Note\\n\\n## What changed\\n\\nA file.\\n")
"""
DOCUMENT = f"""
schema_version: "1.1"
name: {DATASET}
title: A dataset to measure the engine with
description: Its one task is never solved; its agent sleeps.
version: "1"
visibility: public
default_ref: v0.3.0
metrics: [wall time]
complexity_levels: [trivial]
tasks:
  - id: sleep
    repo: {BUNDLE}
    complexity: trivial
    problem_statement: Sleep.
"""


@dataclass
class Sleeper:
    """A harness whose agent asks the model once, sleeps, changes one file and writes its note."""

    seconds: float
    name: str = "sleeper"
    title: str = "Sleeper"
    homepage: str | None = None
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "it takes none"
    installation: Installation | None = None
    delegates: bool = False
    memory_mb: int = 20
    notes: tuple[str, ...] = ("It is a stand-in.",)

    def version(self, installed: Path) -> str:  # noqa: ARG002 - part of the seam
        """It has no versions."""
        return "1"

    def launch(self, assignment: Assignment) -> Launch:
        """An interpreter without its libraries, which starts fast."""
        endpoint = assignment.endpoint
        address = urlsplit(endpoint.base_url).netloc
        arguments = (address, endpoint.api_key, str(assignment.artifacts), str(self.seconds))
        return Launch(
            command=(sys.executable, "-I", "-S", "-c", CHILD, *arguments),
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            working_directory=assignment.workspace,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:  # noqa: ARG002 - part of the seam
        """It always ends well."""
        return Reading(stop_reason="end", is_error=False)

    def trace(self, line: str) -> str | None:  # noqa: ARG002 - part of the seam
        """It says nothing."""
        return None


@dataclass
class Nowhere:
    """A provider at whose address nobody answers: the gateway says so at once."""

    name: str = "nowhere"
    hosting: Hosting = Hosting.BUILT_IN
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    demonstration: bool = True
    about: About = About("Nobody.", "", "none")  # noqa: RUF009 - a frozen value

    def session(
        self,
        model: str,
        settings: ProviderSettings,  # noqa: ARG002 - part of the seam
        environment: Mapping[str, str],  # noqa: ARG002 - part of the seam
    ) -> AbstractContextManager[ModelSession]:
        """An address where nobody listens."""
        return self._session(model)

    def checks(
        self,
        model: str,  # noqa: ARG002 - part of the seam
        settings: ProviderSettings,  # noqa: ARG002 - part of the seam
        environment: Mapping[str, str],  # noqa: ARG002 - part of the seam
    ) -> Iterator[Check]:
        """Nothing: that nobody answers is meant."""
        return iter(())

    @contextmanager
    def _session(self, model: str) -> Iterator[ModelSession]:
        yield FixedSession(self.name, "http://127.0.0.1:9/v1", self.protocols, model, KEY, None, None)


class _Silent:
    """Shows nothing."""

    def begun(self, plan: PlanRecord, already_finished: int) -> None:
        """Nothing to show."""

    def ended(self, planned: PlannedTrial, result: Attempt, so_far: RunSummary) -> None:
        """Nothing to show."""

    def note(self, text: str) -> None:
        """Nothing to show."""

    def line(self, planned: PlannedTrial, text: str, trace: str | None) -> None:
        """Nothing to show."""


@dataclass(frozen=True)
class Timing:
    """Wall time of some trials beside the time of their agents. Seconds."""

    trials: int
    in_flight: int
    wall_seconds: float
    child_seconds: float
    """Sum over the agents' processes, from their start to their end; the start of an isolation is in it."""
    asleep_seconds: float
    """How long each agent slept."""

    @property
    def inside_milliseconds(self) -> float:
        """Time per agent's process in which it did not sleep: starting it, its isolation, one request."""
        return (self.child_seconds / self.trials - self.asleep_seconds) * 1000

    @property
    def ratio(self) -> float:
        """Wall time over the ideal: the sum of the agents' times over the number in flight."""
        return self.wall_seconds * self.in_flight / self.child_seconds

    @property
    def outside_milliseconds(self) -> float:
        """Time per trial in which its place was taken by something other than its agent."""
        return (self.wall_seconds * self.in_flight - self.child_seconds) / self.trials * 1000


@dataclass(frozen=True)
class EngineMeasurement:
    """Both timings and the machine they were made on."""

    together: Timing
    one_by_one: Timing
    isolation: str
    machine: str

    @property
    def within_aim(self) -> bool:
        """Whether both figures are what the project aims at."""
        fast = self.one_by_one.outside_milliseconds <= AIM_MILLISECONDS
        return self.together.ratio <= AIM_RATIO and fast

    def lines(self) -> list[str]:
        """The figures in words."""
        many, one = self.together, self.one_by_one
        return [
            f"{many.trials} trials of {many.child_seconds / many.trials:.2f} s, {many.in_flight} in flight: "
            f"{many.wall_seconds:.2f} s, ideal {many.child_seconds / many.in_flight:.2f} s, "
            f"ratio {many.ratio:.3f} (aim: at most {AIM_RATIO})",
            f"outside the agent, {many.in_flight} in flight: {many.outside_milliseconds:.0f} ms per trial",
            f"outside the agent, one at a time: {one.outside_milliseconds:.0f} ms per trial "
            f"(aim: at most {AIM_MILLISECONDS:.0f})",
            f"inside the agent's process, beside its sleep: {one.inside_milliseconds:.0f} ms one at a time, "
            f"{many.inside_milliseconds:.0f} ms {many.in_flight} in flight (isolation {self.isolation})",
            f"machine: {self.machine}",
        ]


def measure_engine(
    datasets: Path,
    *,
    in_flight: int = IN_FLIGHT,
    seconds: float = CHILD_SECONDS,
    rounds: int = ROUNDS,
    one_by_one: int = ONE_BY_ONE,
    isolation: str | None = None,
    folder: Path | None = None,
) -> EngineMeasurement:
    """Run scripted trials from a plan to records in a store, and time them.

    Everything a real trial does is done: sealed checkout, supervision, artifacts, patch, the check whether
    it applies, masks, records on disk. The cache of repositories is filled before the clock starts, as it
    is once per repository and not per trial. Agents that go to sleep at once keep the processors free.

    Args:
        datasets: the project's folder of datasets; the small repository in it is used.
        in_flight: trials at a time.
        seconds: how long each agent sleeps.
        rounds: how many times ``in_flight`` trials.
        one_by_one: trials of the second timing, whose agents do not sleep.
        isolation: level of isolation; the strongest that works here unless given.
        folder: where to work; a temporary folder unless given.
    """
    with tempfile.TemporaryDirectory(prefix="measure-", dir=folder) as made:
        places = _project(Path(made), datasets)
        level = choose(isolation, private=(places.results, places.datasets, places.repositories))
        _time(places, level, Sleeper(0.0), trials=1, in_flight=1)
        together = _time(places, level, Sleeper(seconds), trials=in_flight * rounds, in_flight=in_flight)
        alone = _time(places, level, Sleeper(0.0), trials=one_by_one, in_flight=1)
    return EngineMeasurement(together, alone, str(level.level), machine())


def engine_command(datasets: Path, say: Callable[[str], None]) -> int:
    """Measure the engine and show the figures; 0, for they depend on the machine."""
    for line in measure_engine(datasets).lines():
        say(line)
    return 0


def machine(read: Callable[[Path], str] = Path.read_text) -> str:
    """Processor, number of cores, system and Python in one line."""
    try:
        lines = read(Path("/proc/cpuinfo")).splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.machine()
    cores = os.cpu_count() or 1
    return f"{processor}, {cores} cores, {platform.system()}, Python {platform.python_version()}"


def _project(root: Path, datasets: Path) -> Places:
    places = Places(root)
    (places.datasets / BUNDLE).parent.mkdir(parents=True)
    shutil.copy(datasets / BUNDLE, places.datasets / BUNDLE)
    (places.datasets / f"{DATASET}.yaml").write_text(DOCUMENT, encoding="utf-8")
    return places


def _time(places: Places, level: Isolation, sleeper: Sleeper, *, trials: int, in_flight: int) -> Timing:
    path = places.datasets / f"{DATASET}.yaml"
    dataset, fix = load_dataset(path), skill("fix")
    settings = RunSettings(
        harness=(sleeper.name,),
        model=("none",),
        dataset=DATASET,
        trials=trials,
        concurrency=in_flight,
        # With a budget no trial is made ready while another one is at work: nothing hides behind it.
        budget_tokens=10**15 if in_flight == 1 else None,
    )
    parts = Parts(
        dataset=dataset,
        dataset_path=path,
        tasks=dataset.tasks,
        harnesses={sleeper.name: sleeper},
        skills={fix.name: fix},
        provider=Nowhere(),
        installed=places.harnesses,
    )
    groups = [Group(settings, parts)]
    scanner = Scanner()
    store: ResultsStore = places.store(demonstration=True, private=False, scanner=scanner)
    plan = make_plan(groups, store, now=datetime.now(UTC))
    store.write_plan(plan)
    with open_sessions(groups, places, {}) as sessions:
        run = Run(plan, groups, sessions, places, store, scanner, _Silent(), Stop(), level)
        begun = time.monotonic()
        run_plan(run)
        wall = time.monotonic() - begun
    records = [store.trial(planned.identity).record for planned in plan.trials]
    children = sum(record.duration_seconds or 0.0 for record in records)
    return Timing(trials, in_flight, wall, children, sleeper.seconds)
