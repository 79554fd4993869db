"""Accounting: what each harness records of a run beside what the model server counted, class by class.

The server is handed in, because a harness knows no provider; so is what starts the child. What the server
told its client is what a correct harness adds up. Chat Completions and Responses have no class for tokens
written to a cache: there these are part of the fresh input, on both sides.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runner.errors import ConfigurationError
from runner.harnesses.accounting_cassette import BACKGROUND, DATASET, EDIT, FOREGROUND, MODEL, WINDOW
from runner.harnesses.base import Assignment, Harness, Launch, Reading
from runner.harnesses.counts import CLASSES_NOT_TOLD, REASONING_NOT_REPORTED
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits, Usage

KEY = "replay-needs-no-key-this-is-a-dummy"
API_ROOT = {WireProtocol.CHAT_COMPLETIONS: "/v1", WireProtocol.RESPONSES: "/v1"}
UNTOLD: Mapping[str, tuple[str, ...]] = {
    CLASSES_NOT_TOLD: ("write", "reasoning"),
    REASONING_NOT_REPORTED: ("reasoning",),
}
"""By the code of a warning, the classes that it says are unknown."""
CLASSES = ("fresh", "read", "write", "output", "reasoning")
DEADLINE_SECONDS = 60.0
LOOK_SECONDS = 0.05

Start = Callable[[Launch, Path, threading.Event], object]
"""Runs a child to its end, or until the event is set; its standard output goes to the file."""


class TokenCount(Protocol):
    """Tokens in classes, as the server counts them."""

    @property
    def uncached(self) -> int:
        """Input that came from no cache and went to none."""

    @property
    def cache_read(self) -> int:
        """Input read from a cache."""

    @property
    def cache_write(self) -> int:
        """Input written to a cache."""

    @property
    def output(self) -> int:
        """Output with its reasoning."""

    @property
    def reasoning(self) -> int:
        """Part of the output."""


class ServerCount(Protocol):
    """The server's own count of a run."""

    @property
    def requests(self) -> int:
        """Requests that came in."""

    @property
    def answered(self) -> int:
        """Requests answered to their end."""

    @property
    def told(self) -> TokenCount:
        """Tokens as the client's protocol can say them, of whole answers."""

    @property
    def told_partly(self) -> TokenCount:
        """What was told of answers that then broke off."""

    @property
    def unreported(self) -> TokenCount:
        """Tokens of answers that broke off, or whose usage was never told."""


class CountingServer(Protocol):
    """A model server that plays the accounting cassette."""

    def url_for(self, *, run: str, scenario: str, faults: Sequence[str] = ()) -> str:
        """Base URL of a run, without the API's own path."""

    def count(self, run: str) -> ServerCount:
        """The count of a run so far."""


@dataclass(frozen=True)
class Case:
    """One thing that can happen to a run."""

    name: str
    title: str
    task: str = EDIT
    faults: tuple[str, ...] = ()
    stop_after_requests: int | None = None
    """Ends the child once so many requests came in, as a supervisor does at its deadline."""
    delegates: bool = False
    """Needs a harness that can start subagents."""


CASES: tuple[Case, ...] = (
    Case("plain", "Plain run"),
    Case("retry", "One request fails with 500, then all goes well", faults=("first1-e500",)),
    Case("failure", "Every request fails with 400", faults=("e400",)),
    Case("subagent-foreground", "A subagent that is waited for", FOREGROUND, delegates=True),
    Case("subagent-background", "A subagent in the background", BACKGROUND, delegates=True),
    Case(
        "timeout", "Stopped while the second answer is awaited", faults=("late-hang",), stop_after_requests=2
    ),
    Case("cut", "The first answer breaks off, then all goes well", faults=("first1-cut",)),
    Case("no-usage", "The server tells no usage", faults=("nousage",)),
    Case("no-cache-detail", "The server does not tell cached tokens apart", faults=("nocache",)),
)


@dataclass(frozen=True)
class Row:
    """One run: recorded and true counts."""

    harness: str
    protocol: WireProtocol
    case: Case
    requests: int
    answered: int
    recorded: Mapping[str, int | None]
    true: Mapping[str, int]
    partly: Mapping[str, int]
    """What was told of answers that broke off: a harness may count it."""
    broken: Mapping[str, int]
    """What these answers used in truth."""
    reading: Reading
    stand_in: bool = False
    """Whether a stand-in played recorded output instead of the real program."""

    @property
    def equal(self) -> bool:
        """Whether every class is known and equals what was told of whole answers."""
        return all(self.recorded[name] == self.true[name] for name in CLASSES)

    @property
    def agrees(self) -> bool:
        """Whether every class agrees. Unknown agrees with nothing told, and with nothing else.

        A harness that says, in a warning, that it leaves cache writes and reasoning out is held to the rest.
        """
        return all(self._agrees(name) for name in CLASSES)

    @property
    def leaves_out(self) -> frozenset[str]:
        """The classes that the harness says it does not tell although the server told them."""
        codes = {warning.code for warning in self.reading.warnings}
        return frozenset(name for code, names in UNTOLD.items() if code in codes for name in names)

    def _agrees(self, name: str) -> bool:
        recorded, true, partly = self.recorded[name], self.true[name], self.partly[name]
        if "write" in self.leaves_out and name == "fresh":
            true, partly = true + self.true["write"], partly + self.partly["write"]
        if recorded is None:
            return true == 0 or name in self.leaves_out
        if recorded in {true, true + partly}:
            return True
        # The output of a broken-off answer is told as a placeholder; some harnesses estimate it better.
        return name == "output" and partly > 0 and true < recorded <= true + self.broken[name]


def account(
    harness: Harness,
    protocol: WireProtocol,
    case: Case,
    *,
    server: CountingServer,
    folder: Path,
    installed: Path,
    start: Start,
) -> Row:
    """Run ``harness`` through ``case`` and compare.

    Args:
        folder: gets a fresh folder for the run.
        installed: where the programs are.

    Raises:
        ConfigurationError: the harness is not installed.
    """
    run = f"{harness.name}-{protocol.value}-{case.name}"
    scratch = folder / run
    for name in ("workspace", "artifacts", "home"):
        (scratch / name).mkdir(parents=True)
    workspace = scratch / "workspace"
    (workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
    base = server.url_for(run=run, scenario=f"{DATASET}/{case.task}", faults=case.faults)
    endpoint = Endpoint(base + API_ROOT.get(protocol, ""), protocol, MODEL, KEY, context_window=WINDOW)
    assignment = Assignment(
        prompt=f"workspace: {workspace}\nartifacts_dir: {scratch / 'artifacts'}\n\nFix add() in calc.py.",
        workspace=workspace,
        artifacts=scratch / "artifacts",
        home=scratch / "home",
        endpoint=endpoint,
        limits=Limits(),
        installed=installed,
    )
    launch = harness.launch(assignment)
    with _stop_event(server, run, case) as stop:
        start(launch, scratch / "stdout", stop)
    reading = harness.read(scratch / "stdout", assignment)
    counted = server.count(run)
    return Row(
        harness=harness.name,
        protocol=protocol,
        case=case,
        requests=counted.requests,
        answered=counted.answered,
        recorded=_recorded(reading.usage),
        true=_true(counted.told),
        partly=_true(counted.told_partly),
        broken=_true(counted.unreported),
        reading=reading,
    )


@dataclass(frozen=True)
class Account:
    """The rows of every harness that could be run."""

    rows: tuple[Row, ...]
    versions: Mapping[str, str]
    """By harness, as its program says it."""
    skipped: Mapping[str, str]
    """By harness that was not run, the reason."""

    def with_more(self, other: Account) -> Account:
        """These rows and those of ``other``."""
        return Account(
            (*self.rows, *other.rows),
            {**self.versions, **other.versions},
            {**self.skipped, **other.skipped},
        )


def account_all(
    harnesses: Sequence[Harness],
    *,
    server: CountingServer,
    folder: Path,
    installed: Path,
    start: Start,
    progress: Callable[[str], None],
) -> Account:
    """Every harness through every case that can happen to it, over every protocol that the server speaks.

    Args:
        harnesses: those that are not installed are skipped with their reason.
        folder: gets a folder for each run.
        progress: gets a line for each run.
    """
    rows: list[Row] = []
    versions: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for each in harnesses:
        try:
            versions[each.name] = each.version(installed)
        except ConfigurationError as error:
            skipped[each.name] = f"{error.what}; {error.remedy}"
            progress(f"{each.name}: skipped: {skipped[each.name]}")
            continue
        if WireProtocol.MANAGED in each.protocols:
            skipped[each.name] = "it reaches its vendor by itself, so no server of ours counts beside it"
            continue
        for protocol in each.protocols:
            for case in cases_of(each):
                row = account(
                    each, protocol, case, server=server, folder=folder, installed=installed, start=start
                )
                rows.append(row)
                verdict = "agrees" if row.agrees else "DOES NOT AGREE"
                progress(f"{each.name} over {protocol.value}, {case.name}: {verdict}")
    return Account(tuple(rows), versions, skipped)


def cases_of(harness: Harness) -> tuple[Case, ...]:
    """The cases that can happen to ``harness``."""
    return tuple(case for case in CASES if harness.delegates or not case.delegates)


@contextmanager
def _stop_event(server: CountingServer, run: str, case: Case) -> Iterator[threading.Event]:
    """An event that is set once the case's number of requests came in, or at a deadline."""
    stop, over = threading.Event(), threading.Event()

    def watch() -> None:
        """Wait for the requests, the end of the case or the deadline."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not over.wait(LOOK_SECONDS):
            wanted = case.stop_after_requests
            enough = wanted is not None and server.count(run).requests >= wanted
            if enough or time.monotonic() > deadline:
                stop.set()
                return

    watcher = threading.Thread(target=watch, name="accounting-stop", daemon=True)
    watcher.start()
    try:
        yield stop
    finally:
        over.set()
        watcher.join()


def _recorded(usage: Usage | None) -> dict[str, int | None]:
    if usage is None:
        return dict.fromkeys(CLASSES)
    return {
        "fresh": usage.input_tokens,
        "read": usage.cache_read_tokens,
        "write": usage.cache_write_tokens,
        "output": usage.output_tokens,
        "reasoning": usage.reasoning_tokens,
    }


def _true(told: TokenCount) -> dict[str, int]:
    return {
        "fresh": told.uncached,
        "read": told.cache_read,
        "write": told.cache_write,
        "output": told.output,
        "reasoning": told.reasoning,
    }
