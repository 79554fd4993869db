"""Command: ``invoke sweep`` from its flags to a record in the store and its exit code."""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console

from runner.costs import InstancePrices, load_instance_prices
from runner.costs.levels import findings_of
from runner.engine.command import say
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.presence import present
from runner.engine.resolution import as_served, complete, resolve_all, store_of
from runner.engine.running import EXIT_DONE, EXIT_PARTIAL
from runner.engine.sessions import exclusive_keys, open_sessions
from runner.engine.signals import heard
from runner.engine.sweeps.keeper import SweepAbout, SweepFolder, find_sweep
from runner.engine.sweeps.loading import endpoint_of, load_of
from runner.engine.sweeps.machine import deployment_of
from runner.engine.sweeps.order import SweepOrder, order_of
from runner.engine.sweeps.outcome import outcome_lines
from runner.engine.sweeps.served_model import require_served
from runner.engine.sweeps.site import SweepSite
from runner.errors import UsageError
from runner.harnesses.endpoint import Endpoint
from runner.records import Deployment, ThroughputRecord, sha256_of
from runner.replay import STAND_IN
from runner.serving.archive import archive
from runner.serving.collector import CollectorSettings
from runner.serving.control import collecting
from runner.serving.database import lock_of
from runner.serving.idle import LOOK_SECONDS, read_business
from runner.serving.scrape import checked_metrics_url, metrics_url_of
from runner.serving.spool import spool_of
from runner.serving.sweeping import Interrupted, LevelFailed, Load, Sweeping
from runner.store import below, layout
from runner.store.atomic import remove_interrupted

PRICES = "prices/instances.yaml"
KNOWN_METRICS = frozenset({"vllm", "endpoint", "replay"})
"""Providers whose servers show their metrics beside their API."""


def sweep_command(
    places: Places, console: Console, *, environment: Mapping[str, str], given: Mapping[str, Any]
) -> int:
    """Measure levels, or go on measuring them; returns the exit code, 3 where some are left.

    Raises:
        ConfigurationError, UsageError: flags, files or credentials are wrong.
        EndpointError: the server fails; what was measured is kept.
    """
    folder, order, finish = _sweep(places, given)
    tell = partial(say, console)
    try:
        return _worked_off(places, console, environment, folder, order, finish=finish)
    except KeyboardInterrupt:
        return _stopped(folder, tell)


def _worked_off(
    places: Places,
    console: Console,
    environment: Mapping[str, str],
    folder: SweepFolder,
    order: SweepOrder,
    *,
    finish: bool,
) -> int:
    """Measure what is left unless the sweep is to end, and record it."""
    tell = partial(say, console)
    with locked(places.lock(folder.sweep_id), wait=False, holder=f"another runner of {folder.sweep_id}"):
        prices = load_instance_prices(places.datasets / PRICES)
        scanner = places.scanner(
            environment, [order.settings.api_key_env] if order.settings.api_key_env else []
        )
        site = SweepSite(places, console, tell, environment, scanner, folder.path, threading.Event())
        if not finish and not folder.is_ending():
            with _stopping(site), ExitStack() as stack:
                try:
                    _swept(folder, order, site, prices, stack)
                except (Interrupted, LevelFailed) as stopped:
                    if isinstance(stopped, LevelFailed):
                        tell(str(stopped))
                    return _stopped(folder, tell)
        record = _recorded(folder, order, site)
    for line in outcome_lines(record, prices):
        tell(line)
    whole = {each.concurrency for each in record.levels} >= set(order.levels)
    return EXIT_DONE if whole else EXIT_PARTIAL


def _stopped(folder: SweepFolder, tell: Callable[[str], None]) -> int:
    """Say what is kept of a sweep that was stopped, and how it goes on."""
    if folder.done:
        tell(f"stopped while its figures were shown; {folder.sweep_id} is recorded")
        return EXIT_DONE
    if not folder.has_begun():
        tell("stopped before anything was measured")
        return EXIT_PARTIAL
    kept = ", ".join(str(each) for each in sorted(folder.finished())) or "none"
    tell(f"stopped; levels kept: {kept}; go on with: invoke sweep --resume={folder.sweep_id}")
    return EXIT_PARTIAL


def _sweep(places: Places, given: Mapping[str, Any]) -> tuple[SweepFolder, SweepOrder, bool]:
    """A new sweep as the flags say, or the one to go on with."""
    root = places.artifacts / "sweeps"
    resume, finish = given.get("resume"), bool(given.get("finish"))
    if not resume:
        if finish:
            raise UsageError("--finish ends a sweep that was begun", remedy="name it with --resume")
        order = order_of(given)
        return SweepFolder(below(root, f"sweep-{datetime.now(UTC):%Y%m%d-%H%M%S}")), order, False
    other = [
        name
        for name, value in given.items()
        if value not in (None, False) and name not in {"resume", "finish", "_context"}
    ]
    if other:
        shown = ", ".join("--" + name.replace("_", "-") for name in sorted(other))
        raise UsageError(f"a resumed sweep keeps its order; {shown} cannot change", remedy="leave it out")
    folder = find_sweep(root, resume if isinstance(resume, str) else None)
    if folder.done:
        raise UsageError(f"{folder.sweep_id} is done and recorded", remedy="start a new one")
    return folder, folder.order(), finish


def _swept(
    folder: SweepFolder, order: SweepOrder, site: SweepSite, prices: InstancePrices, stack: ExitStack
) -> None:
    """Make the model reachable and measure what is left."""
    places = site.places
    settings = complete(order.settings, places)
    if len(settings.model) != 1 or len(settings.harness) != 1 or len(settings.skill) != 1:
        raise UsageError("a sweep is about one model under one load", remedy="name one --model")
    (group,) = resolve_all([settings], places)
    if not order.metrics_url and group.parts.provider.name not in KNOWN_METRICS:
        raise UsageError(
            f"where the server behind provider {settings.provider} shows its metrics is not known",
            remedy="--metrics-url http://host:port/metrics",
        )
    sessions = stack.enter_context(open_sessions([group], places, site.environment, site.say))
    if (key := next(iter(exclusive_keys([group], places).values()))) is not None:
        stack.enter_context(sessions.opened(key, site.say))
    endpoint = endpoint_of(order, group, sessions)
    demonstration, private = store_of(group)
    # The built-in model that only makes load says nothing of a machine, wherever its server runs.
    demonstration = demonstration or endpoint.model == STAND_IN
    deployment = deployment_of(
        order,
        as_served(group, settings.model[0], places),
        prices,
        window=endpoint.context_window,
        demonstration=demonstration,
    )
    require_served(endpoint, settings.api_key_env, site.say)
    load = load_of(order, group, sessions, site)
    about = SweepAbout(
        deployment=deployment, workload=load.workload, demonstration=demonstration, private=private
    )
    folder.begin(order, about)
    state = places.state(folder.sweep_id)
    stack.enter_context(present(state, folder.sweep_id, lambda: "now" if site.stop.is_set() else ""))
    site.say(f"sweep {folder.sweep_id} of {deployment.name}: levels {', '.join(map(str, order.levels))}")
    _measure(folder, order, endpoint, load, site)


def _measure(folder: SweepFolder, order: SweepOrder, endpoint: Endpoint, load: Load, site: SweepSite) -> None:
    url = checked_metrics_url(order.metrics_url or metrics_url_of(endpoint.base_url))
    key_env = order.settings.api_key_env
    settings = CollectorSettings(
        database=str(folder.database),
        metrics_url=url,
        interval_seconds=order.interval_seconds,
        session_name=folder.sweep_id,
        api_key_env=key_env,
    )
    with collecting(settings, site.environment, site.places.root) as database:
        Sweeping(
            model=endpoint.model,
            levels=order.levels,
            window_seconds=order.window_seconds,
            interval_seconds=order.interval_seconds,
            idle_limit_seconds=order.idle_limit_seconds,
            load=load,
            database=database,
            look=partial(read_business, url, endpoint.key_now() if key_env else ""),
            keeper=folder,
            stop=site.stop,
            say=site.say,
            look_seconds=min(order.interval_seconds, LOOK_SECONDS),
        ).run()


def _recorded(folder: SweepFolder, order: SweepOrder, site: SweepSite) -> ThroughputRecord:
    """What is measured as a record in the store."""
    about = folder.about()
    levels = sorted(folder.finished().values(), key=lambda each: each.concurrency)
    if not levels:
        raise UsageError("no level of this sweep is measured yet", remedy="resume it without --finish")
    folder.note_ending()
    record = ThroughputRecord(
        sweep_id=folder.sweep_id,
        deployment=about.deployment,
        sweep_date=f"{levels[0].started_at:%Y-%m-%d}" if levels[0].started_at else None,
        demonstration=about.demonstration,
        harnessmark_version=version("harnessmark"),
        workload=about.workload,
        scrape_interval_seconds=order.interval_seconds,
        collector_sha256=_archived(folder, about.deployment, site),
        levels=tuple(levels),
        findings=findings_of(levels, order.limit),
        warnings=tuple(warning for level in levels for warning in level.warnings),
    )
    store = site.places.store(demonstration=about.demonstration, private=about.private, scanner=site.scanner)
    # Only this sweep writes there: what a kill left half written is taken away.
    remove_interrupted((store.root / layout.record_path(record)).parent)
    store.write_throughput(f"{folder.sweep_id}-{about.deployment.name}", record)
    folder.close()
    shutil.rmtree(folder.path / "streams", ignore_errors=True)
    with suppress(OSError):
        site.places.scratch(folder.sweep_id, 0).parent.rmdir()
    return record


def _archived(folder: SweepFolder, deployment: Deployment, site: SweepSite) -> str | None:
    """Digest of the archive of the scrapes, which is made where it is not there yet."""
    archives, database = _archives(folder, site), folder.database
    if database.is_file():
        # It goes once its archive is whole: what is there all the same is of a runner that was killed.
        for path in archives:
            path.unlink()
        where = site.places.metrics / "archives"
        scope = folder.sweep_id
        archived = archive(database, where, datetime.now(UTC), model=deployment.model, scope=scope)
        site.say(f"scrapes: {_relative(archived.path, site.places.root)}, {archived.scrapes} of them")
        archives = [archived.path]
    for left in (spool_of(database), lock_of(database)):
        left.unlink(missing_ok=True)
    return sha256_of(archives[0].read_bytes()) if archives else None


def _archives(folder: SweepFolder, site: SweepSite) -> list[Path]:
    return sorted((site.places.metrics / "archives").glob(f"*_{folder.sweep_id}_*.duckdb"))


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _stopping(site: SweepSite) -> AbstractContextManager[None]:
    """Ctrl-C and the polite signal end the level in hand; what is measured stays."""
    presses = count()

    def press(number: signal.Signals) -> None:
        """The first signal says what happens and stops the level; a later one only repeats it."""
        if not site.stop.is_set():
            site.say(f"{number.name}: the level in hand is given up, finished ones are kept")
        site.stop.set()

    def at_once() -> None:
        """The second signal ends the program."""
        if next(presses):
            raise KeyboardInterrupt

    return heard(press, at_once=at_once)
