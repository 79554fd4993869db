"""Command: ``invoke run`` from its flags to its exit code."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from rich.console import Console

from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.planning import Parts, make_plan
from runner.engine.progress import TerminalObserver, plan_lines, plan_table, summary_lines
from runner.engine.resolution import complete, resolve
from runner.engine.resuming import find_plan, require_unchanged, settings_of
from runner.engine.running import EXIT_DONE, Stop, run_plan
from runner.engine.settings import RunSettings, changed, read_settings
from runner.errors import UsageError
from runner.records import PlanRecord
from runner.store import ResultsStore

RESUMABLE = frozenset({"concurrency", "budget_usd", "fail_under"})
"""Settings that do not change what is measured."""


def run_command(
    places: Places,
    console: Console,
    *,
    config: Path | None,
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    dry_run: bool = False,
    resume: str | bool | None = None,
    stream: bool = False,
    verbose: bool = False,
) -> int:
    """Start a run, or go on with one; returns the exit code.

    ``resume`` is a plan id, True for the newest unfinished plan, or nothing for a new run.
    """
    if not resume:
        return start(
            places,
            console,
            config=config,
            flags=flags,
            environment=environment,
            dry_run=dry_run,
            stream=stream,
            verbose=verbose,
        )
    given = {name for name, value in flags.items() if value is not None}
    foreign = sorted(given - RESUMABLE) + (["config"] if config else []) + (["dry_run"] if dry_run else [])
    if foreign:
        shown = ", ".join("--" + name.replace("_", "-") for name in foreign)
        raise UsageError(
            f"a resumed run keeps the settings of its plan; {shown} cannot change", remedy="leave it out"
        )
    plan_id = resume if isinstance(resume, str) else None
    return go_on(
        places, console, plan_id=plan_id, environment=environment, flags=flags, stream=stream, verbose=verbose
    )


def start(
    places: Places,
    console: Console,
    *,
    config: Path | None,
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    dry_run: bool = False,
    stream: bool = False,
    verbose: bool = False,
) -> int:
    """Plan a run, show the plan, and run it unless ``dry_run``; returns the exit code."""
    settings = complete(read_settings(config, flags), places)
    parts = resolve(settings, places)
    store = places.store(
        demonstration=parts.provider.demonstration, private=parts.dataset.visibility == "private"
    )
    # Two runs that plan at the same moment would otherwise take the same trial numbers.
    with locked(places.lock("planning"), wait=True, holder="another run"):
        plan = make_plan(settings, parts, store, now=datetime.now(UTC))
        show_plan(plan, console)
        if dry_run:
            console.print("Dry run: nothing was started, nothing was written.")
            return EXIT_DONE
        store.write_plan(plan)
    with TerminalObserver(console, stream=stream, verbose=verbose) as observer:
        return _run(plan, settings, parts, places, store, observer, environment)


def go_on(
    places: Places,
    console: Console,
    *,
    plan_id: str | None,
    environment: Mapping[str, str],
    flags: Mapping[str, object],
    stream: bool = False,
    verbose: bool = False,
) -> int:
    """Run what is left of a plan (the newest unfinished one when no id is given); returns the exit code.

    Only flags that do not change what is measured may differ from the plan: concurrency, the budget of the
    run and the threshold.
    """
    plan, store = find_plan(plan_id, places)
    settings = changed(settings_of(plan), flags)
    parts = resolve(settings, places)
    require_unchanged(plan, parts, store)
    console.print(f"Resuming plan {plan.plan_id}", highlight=False)
    with TerminalObserver(console, stream=stream, verbose=verbose) as observer:
        return _run(plan, settings, parts, places, store, observer, environment)


def show_plan(plan: PlanRecord, console: Console) -> None:
    """Print a plan with its size, order and ceiling."""
    console.print(plan_table(plan))
    for line in plan_lines(plan):
        console.print(line, highlight=False, soft_wrap=True)


def _run(
    plan: PlanRecord,
    settings: RunSettings,
    parts: Parts,
    places: Places,
    store: ResultsStore,
    observer: TerminalObserver,
    environment: Mapping[str, str],
) -> int:
    stop = Stop()
    with _stopping_on_signals(stop, observer.console):
        summary = run_plan(plan, settings, parts, places, store, observer, stop, environment)
    for line in summary_lines(summary):
        observer.console.print(line, highlight=False, soft_wrap=True)
    return summary.exit_code(settings.fail_under)


@contextmanager
def _stopping_on_signals(stop: Stop, console: Console) -> Iterator[None]:
    def press(_number: int, _frame: FrameType | None) -> None:
        if stop.press():
            console.print("Stopping the trials in flight; they will run again on resume.")
        else:
            console.print("Finishing the trials in flight; press Ctrl-C again to stop them too.")

    before = {number: signal.signal(number, press) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
