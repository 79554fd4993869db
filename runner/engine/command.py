"""Command: ``invoke run`` from its flags to its exit code."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from rich.console import Console

from runner.engine.isolation import Isolation, IsolationLevel, choose
from runner.engine.lock import locked
from runner.engine.matrix import read_matrix
from runner.engine.places import Places
from runner.engine.planning import Group, make_plan
from runner.engine.progress import TerminalObserver, plan_lines, plan_table, summary_lines
from runner.engine.resolution import complete, require_repositories, resolve_all, store_of
from runner.engine.resuming import find_plan, require_unchanged, settings_of
from runner.engine.running import EXIT_DONE, Run, Stop, run_plan
from runner.engine.sessions import open_sessions, require_protocols, require_ways, require_windows
from runner.engine.settings import RunSettings, changed, read_settings
from runner.errors import UsageError
from runner.records import PlanRecord
from runner.secrets import Scanner
from runner.store import ResultsStore

RESUMABLE = frozenset(
    {"concurrency", "budget_usd", "budget_tokens", "budget_seconds", "fail_under"}
    | {"cell_budget_usd", "cell_budget_tokens", "cell_budget_seconds"}
)
"""Settings that do not change what is measured."""
BESIDE_A_MATRIX = RESUMABLE | {"seed", "trials"}


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
    matrix: Path | None = None,
) -> int:
    """Start a run, or go on with one; returns the exit code.

    ``matrix`` is a file that lists models, harnesses, skills and datasets; flags and ``config`` are then not
    given, except those that do not change what is measured.
    ``resume`` is a plan id, True for the newest unfinished plan, or nothing for a new run.
    """
    if resume == "":
        raise UsageError("--resume was given an empty plan id", remedy="name the plan, or leave the = out")
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
            matrix=matrix,
        )
    given = {name for name, value in flags.items() if value is not None}
    foreign = sorted(given - RESUMABLE) + [
        name for name, value in (("config", config), ("matrix", matrix), ("dry_run", dry_run)) if value
    ]
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
    matrix: Path | None = None,
) -> int:
    """Plan a run, show the plan, and run it unless ``dry_run``; returns the exit code."""
    wanted = _matrix(matrix, config, flags) if matrix else (read_settings(config, flags),)
    groups = resolve_all([complete(each, places) for each in wanted], places)
    require_protocols(groups)
    isolation = chosen_isolation(groups, places)
    scanner = _scanner(groups, places, environment)
    demonstration, private = store_of(groups[0])
    store = places.store(demonstration=demonstration, private=private, scanner=scanner)
    with ExitStack() as stack:
        if not dry_run:
            sessions = stack.enter_context(open_sessions(groups, places, environment))
            for warning in require_windows(groups, sessions):
                console.print(warning, markup=False, highlight=False, soft_wrap=True)
            require_repositories(
                groups, places, lambda text: console.print(text, markup=False, highlight=False)
            )
        # Two runs that plan at the same moment would otherwise take the same trial numbers.
        with locked(places.lock("planning"), wait=True, holder="another run"):
            plan = make_plan(groups, store, now=datetime.now(UTC))
            show_plan(plan, console)
            show_isolation(isolation, console)
            if dry_run:
                console.print("Dry run: nothing was started, nothing was written.")
                return EXIT_DONE
            store.write_plan(plan)
        observer = stack.enter_context(TerminalObserver(console, stream=stream, verbose=verbose))
        return _run(Run(plan, groups, sessions, places, store, scanner, observer, Stop(), isolation), console)


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

    Only flags that do not change what is measured may differ from the plan: concurrency, budgets and the
    threshold.
    """
    plan, found = find_plan(plan_id, places)
    groups = resolve_all([changed(each, flags) for each in settings_of(plan)], places)
    require_unchanged(plan, groups, found)
    isolation = chosen_isolation(groups, places)
    scanner = _scanner(groups, places, environment)
    store = ResultsStore(found.root, scanner=scanner)
    console.print(f"Resuming plan {plan.plan_id}", highlight=False)
    show_isolation(isolation, console)
    with (
        open_sessions(groups, places, environment) as sessions,
        TerminalObserver(console, stream=stream, verbose=verbose) as observer,
    ):
        return _run(Run(plan, groups, sessions, places, store, scanner, observer, Stop(), isolation), console)


def _matrix(matrix: Path, config: Path | None, flags: Mapping[str, object]) -> tuple[RunSettings, ...]:
    """The groups of a matrix file, with the flags that may stand beside it."""
    given = {name: value for name, value in flags.items() if value is not None}
    foreign = sorted(given.keys() - BESIDE_A_MATRIX) + (["config"] if config else [])
    if foreign:
        shown = ", ".join("--" + name.replace("_", "-") for name in foreign)
        raise UsageError(f"a matrix file says all that; {shown} cannot stand beside it", where=str(matrix))
    return tuple(changed(each, given) for each in read_matrix(matrix))


def _scanner(groups: Sequence[Group], places: Places, environment: Mapping[str, str]) -> Scanner:
    """Knows the secrets of this machine, those that the groups use above all."""
    names = [group.settings.api_key_env for group in groups]
    names += [getattr(group.parts.provider, "key_variable", None) for group in groups]
    return places.scanner(environment, [name for name in names if name])


def chosen_isolation(groups: Sequence[Group], places: Places) -> Isolation:
    """What the agents and checks of a run are kept in: as asked, or the strongest that works here.

    Raises:
        ConfigurationError: what was asked for is not to be had here, or an agent cannot get out of it.
    """
    private = (places.results, places.datasets, places.repositories, places.streams)
    isolation = choose(groups[0].settings.isolation, private=private)
    require_ways(groups, isolation)
    return isolation


def show_isolation(isolation: Isolation, console: Console) -> None:
    """Say how far the agents are kept from this machine."""
    remark = f" ({isolation.remark})" if isolation.remark else ""
    text = f"isolation: {isolation.level}{remark}"
    if isolation.level is IsolationLevel.NONE:
        text += "; agents and checks run with your rights: use a machine you can throw away"
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def show_plan(plan: PlanRecord, console: Console) -> None:
    """Print a plan with its size, order and ceiling."""
    console.print(plan_table(plan))
    for line in plan_lines(plan):
        console.print(line, highlight=False, soft_wrap=True)


def _run(run: Run, console: Console) -> int:
    with _stopping_on_signals(run.stop, console):
        summary = run_plan(run)
    for line in summary_lines(summary):
        console.print(line, highlight=False, soft_wrap=True)
    return summary.exit_code(run.shared.fail_under)


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
