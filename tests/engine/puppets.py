"""Puppets: runners in processes of their own, whose trials end when and how a test says."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import shutil
import tempfile
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Client, Connection, Listener
from multiprocessing.process import BaseProcess
from pathlib import Path

from runner.engine.attempt import Attempt
from runner.engine.desk import Desk
from runner.engine.isolation import choose
from runner.engine.places import Places
from runner.engine.planning import make_plan
from runner.engine.resolution import complete, resolve_all
from runner.engine.resuming import find_any_plan, settings_of
from runner.engine.run import Run
from runner.engine.running import run_plan
from runner.engine.sessions import exclusive_keys, open_sessions
from runner.engine.settings import RunSettings
from runner.engine.signals import heard
from runner.engine.stop import Stop
from runner.engine.tally import RunSummary
from runner.records import CheckStatus, Cost, CostBasis, Outcome, PlannedTrial, PlanRecord
from runner.secrets import Scanner
from runner.store import ResultsStore
from tests import examples
from tests.engine.standin import HARNESS
from tests.engine.turns import PROVIDER

SECRET = "what-nobody-may-read-in-a-store-1f"
PATIENCE = 60.0


@dataclass(frozen=True)
class End:
    """How a trial is to end."""

    outcome: str = "completed"
    usd: float | None = 1.0
    passes: bool | None = True
    holds_a_secret: bool = False


class Quiet:
    """Shows nothing."""

    def begun(self, plan: PlanRecord, already_finished: int) -> None: ...

    def ended(self, planned: PlannedTrial, result: Attempt, so_far: RunSummary) -> None: ...

    def note(self, text: str) -> None: ...

    def line(self, planned: PlannedTrial, text: str, trace: str | None) -> None: ...


def new_plan(places: Places, *, models: str = "a,b", seed: int = 0) -> tuple[PlanRecord, ResultsStore]:
    """A plan of two tasks, two models and two trials of each."""
    wanted = RunSettings(
        harness=(HARNESS,),
        provider=PROVIDER,
        model=tuple(models.split(",")),
        count=2,
        trials=2,
        seed=seed,
        concurrency=1,
        isolation="none",
    )
    groups = resolve_all([complete(wanted, places)], places)
    store = ResultsStore(places.results)
    plan = make_plan(groups, store, now=datetime.now(UTC), keys=exclusive_keys(groups, places))
    store.write_plan(plan)
    return plan, store


def run_puppet(root: str, plan_id: str, address: str, knows_the_secret: bool) -> None:
    """The process: a runner of the plan whose trials ask at ``address`` how they end."""
    places = Places(Path(root))
    plan, _ = find_any_plan(plan_id, places)
    groups = resolve_all(settings_of(plan), places)
    scanner = Scanner({"A_SECRET": SECRET} if knows_the_secret else {})
    store = ResultsStore(places.results, scanner=scanner)
    stop = Stop()
    asked_to_stop = heard(lambda _: stop.press(), at_once=stop.interrupt)
    with asked_to_stop, open_sessions(groups, places, {}) as sessions:
        isolation = choose("none", private=())
        run = Run(plan, groups, sessions, places, store, scanner, Quiet(), stop, isolation)
        run_plan(_with_work(run, address))


def _with_work(run: Run, address: str) -> Run:
    return Run(**{**vars(run), "work": partial(asked, address)})


def asked(address: str, desk: Desk) -> Attempt:
    """A trial that says that it has begun and ends as it is told, or when it is cancelled."""
    with Client(address) as line:
        line.send((os.getpid(), desk.position))
        while not line.poll(0.01):
            if desk.cancelled.is_set():
                return attempt_of(desk, End(outcome="cancelled"))
        end = line.recv()
    with desk.slot:
        return attempt_of(desk, end)


def attempt_of(desk: Desk, end: End) -> Attempt:
    """What the engine gets of a trial that ended so."""
    cost = Cost(
        basis=CostBasis.METERED,
        amount_usd=end.usd,
        source="a test",
        missing_reason=None if end.usd is not None else "the test says so",
    )
    identity = desk.planned.identity
    changes = {
        "fingerprint": desk.planned.fingerprint,
        "position": desk.position,
        "outcome": Outcome(end.outcome),
        "outcome_reason": "the test says so",
        "artifacts": (),
        "costs": (cost,),
        "warnings": (),
    }
    status = CheckStatus.PASSED if end.passes else CheckStatus.FAILED
    check = examples.check(identity).model_copy(update={"status": status})
    return Attempt(
        examples.trial(identity, desk.plan_id).model_copy(update=changes),
        () if end.passes is None else (check,),
        {"implementation.md": SECRET.encode()} if end.holds_a_secret else {},
    )


@dataclass
class Theatre:
    """Starts runners, hears of the trials they begin, and says how those end."""

    places: Places
    plan_id: str
    lines: dict[int, Connection] = field(default_factory=dict)
    """The trials in flight that have said so, by position."""
    process: BaseProcess | None = None

    def __post_init__(self) -> None:
        self.started: list[int] = []
        self._folder = tempfile.mkdtemp(prefix="puppets-")
        self._listener = Listener(str(Path(self._folder, "line")), backlog=32)
        self._news: queue.Queue[tuple[int, int, Connection]] = queue.Queue()
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()

    def start(self, *, knows_the_secret: bool) -> None:
        """A runner goes on with the plan."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.engine.puppets"])
        arguments = (str(self.places.root), self.plan_id, str(self._listener.address), knows_the_secret)
        self.process = context.Process(target=run_puppet, args=arguments)
        self.process.start()

    @property
    def is_alive(self) -> bool:
        """Whether there is a runner."""
        return self.process is not None and self.process.is_alive()

    def hear(self, seconds: float = 0.0) -> None:
        """Take note of the trials that have begun."""
        try:
            while True:
                news = self._news.get(timeout=seconds) if seconds else self._news.get_nowait()
                seconds, (pid, position, line) = 0.0, news
                if self.process is None or self.process.pid != pid:
                    # The last words of a runner that was killed meanwhile.
                    line.close()
                    continue
                self.lines[position] = line
                self.started.append(position)
        except queue.Empty:
            return

    def end(self, position: int, how: End) -> None:
        """A trial in flight ends; one that was cancelled meanwhile does not hear how."""
        line = self.lines.pop(position)
        with line, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            line.send(how)

    def signal(self) -> None:
        """The runner is asked to stop."""
        if self.process is not None:
            self.process.terminate()

    def kill(self) -> None:
        """The runner is killed."""
        if self.process is not None:
            self.process.kill()
        self.gone()

    def gone(self) -> None:
        """Wait until there is no runner any more."""
        if self.process is not None:
            self.process.join(PATIENCE)
            assert not self.process.is_alive()
            self.hear()
            self.process.close()
            self.process = None
        for line in self.lines.values():
            line.close()
        self.lines.clear()

    def close(self) -> None:
        """The end of the play."""
        self.kill()
        with Client(str(self._listener.address)) as line:
            line.send(None)
        self._ear.join(PATIENCE)
        self._listener.close()
        self.hear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self) -> None:
        while True:
            line = self._listener.accept()
            try:
                said = line.recv()
            except (EOFError, ConnectionResetError):
                line.close()
                continue
            if said is None:
                line.close()
                return
            self._news.put((*said, line))
