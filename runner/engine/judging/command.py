"""Command: ``invoke judge`` from its flags to its exit code."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from runner.engine.judging.bench import Bench, open_bench
from runner.engine.judging.docket import Docket, Entry, make_docket
from runner.engine.judging.settings import JudgeSettings, read_judge_settings
from runner.engine.judging.trial import Judged, judge_trial, settle
from runner.engine.places import Places
from runner.engine.stored_trials import stores_of
from runner.errors import HarnessmarkError
from runner.judges.base import AGENTIC
from runner.judges.registry import judge
from runner.providers.registry import provider
from runner.records import JudgementRecord, JudgementStatus
from runner.records.nouns import counted
from runner.store import ResultsStore

EXIT_DONE, EXIT_PARTIAL = 0, 3
SHOWN_REASONS = 20


@dataclass
class _Tally:
    scored: int = 0
    zero: int = 0
    unscored: int = 0
    failed: int = 0
    ungrounded: int = 0
    left: int = 0
    usd: float = 0.0
    unpriced: int = 0
    reasons: list[str] = field(default_factory=list)

    def add(self, record: JudgementRecord) -> None:
        """Count one judgement."""
        self.scored += record.status is JudgementStatus.SCORED
        self.zero += record.status is JudgementStatus.ZERO_BY_MISSING_ARTIFACTS
        self.unscored += record.status is JudgementStatus.INVALID
        self.ungrounded += record.judge.method == AGENTIC and record.judge.repository_grounded is False
        known = [cost.amount_usd for cost in record.costs if cost.amount_usd is not None]
        self.usd += known[0] if known else 0.0
        self.unpriced += bool(record.attempts) and not known

    def line(self) -> str:
        """The counts in one line, with the cost as far as it is known."""
        parts = [f"{self.scored} scored", f"{self.zero} zero without a call", f"{self.unscored} unscored"]
        parts += [f"{self.failed} failed"] + ([f"{self.left} left"] if self.left else [])
        text = ", ".join(parts)
        if self.ungrounded:
            text += f"; {self.ungrounded} of them not grounded in the repository"
        if self.unpriced:
            # Without a known one there is no sum: none is not $0.
            known = f", ${self.usd:.4f} of the others" if self.usd else ""
            return f"{text}; cost of {counted(self.unpriced, 'judgement')} unknown{known}"
        return f"{text}; ${self.usd:.4f}"


def judge_command(
    places: Places,
    console: Console,
    *,
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    config: str | None = None,
    path: str | None = None,
    cells: Sequence[str] = (),
    only_missing: bool = False,
    concurrency: int = 1,
    dry_run: bool = False,
    stop: threading.Event | None = None,
) -> int:
    """Judge stored trials and say what came of it; returns the exit code.

    Whatever is stored is never made again, so the command goes on where it was stopped, however that was.

    Raises:
        ConfigurationError: the settings have faults, or the judge is not to be had.
        UsageError: an unknown name, or no store at the path.
    """
    settings = read_judge_settings(Path(config) if config else None, flags)
    scripted = judge(settings.judge).demonstration or provider(settings.provider).demonstration
    roots, _ = stores_of(path, places)
    settled = sum(settle(places, ResultsStore(root)) for root in roots) if not dry_run else 0
    docket = make_docket(
        settings, places, path=path, cells=cells, only_missing=only_missing, demonstration=scripted
    )
    _show(settings, docket, settled, console)
    if dry_run:
        _say(console, "Dry run: nothing was asked, nothing was written.")
    if dry_run or not docket.entries:
        return EXIT_DONE
    with open_bench(settings, places, environment, stop=stop) as bench:
        tally = _judge_all(bench, docket, concurrency, console)
    _say(console, tally.line())
    return EXIT_PARTIAL if tally.failed or tally.unscored or tally.left else EXIT_DONE


def _show(settings: JudgeSettings, docket: Docket, settled: int, console: Console) -> None:
    who = f"judge {settings.label}: {settings.judge} with {settings.model} at {settings.provider}"
    _say(console, who + (f", effort {settings.effort}" if settings.effort else ""))
    if settled:
        _say(
            console,
            f"brought into the store from an interrupted run: {counted(settled, 'finished judgement')}",
        )
    for reason, count in docket.refused.most_common(SHOWN_REASONS):
        _say(console, f"not judged: {counted(count, 'trial')}: {reason}")
    _say(
        console,
        f"{counted(len(docket.entries), 'judgement')} of {counted(docket.trials, 'trial')} to make; "
        f"{docket.complete} have theirs",
    )


def _judge_all(bench: Bench, docket: Docket, concurrency: int, console: Console) -> _Tally:
    tally = _Tally()
    stores = {
        root: ResultsStore(root, scanner=bench.scanner) for root in {e.store.root for e in docket.entries}
    }

    def one(entry: Entry) -> Judged | HarnessmarkError | OSError | None:
        """Judge one trial; a fault is returned, so that the others go on."""
        if bench.stop.is_set():
            return None
        try:
            return judge_trial(bench, stores[entry.store.root], entry.trial, entry.number)
        except (HarnessmarkError, OSError) as error:
            return error

    with ThreadPoolExecutor(max(concurrency, 1), "judging") as pool:
        futures = {pool.submit(one, entry): entry for entry in docket.entries}
        try:
            for future in as_completed(futures):
                _note(tally, futures[future], future.result(), console)
        except KeyboardInterrupt:
            bench.stop.set()
            _say(console, "Stopping: agents are ended, answers that are under way are waited for.")
            pool.shutdown(wait=True, cancel_futures=True)
            _say(console, "Stopped; what was answered is kept, and judging again goes on from there.")
            tally.left += sum(not future.done() or future.cancelled() for future in futures)
    return tally


def _note(
    tally: _Tally, entry: Entry, ended: Judged | HarnessmarkError | OSError | None, console: Console
) -> None:
    where = f"{'/'.join(entry.trial.key)} #{entry.number}"
    if ended is None:
        tally.left += 1
    elif not isinstance(ended, Judged):
        tally.failed += 1
        _say(console, f"{where}: failed: {' '.join(str(ended).split())}")
    elif ended.record is None:
        tally.failed += 1
        _say(console, f"{where}: not judged: {ended.refused}")
    else:
        tally.add(ended.record)
        _say(console, f"{where}: {_words(ended.record)}")


def _words(record: JudgementRecord) -> str:
    if record.status is JudgementStatus.INVALID:
        return f"unscored after {len(record.attempts)} attempts: {record.invalid_reason}"
    if not record.attempts:
        return "0 without a call: there is nothing to judge"
    read = len(record.files_read)
    told = [f"{record.task_score:g}"]
    if record.missing:
        told.append(f"zero for missing {', '.join(record.missing)}")
    if len(record.attempts) > 1:
        told.append(f"{len(record.attempts)} attempts")
    if record.judge.method == AGENTIC:
        told.append(f"{read} files read" if read else "NOT grounded: no file of the repository was read")
    return ", ".join(told)


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
