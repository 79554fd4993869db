"""Command: ``invoke run`` from its flags to its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from runner.engine.blocks import Block, blocks_of
from runner.engine.detaching import Order, detach
from runner.engine.isolation import Isolation, IsolationLevel, choose
from runner.engine.judging_choice import chosen_judging, judge_probe
from runner.engine.lock import locked, require_unlocked
from runner.engine.matrix import read_matrix
from runner.engine.notifying import Notifier, notify_command, without_secrets
from runner.engine.places import Places
from runner.engine.planning import Group, by_cell, make_plan
from runner.engine.preflight.flight import Flight, look, show, shown
from runner.engine.preflight.report import Report
from runner.engine.progress import TerminalObserver, plan_lines, plan_table, summary_lines
from runner.engine.resolution import complete, require_repositories, resolve_all, store_of
from runner.engine.resume_flags import RESUMABLE, dashed, require_effect, require_resumable
from runner.engine.resuming import find_plan, require_unchanged, settings_of
from runner.engine.running import EXIT_DONE, Run, Stop, run_plan
from runner.engine.sessions import (
    Sessions,
    exclusive_keys,
    open_sessions,
    require_ways,
)
from runner.engine.settings import RunSettings, changed, read_settings
from runner.engine.signals import heard
from runner.errors import UsageError
from runner.records import PlanRecord
from runner.secrets import Scanner
from runner.store import ResultsStore

BESIDE_A_MATRIX = RESUMABLE | {"seed", "trials"}


@dataclass(frozen=True)
class Call:
    """How ``invoke run`` was called, beside its settings."""

    places: Places
    console: Console
    environment: Mapping[str, str]
    flags: Mapping[str, object]
    stream: bool = False
    verbose: bool = False
    detach: bool = False
    log: Path | None = None
    """Where what is shown goes, when nobody looks on."""


@dataclass(frozen=True)
class Prepared:
    """What a run needs whether it is new or not."""

    groups: Sequence[Group]
    isolation: Isolation
    scanner: Scanner
    notify: tuple[str, ...]
    report: Report
    """Of the pre-flight."""


def run_command(
    places: Places,
    console: Console,
    *,
    config: Path | None,
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    dry_run: bool = False,
    resume: str | bool | None = None,
    detach: bool = False,
    stream: bool = False,
    verbose: bool = False,
    matrix: Path | None = None,
    log: Path | None = None,
) -> int:
    """Start a run, or go on with one; returns the exit code.

    ``matrix`` is a file that lists models, harnesses, skills and datasets; flags and ``config`` are then not
    given, except those that do not change what is measured.
    ``resume`` is a plan id, True for the newest unfinished plan, or nothing for a new run.
    With ``detach`` the run goes on in a process of its own once everything was checked and planned.
    """
    if resume == "":
        raise UsageError("--resume was given an empty plan id", remedy="name the plan, or leave the = out")
    call = Call(places, console, environment, flags, stream, verbose, detach, log)
    if not resume:
        return start(call, settings_of_call(matrix, config, flags), dry_run=dry_run)
    require_resumable(flags, {"config": config, "matrix": matrix, "dry_run": dry_run}, places)
    return go_on(call, resume if isinstance(resume, str) else None)


def start(call: Call, wanted: Sequence[RunSettings], *, dry_run: bool = False) -> int:
    """Plan a run, show the plan, and run it unless ``dry_run``; returns the exit code."""
    places = call.places
    prepared = prepare(call, [complete(each, places) for each in wanted], dry_run=dry_run)
    groups = prepared.groups
    demonstration, private = store_of(groups[0])
    store = places.store(demonstration=demonstration, private=private, scanner=prepared.scanner)
    with ExitStack() as stack:
        if not dry_run:
            sessions = stack.enter_context(
                open_sessions(groups, places, call.environment, partial(say, call.console))
            )
            require_repositories(groups, places, lambda text: say(call.console, text))
        # Two runs that plan at the same moment would otherwise take the same trial numbers.
        with locked(places.lock("planning"), wait=True, holder="another run"):
            plan = make_plan(groups, store, now=datetime.now(UTC), keys=exclusive_keys(groups, places))
            show_plan(plan, call.console)
            show_turns(blocks_of(plan, exclusive_keys(groups, places)), plan, call.console)
            show_isolation(prepared.isolation, call.console)
            if dry_run:
                call.console.print("Dry run: nothing was started, nothing was written.")
                prepared.report.require()
                return EXIT_DONE
            store.write_plan(plan)
        if not call.detach:
            return _run(call, prepared, plan, store, sessions)
    return _detached(call, prepared, plan)


def go_on(call: Call, plan_id: str | None) -> int:
    """Run what is left of a plan (the newest unfinished one when no id is given); returns the exit code.

    Only flags that do not change what is measured may differ from the plan: concurrency, budgets, times,
    judges, the threshold, and whom to notify. With other judges a plan has trials left that those have still
    to score.
    """
    plan, found = find_plan(plan_id, call.places, call.flags)
    if call.log is None:
        # A process that goes on without a terminal was handed what had been accepted already.
        require_effect(plan, found, call.flags)
    prepared = prepare(call, [changed(each, call.flags) for each in settings_of(plan)], resumed=plan)
    require_unchanged(plan, prepared.groups, found)
    store = ResultsStore(found.root, scanner=prepared.scanner)
    call.console.print(f"Resuming plan {plan.plan_id}", highlight=False)
    show_isolation(prepared.isolation, call.console)
    tell = partial(say, call.console)
    with open_sessions(prepared.groups, call.places, call.environment, tell) as sessions:
        if not call.detach:
            return _run(call, prepared, plan, store, sessions)
    return _detached(call, prepared, plan)


def prepare(
    call: Call,
    settings: Sequence[RunSettings],
    *,
    dry_run: bool = False,
    resumed: PlanRecord | None = None,
) -> Prepared:
    """Everything that can be wrong before a trial starts; a dry run shows it and does not refuse yet.

    Raises:
        ConfigurationError, UsageError: something is.
    """
    groups = resolve_all(settings, call.places)
    by_cell(groups)
    notify = groups[0].settings.notify
    command = notify_command(notify, call.environment) if notify else ()
    names = key_names(groups)
    scanner = call.places.scanner(call.environment, names)
    demonstration, private = store_of(groups[0])
    store = call.places.store(demonstration=demonstration, private=private)
    # A judge is asked for a word, which costs a few tokens: not where nothing is to be started.
    judges = None if dry_run else judge_probe(groups[0].settings, call.places, call.environment)
    flight = Flight(groups, call.places, call.environment, scanner, store, names, resumed, judges)
    with shown(call.console) as progress:
        report = look(flight, progress)
    if dry_run:
        show(report, call.console)
    else:
        for text in report.warnings():
            say(call.console, text)
        report.require()
        say(call.console, report.summary())
    return Prepared(groups, chosen_isolation(groups, call.places), scanner, command, report)


def _detached(call: Call, prepared: Prepared, plan: PlanRecord) -> int:
    """Hand the plan over to a process that outlives this terminal."""
    given = {name: value for name, value in call.flags.items() if name in RESUMABLE and value is not None}
    given["notify"] = prepared.groups[0].settings.notify
    order = Order(flags=given, stream=call.stream, verbose=call.verbose)
    require_unlocked(call.places.lock(plan.plan_id), holder=f"another runner of {plan.plan_id}")
    return detach(call.places, plan.plan_id, order, call.environment, lambda text: say(call.console, text))


def settings_of_call(
    matrix: Path | None, config: Path | None, flags: Mapping[str, object]
) -> tuple[RunSettings, ...]:
    """The settings of a new run, group by group, as files and flags say them.

    Raises:
        ConfigurationError: a file or a flag has faults.
        UsageError: a flag cannot stand beside a matrix.
    """
    return _matrix(matrix, config, flags) if matrix else (read_settings(config, flags),)


def _matrix(matrix: Path, config: Path | None, flags: Mapping[str, object]) -> tuple[RunSettings, ...]:
    """The groups of a matrix file, with the flags that may stand beside it."""
    given = {name: value for name, value in flags.items() if value is not None}
    foreign = sorted(given.keys() - BESIDE_A_MATRIX) + (["config"] if config else [])
    if foreign:
        raise UsageError(
            f"a matrix file says all that; {dashed(*foreign)} cannot stand beside it", where=str(matrix)
        )
    return tuple(changed(each, given) for each in read_matrix(matrix))


def key_names(groups: Sequence[Group]) -> list[str]:
    """Environment variables that hold a key of these groups."""
    names = [group.settings.api_key_env for group in groups]
    names += [getattr(group.parts.provider, "key_variable", None) for group in groups]
    return [name for name in names if name]


def say(console: Console, text: str) -> None:
    """Print a line as it is."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


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
    say(console, text)


def show_plan(plan: PlanRecord, console: Console) -> None:
    """Print a plan with its size, order and ceiling."""
    console.print(plan_table(plan))
    for line in plan_lines(plan):
        console.print(line, highlight=False, soft_wrap=True)


def show_turns(blocks: Sequence[Block], plan: PlanRecord, console: Console) -> None:
    """Say in which order models are served that take turns on a server."""
    turns = [", ".join(block.models(plan)) for block in blocks if block.key is not None]
    if turns:
        say(console, f"models take turns on a server, one block of trials each: {', then '.join(turns)}")


def _run(call: Call, prepared: Prepared, plan: PlanRecord, store: ResultsStore, sessions: Sessions) -> int:
    stop, groups = Stop(), prepared.groups
    names = tuple(key_names(groups))
    with (
        TerminalObserver(
            call.console, stream=call.stream, verbose=call.verbose, mask=prepared.scanner.mask
        ) as observer,
        chosen_judging(
            groups[0].settings,
            store,
            call.places,
            call.environment,
            isolation=prepared.isolation,
            stop=stop.now,
        ) as judging,
    ):
        environment = without_secrets(call.environment, names) if prepared.notify else {}
        run = Run(
            plan,
            groups,
            sessions,
            call.places,
            store,
            prepared.scanner,
            observer,
            stop,
            prepared.isolation,
            judging=judging,
            notifier=Notifier(prepared.notify, environment, call.places.root, observer.note),
            log=None if call.log is None else str(call.log.relative_to(call.places.root)),
        )
        with heard(lambda _: _pressed(stop, call.console), at_once=stop.interrupt):
            summary = run_plan(run)
    for line in summary_lines(summary):
        call.console.print(line, highlight=False, soft_wrap=True)
    return summary.exit_code(run.shared.fail_under)


def _pressed(stop: Stop, console: Console) -> None:
    if stop.press():
        console.print("Stopping the trials in flight; they will run again on resume.")
    else:
        console.print("Finishing the trials in flight; press Ctrl-C again to stop them too.")
