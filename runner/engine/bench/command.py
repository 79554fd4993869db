"""Command: ``invoke bench`` from its options to its exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.endpoint.address import EndpointAddress
from runner.endpoint.dotenv import environment_with
from runner.endpoint.loops import event_loop_named
from runner.endpoint.loops import run as run_loop
from runner.endpoint.recording import Keeping
from runner.endpoint.target import Target
from runner.endpoint.targets import load_targets
from runner.engine.bench.announcing import announced, forget_announced
from runner.engine.bench.arranging import Levels, levels_of
from runner.engine.bench.calibrating import calibrated
from runner.engine.bench.casework import cases_again
from runner.engine.bench.confining import workbench
from runner.engine.bench.demonstration import Demonstration
from runner.engine.bench.ending import PARTIAL, finish, finish_with_fault
from runner.engine.bench.flight import Flight, forget_flight
from runner.engine.bench.host import this_host, this_tool
from runner.engine.bench.ledger import Spending, counts, done_by_key, searches
from runner.engine.bench.live import LiveTarget, Means, Writer
from runner.engine.bench.options import BenchOptions
from runner.engine.bench.planning import Surroundings, plan, targets_of
from runner.engine.bench.preflight import (
    DEMONSTRATION,
    LOOKS_FIRST,
    SWITCHED_OFF,
    preflighted,
    targets_corrected,
)
from runner.engine.bench.progress import ending_lines, plan_lines, trial_line
from runner.engine.bench.reporting import require_folder, write_reports
from runner.engine.bench.resuming import mark_key, targets_again
from runner.engine.bench.running import Outcome, run_bench
from runner.engine.bench.sitting import Sitting, taken_up
from runner.engine.bench.standing import bench_name
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.pricing import load_book
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_trial import BenchTrial
from runner.records.nouns import counted
from runner.store.bench_run import BenchRun, TrialLog, find_run
from runner.store.layout import StoreRoots

Say = Callable[[str], None]
SOLUTIONS = ("tests", "data", "coding-solutions")


@dataclass(frozen=True)
class BenchCall:
    """One call of the command.

    Args:
        resume: id of a run that is to go on, ``latest`` for the newest; empty starts a new one.
        out: folder that the reports go to; empty writes none.
        log: file for what the built-in server injected and sent; for demonstrations.
    """

    options: BenchOptions
    resume: str = ""
    dry_run: bool = False
    quiet: bool = False
    out: str = ""
    log: Path | None = None


def bench_command(places: Places, say: Say, call: BenchCall, environ: Mapping[str, str]) -> int:
    """Plan a run or take one up, work it off, and write its figures.

    Returns:
        0: everything planned was done and the thresholds are met; 2: done, a threshold failed; 3: something
        was left, all results are saved; 4: our own fault, results up to it are saved.

    Raises:
        HarnessmarkError: nothing was asked: the options, files or keys are wrong.
    """
    environment = environment_with(places.root / ".env", environ)
    if call.out and not call.dry_run:
        # Told now: after hours of measuring it would be too late.
        require_folder(Path(call.out))
    try:
        if call.resume:
            return _go_on(places, say, call, environment)
        return _begin(places, say, call, environment)
    except KeyboardInterrupt:
        say("interrupted before anything was measured")
        return PARTIAL


def _begin(places: Places, say: Say, call: BenchCall, environment: Mapping[str, str]) -> int:
    options = call.options.checked()
    catalogue = load_targets(places.datasets / "targets")
    now = datetime.now(UTC)
    targets = targets_of(options, catalogue, now.date())
    if not call.dry_run:
        _keys(targets, environment)
    _, sandbox = workbench()
    around = Surroundings(
        catalogue,
        load_book(places.prices),
        this_tool(places.root),
        this_host(options.client_region, sandbox, options.event_loop),
        now,
    )
    manifest = plan(options, targets, around, calibration_missing="switched off")
    if call.dry_run:
        for line in plan_lines(manifest):
            say(line)
        if options.preflight and not manifest.demonstration:
            say(LOOKS_FIRST)
        return 0
    run = _run_of(places, manifest, environment, targets)
    with (
        locked(places.lock(bench_name(run.run_id)), wait=False, holder="another runner of this run"),
        ExitStack() as stack,
    ):
        sitting = stack.enter_context(taken_up(places, run.run_id, options.concurrency, say))
        with announced(places, run, manifest) as announce:
            manifest = _prepared(manifest, targets, options, environment, run, sitting, say, announce)
            run.begin(manifest)
        for line in plan_lines(manifest):
            say(line)
        return _work_off(places, say, call, run, manifest, targets, environment, sitting, stack)


def _prepared(
    manifest: BenchManifest,
    targets: Sequence[Target],
    options: BenchOptions,
    environment: Mapping[str, str],
    run: BenchRun,
    sitting: Sitting,
    say: Say,
    announce: Callable[[BenchManifest], None],
) -> BenchManifest:
    """``manifest`` with what pre-flight and calibration found."""
    why = DEMONSTRATION if manifest.demonstration else "" if options.preflight else SWITCHED_OFF
    if why:
        manifest = manifest.model_copy(update={"preflight_missing": why})
    else:
        with sitting.preparing("pre-flight"):
            manifest = preflighted(manifest, targets, environment, run.scanner, say)
        announce(manifest)
    if options.calibrate:
        tls = any((target.entry.base_url or "").startswith("https:") for target in targets)
        transport, workers = options.chosen_transport, options.workers
        levels, loop = levels_of(manifest), manifest.host.event_loop
        with sitting.preparing("calibrating"):
            found, missing = calibrated(levels, transport, tls=tls, note=say, workers=workers, loop=loop)
        manifest = manifest.model_copy(update={"calibration": found, "calibration_missing": missing})
    return manifest


def _go_on(places: Places, say: Say, call: BenchCall, environment: Mapping[str, str]) -> int:
    found = find_run(StoreRoots(places.results), call.resume, places.scanner(environment))
    manifest = found.manifest()
    event_loop_named(manifest.host.event_loop)
    targets = targets_again(manifest, load_targets(places.datasets / "targets"))
    _keys(targets, environment)
    run = _run_of(places, manifest, environment, targets)
    with (
        locked(places.lock(bench_name(run.run_id)), wait=False, holder="another runner of this run"),
        ExitStack() as stack,
    ):
        lost = run.repair()
        forget_announced(places, run)
        if lost:
            gone = counted(lost, "byte")
            say(f"the last line was cut: {gone} of a trial in flight gone, it will be made again")
        for line in plan_lines(manifest):
            say(line)
        sitting = stack.enter_context(taken_up(places, run.run_id, manifest.settings.concurrency, say))
        return _work_off(places, say, call, run, manifest, targets, environment, sitting, stack)


def _run_of(
    places: Places, manifest: BenchManifest, environment: Mapping[str, str], targets: Sequence[Target]
) -> BenchRun:
    names = [target.entry.key_variable for target in targets if target.entry.key_variable is not None]
    roots = StoreRoots(places.results)
    root = roots.demonstration if manifest.demonstration else roots.public
    return BenchRun(root, manifest.model, manifest.run_id, places.scanner(environment, names))


def _keys(targets: Sequence[Target], environment: Mapping[str, str]) -> dict[str, str | None]:
    return {target.identifier: target.key(environment) for target in targets}


def _work_off(
    places: Places,
    say: Say,
    call: BenchCall,
    run: BenchRun,
    manifest: BenchManifest,
    targets: Sequence[Target],
    environment: Mapping[str, str],
    sitting: Sitting,
    stack: ExitStack,
) -> int:
    """Ask what is left, then make the figures; ``stack`` holds the sitting, which is over by then."""
    trials = run.trials()
    done = [trial for trial in trials if counts(trial)]
    if {each.key for each in manifest.planned} <= {each.key for each in done} and not searches(manifest):
        say(_nothing_left(len(manifest.planned)))
        stack.close()
        return _finished(places, run, manifest, Outcome(), call, say)
    spending = Spending(manifest)
    spending.take_preflight(with_time=not trials)
    spending.take(trials, with_time=False)
    bench = workbench()[0]
    total, over = len(manifest.planned), len(done_by_key(trials))
    shown = [over]

    def progress(trial: BenchTrial) -> None:
        """Say one trial that is over."""
        shown[0] += 1
        if not call.quiet:
            say(trial_line(trial, shown[0], total))

    with stack:
        addresses = _addresses(places, stack, run, manifest, targets, environment, call.log)
        flight = Flight(places, run.run_id)
        stack.callback(flight.close)
        cut = _cut(flight, trials, say)
        spending.take_cut(cut, trials)
        writer = Writer(TrialLog(run), cut)
        stack.callback(writer.close)
        prices = {target.identifier: target.price for target in manifest.targets}
        means = Means(
            manifest=manifest,
            targets={
                target.identifier: LiveTarget(target, addresses[target.identifier], prices[target.identifier])
                for target in targets_corrected(manifest, targets)
            },
            cases=cases_again(manifest),
            keeping=Keeping(manifest.settings.keep_responses, mark_key(places, manifest)),
            workbench=bench,
            stop=sitting.stop,
            spending=spending,
            writer=writer,
            flight=flight,
            progress=progress,
            note=lambda line: None if call.quiet else say(line),
        )
        say("asking; Ctrl-C ends the run when the trials in flight are over")
        try:
            outcome = run_loop(run_bench(means, done), manifest.host.event_loop)
        except BaseException as error:  # noqa: BLE001 - told and raised again
            writer.close()
            fault = first_fault(error)
            finish_with_fault(run, manifest, fault)
            raise fault from None
    if call.resume and shown[0] == over and not outcome.reasons and len(run.trials()) == len(trials):
        say(_nothing_left(total))
    return _finished(places, run, manifest, outcome, call, say)


def _cut(flight: Flight, trials: Sequence[BenchTrial], say: Say) -> Mapping[str, int]:
    """Requests that earlier runners left in flight, by the trials' keys; those of a killed one are told."""
    cut = flight.cut(trials)
    if killed := sum(cut.values()) - sum(each.cut_requests for each in trials if each.key in cut):
        say(f"the runner was killed with {counted(killed, 'request')} in flight; what they cost is unknown")
    return cut


def _nothing_left(total: int) -> str:
    """What is said where a run that is to go on is already at its end."""
    return f"nothing was left to ask: {counted(total, 'planned trial')} over before; figures are made again"


def first_fault(error: BaseException) -> BaseException:
    """The fault itself, where tasks that ran side by side were ended because of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _finished(
    places: Places, run: BenchRun, manifest: BenchManifest, outcome: Outcome, call: BenchCall, say: Say
) -> int:
    try:
        summary = finish(run, manifest, outcome.reasons)
    except KeyboardInterrupt:
        say("interrupted while the figures were made; every result is saved")
        say(f"make them: invoke bench --resume {manifest.run_id}")
        return PARTIAL
    if summary.ended == "complete":
        forget_flight(places, run.run_id)
    try:
        for line in ending_lines(run, manifest, summary):
            say(line)
        if call.out:
            for path in write_reports(run, Path(call.out)):
                say(f"report: {path}")
    except KeyboardInterrupt:
        say("interrupted while the figures were shown; they are saved")
        say(f"show them: invoke bench --resume {manifest.run_id}")
    return summary.exit_code


def _addresses(
    places: Places,
    stack: ExitStack,
    run: BenchRun,
    manifest: BenchManifest,
    targets: Sequence[Target],
    environment: Mapping[str, str],
    log: Path | None,
) -> dict[str, EndpointAddress]:
    """Where each target answers, with its key; the built-in server is started where it is one."""
    found = {}
    server = None
    if manifest.demonstration:
        solutions = places.root.joinpath(*SOLUTIONS)
        server = stack.enter_context(Demonstration(run.manifest_path, places.cassettes, solutions, log))
    for number, target in enumerate(targets, 1):
        if server is not None:
            found[target.identifier] = server.address(target, number)
        else:
            base = target.entry.base_url or ""
            found[target.identifier] = EndpointAddress(base, api_key=target.key(environment))
    return found


def calibrate_command(say: Say, options: BenchOptions, levels: Sequence[int]) -> int:
    """Measure the client alone and print its error; 0 where it is within its limits, else 2."""
    from runner.engine.bench.calibrating import calibration_lines

    transport, workers = options.checked().chosen_transport, options.workers
    wanted = Levels((1,), tuple(levels))
    found, missing = calibrated(
        wanted, transport, tls=False, note=say, workers=workers, loop=options.event_loop
    )
    if found is None:
        say(f"the client could not be calibrated: {missing}")
        return 4
    for line in calibration_lines(found):
        say(line)
    return 0 if all(row.within for row in found.levels) else 2
