"""Command: ``invoke judge-proof`` from its flags to its exit code."""

from __future__ import annotations

import statistics
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from runner.engine.judging.bench import Bench, open_bench
from runner.engine.judging.settings import JudgeSettings, read_judge_settings
from runner.engine.places import Places
from runner.engine.proving.docket import Docket, Entry, Yardstick, make_docket
from runner.engine.proving.estimate import estimate
from runner.engine.proving.making import make_proof, settle_proofs
from runner.errors import HarnessmarkError, UsageError
from runner.judges.registry import judge
from runner.judges.rubric import Rubric, rubric_for
from runner.judges.suites import Suite, load_suite, suite_names
from runner.providers.registry import provider
from runner.records import CHANGED, REFERENCE, JudgementStatus, ProofRecord
from runner.records.nouns import counted
from runner.store import ResultsStore

EXIT_DONE, EXIT_PARTIAL = 0, 3
SKILL = "fix"
"""The submissions of the suites are such as this skill leaves."""
TOLD_EVERY = 25


@dataclass(frozen=True)
class _Work:
    """Everything that the scorings of one command share."""

    store: ResultsStore
    rubric: Rubric
    yardstick: Yardstick
    suites: tuple[Suite, ...]

    def records(self) -> list[ProofRecord]:
        """What the store holds of this judge on these suites."""
        digests = {suite.digest for suite in self.suites}
        return [
            record
            for record in self.store.proofs()
            if self.yardstick.fits(record) and record.suite_sha256 in digests
        ]


def proof_command(
    places: Places,
    console: Console,
    *,
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    config: str | None = None,
    suites: Sequence[str] = (),
    count: int | None = None,
    concurrency: int = 1,
    dry_run: bool = False,
    stop: threading.Event | None = None,
) -> int:
    """Put the suites to a judge and say what came of it; returns the exit code.

    Whatever is stored is never made again, so the command goes on where it was stopped, however that was.

    Raises:
        ConfigurationError: the settings or a suite have faults, or the judge is not to be had.
        UsageError: an unknown name, or a rubric that asks for more than the suites hold.
    """
    settings = read_judge_settings(Path(config) if config else None, flags)
    if count is not None and count < 1:
        raise UsageError(f"--count is {count}", remedy="give a number from 1 on, or leave it out for all")
    found = judge(settings.judge)
    scripted = found.demonstration or provider(settings.provider).demonstration
    store = places.store(demonstration=scripted, private=False, scanner=places.scanner(environment))
    loaded = tuple(load_suite(name, places.datasets) for name in suites or suite_names(places.datasets))
    rubric = _rubric(settings, loaded)
    settled = 0 if dry_run else settle_proofs(places, store, settings.label, demonstration=scripted)
    yardstick = Yardstick(settings.label, found.version(places.harnesses), rubric.digest)
    work = _Work(store, rubric, yardstick, loaded)
    docket = make_docket(loaded, store.proofs(), yardstick, repeats=settings.repeats, count=count)
    for line in _introduction(settings, work, docket, settled):
        _say(console, line)
    for line in estimate(settings, docket, rubric, free=scripted, agentic=found.method == "agentic"):
        _say(console, line)
    if dry_run:
        _say(console, "Dry run: nothing was asked, nothing was written.")
        return EXIT_DONE
    failed = 0
    if docket.entries:
        with open_bench(settings, places, environment, stop=stop) as bench:
            failed = _make_all(bench, work, docket, concurrency, console)
    records = work.records()
    for line in _results(loaded, records):
        _say(console, line)
    invalid = sum(record.status is JudgementStatus.INVALID for record in records)
    if invalid:
        _say(console, f"{invalid} scorings are without a valid answer")
    return EXIT_PARTIAL if failed or invalid else EXIT_DONE


def _rubric(settings: JudgeSettings, suites: Iterable[Suite]) -> Rubric:
    rubric = rubric_for(SKILL, settings.rubric)
    for suite in suites:
        for pair in suite.pairs[:1]:
            _, missing = rubric.parts(pair.case(REFERENCE).files)
            if missing:
                raise UsageError(
                    f"rubric {rubric.identity} scores {', '.join(missing)}, which suite {suite.name} lacks",
                    remedy="name a rubric for what the suites hold: implementation or five-artifacts",
                )
    return rubric


def _introduction(settings: JudgeSettings, work: _Work, docket: Docket, settled: int) -> Iterator[str]:
    who = f"judge {settings.label}: {settings.judge} with {settings.model} at {settings.provider}"
    yield who + (f", effort {settings.effort}" if settings.effort else "")
    if settled:
        yield f"brought into the store from an interrupted run: {counted(settled, 'finished scoring')}"
    for suite in work.suites:
        yield f"suite {suite.name} {suite.version}, {len(suite.pairs)} pairs: {suite.title}"
    yield f"{len(docket.entries)} scorings to make by {work.rubric.identity}; {docket.stored} are stored"


def _make_all(bench: Bench, work: _Work, docket: Docket, concurrency: int, console: Console) -> int:
    """Make every scoring that is left; how many of them are not there at the end."""
    total, done, missing = len(docket.entries), 0, 0

    def one(entry: Entry) -> ProofRecord | HarnessmarkError | OSError | None:
        """Make one scoring; a fault is returned, so that the others go on."""
        if bench.stop.is_set():
            return None
        try:
            return make_proof(bench, work.store, entry, work.rubric)
        except (HarnessmarkError, OSError) as error:
            return error

    with ThreadPoolExecutor(max(concurrency, 1), "proving") as pool:
        futures = {pool.submit(one, entry): entry for entry in docket.entries}
        try:
            for future in as_completed(futures):
                ended = future.result()
                done += 1
                missing += not isinstance(ended, ProofRecord)
                if isinstance(ended, Exception):
                    _say(console, f"{futures[future].name}: failed: {' '.join(str(ended).split())}")
                if done % TOLD_EVERY == 0 or done == total:
                    _say(console, f"{done} of {total}")
        except KeyboardInterrupt:
            bench.stop.set()
            _say(console, "Stopping; what was answered is kept, and the same command goes on from there.")
            pool.shutdown(wait=True, cancel_futures=True)
            missing += sum(not future.done() or future.cancelled() for future in futures)
    return missing


def _results(suites: Iterable[Suite], records: Sequence[ProofRecord]) -> Iterator[str]:
    """One line for each suite; intervals are on the judge's card."""
    for suite in suites:
        scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for record in records:
            if record.suite_sha256 == suite.digest and record.task_score is not None:
                scores[record.pair][record.side].append(record.task_score)
        shifts = [
            statistics.fmean(sides[CHANGED]) - statistics.fmean(sides[REFERENCE])
            for sides in scores.values()
            if len(sides) == 2
        ]
        if not shifts:
            yield f"{suite.name}: no pair is scored"
        elif suite.name == "anchors":
            right = sum(shift < 0 for shift in shifts)
            ties = sum(shift == 0 for shift in shifts)
            yield f"{suite.name}: {right} of {len(shifts)} pairs in the right order, {ties} ties"
        else:
            mean = statistics.fmean(shifts)
            yield f"{suite.name}: mean shift {mean:+.2f} points over {len(shifts)} pairs"


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
