"""Checking command: ``invoke check`` grades stored trials again, without running an agent."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from runner.datasets import Task
from runner.datasets.checking import CheckStopped
from runner.datasets.trying import Ran
from runner.engine.graded import Graded, Key
from runner.engine.grading import PATCH_CHECK, RULES_CHECK, Grading, grade, resolved, untested
from runner.engine.isolation import Isolation, choose
from runner.engine.masking import Mask
from runner.engine.places import Places
from runner.engine.stored_trials import LeftOut, Library, patch_of, selected, stores_of, told
from runner.errors import HarnessmarkError
from runner.records import CheckRecord, CheckStatus, sha256_of
from runner.records.nouns import counted
from runner.store import ResultsStore, StoredTrial, below

EXIT_DONE, EXIT_PARTIAL = 0, 3


@dataclass(frozen=True)
class Entry:
    """One trial to grade."""

    store: ResultsStore
    stored: StoredTrial
    dataset_path: Path
    task: Task
    patch: bytes

    @property
    def name(self) -> str:
        """The trial as a user reads it."""
        return "/".join(self.stored.record.identity.key)

    @property
    def runs(self) -> int:
        """How often every check of the task was made; our own failures do not count as one."""
        newest = newest_runs(self.stored.checks)
        return min(newest.get(name, 0) for name in check_names(self.task))


@dataclass
class Agenda:
    """What is to be graded, what is left out and why."""

    entries: list[Entry] = field(default_factory=list)
    complete: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def check_names(task: Task) -> list[str]:
    """Names of every check that grading a trial of ``task`` makes."""
    rules = [RULES_CHECK] if task.rules is not None else []
    return [PATCH_CHECK, *rules, *(check.name for check in task.checks)]


def newest_runs(checks: Sequence[CheckRecord]) -> dict[str, int]:
    """By name, the number of the newest run of a check that said something."""
    runs: dict[str, int] = {}
    for check in checks:
        if check.status is not CheckStatus.ERROR:
            runs[check.name] = max(runs.get(check.name, 0), check.number)
    return runs


def make_agenda(
    places: Places,
    path: str | None = None,
    cell: Sequence[str] = (),
    *,
    only_missing: bool = False,
    changed_tasks: bool = False,
    settled: Container[Key] = (),
) -> Agenda:
    """The trials to grade.

    Without ``only_missing`` every trial is brought to the same number of runs: one more than the trial with
    the fewest has, so that a command that was stopped goes on where it was. Trials without any run are graded
    in any case, and do not hold up the others.

    Args:
        settled: keys of trials whose newest run was brought in from a killed command: its round goes on, and
            no new one begins.

    Raises:
        UsageError: the path is in no store.
    """
    agenda, library, found = Agenda(), Library(places.datasets), []
    for store, stored in selected(places, path, cell):
        try:
            dataset_path, task = library.task_of(stored.record, changed=changed_tasks)
            found.append(Entry(store, stored, dataset_path, task, patch_of(stored)))
        except LeftOut as reason:
            agenda.left_out[str(reason)] += 1
    before = [entry.runs - (entry.stored.record.identity.key in settled) for entry in found]
    fewest = min(filter(None, before), default=0)
    wanted = 1 if only_missing else fewest + 1
    agenda.entries = [entry for entry in found if entry.runs < wanted]
    agenda.complete = len(found) - len(agenda.entries)
    return agenda


def check_command(
    places: Places,
    say: Callable[[str], None],
    *,
    environment: Mapping[str, str],
    path: str | None = None,
    cell: Sequence[str] = (),
    only_missing: bool = False,
    changed_tasks: bool = False,
    isolation: str | None = None,
    concurrency: int = 1,
    dry_run: bool = False,
    stop: threading.Event | None = None,
) -> int:
    """Grade stored trials again and say what came of it; returns the exit code.

    New records get the next number of their check: none is ever overwritten.

    Raises:
        ConfigurationError: the isolation is not to be had.
        UsageError: the path is in no store, or there is no such isolation.
    """
    graded, scanner, settled = Graded(places.artifacts / "graded"), places.scanner(environment), set[Key]()
    for root in () if dry_run else stores_of(path, places)[0]:
        settled |= graded.settle(ResultsStore(root, scanner=scanner))
    agenda = make_agenda(
        places, path, cell, only_missing=only_missing, changed_tasks=changed_tasks, settled=settled
    )
    if settled:
        say(f"brought into the store from an interrupted command: checks of {counted(len(settled), 'trial')}")
    for line in told(agenda.left_out):
        say(line)
    say(f"{counted(len(agenda.entries), 'trial')} to grade; {agenda.complete} have their checks")
    if dry_run or not agenda.entries:
        say("Dry run: nothing was run, nothing was written." if dry_run else "Nothing is left to do.")
        return EXIT_DONE
    private = (places.results, places.datasets, places.repositories, places.streams)
    chosen = choose(isolation, private=private)
    say(f"isolation: {chosen.level}" + (f" ({chosen.remark})" if chosen.remark else ""))
    return _Round(places, chosen, environment, say, stop or threading.Event()).run(
        agenda.entries, concurrency
    )


class _Round:
    """Grades the trials of one call."""

    def __init__(
        self,
        places: Places,
        isolation: Isolation,
        environment: Mapping[str, str],
        say: Callable[[str], None],
        stop: threading.Event,
    ) -> None:
        self.places = places
        self.isolation = isolation
        self.scanner = places.scanner(environment)
        self.say = say
        self.stop = stop
        self.before: dict[tuple[str, str], Ran] = {}
        self.stores: dict[Path, ResultsStore] = {}
        self.graded = Graded(places.artifacts / "graded")

    def run(self, entries: Sequence[Entry], concurrency: int) -> int:
        """Grade ``entries``; the exit code."""
        counts: Counter[str] = Counter()
        for entry in entries:
            root = entry.store.root
            self.stores.setdefault(root, ResultsStore(root, scanner=self.scanner))
        with ThreadPoolExecutor(max(concurrency, 1), "checking") as pool:
            futures = {pool.submit(self._one, entry): entry for entry in entries}
            try:
                for done, future in enumerate(as_completed(futures), 1):
                    word, line = future.result()
                    counts[word] += 1
                    self.say(f"[{done}/{len(entries)}] {futures[future].name}: {line}")
            except KeyboardInterrupt:
                self.stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                self.say("Stopped; the same command goes on from here.")
                counts["left"] += sum(future.cancelled() for future in futures)
        self.say(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
        return EXIT_PARTIAL if counts.keys() & {"failed", "left", "without a verdict"} else EXIT_DONE

    def _one(self, entry: Entry) -> tuple[str, str]:
        """What became of one trial: a word to count, and a line to show."""
        if self.stop.is_set():
            return "left", "left for later"
        record = entry.stored.record
        # The same for the same trial, whatever else is graded: what a killed command left here goes.
        key = sha256_of("\0".join(record.identity.key).encode())[:24]
        folder = below(self.places.artifacts / "checking", record.plan_id, key)
        mask = Mask("", str(folder), str(self.places.root), self.scanner)
        grading = Grading(
            entry.task,
            entry.dataset_path,
            self.places.repositories,
            folder,
            mask=lambda text: mask.text(text, limit=len(text)),
            wrap=self.isolation.check_wrap(),
            stopped=self.stop.is_set,
            level=self.isolation.level.value,
            before=self.before,
        )
        taken: Counter[str] = Counter()
        for check in entry.stored.checks:
            taken[check.name] = max(taken[check.name], check.number)
        numbers = {name: taken[name] + 1 for name in check_names(entry.task)}
        try:
            checks = grade(record.identity, entry.patch, grading, numbers)
            self.graded.keep(self.stores[entry.store.root], record, checks)
        except CheckStopped:
            return "left", "left for later"
        except (HarnessmarkError, OSError) as error:
            return "failed", f"failed: {' '.join(str(error).split())}"
        return _told(checks, entry.stored.checks)


def _told(checks: Sequence[CheckRecord], before: Sequence[CheckRecord]) -> tuple[str, str]:
    verdict = resolved(checks)
    unknown = "without hidden tests" if untested(checks) else "without a verdict"
    word = {True: "resolved", False: "not resolved", None: unknown}[verdict]
    passed = sum(check.status is CheckStatus.PASSED for check in checks)
    line = f"{word}, {passed} of {len(checks)} checks passed"
    old = {name: _newest(before, name) for name in {check.name for check in before}}
    changed = [
        f"{check.name}: {old[check.name].value} became {check.status.value}"
        for check in checks
        if check.name in old and old[check.name] is not check.status
    ]
    return word, "; ".join([line, *changed])


def _newest(checks: Sequence[CheckRecord], name: str) -> CheckStatus:
    return max((check for check in checks if check.name == name), key=lambda check: check.number).status
