"""Command: ``invoke preflight`` from its flags to its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from runner.engine.command import key_names, settings_of_call
from runner.engine.judging_choice import judge_probe
from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.flight import Flight, look, show, shown
from runner.engine.preflight.judging import Judge
from runner.engine.preflight.question import Line
from runner.engine.resolution import complete, resolve, store_of
from runner.engine.resume_flags import require_effect, require_resumable
from runner.engine.resuming import find_plan, settings_of
from runner.engine.settings import RunSettings, changed
from runner.errors import HarnessmarkError
from runner.providers.checks import Check, CheckState
from runner.records import PlanRecord
from runner.store import ResultsStore


def preflight_command(
    places: Places,
    console: Console,
    *,
    config: Path | None,
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    matrix: Path | None = None,
    resume: str | bool | None = None,
    judge: Judge | None = None,
) -> int:
    """Show what would make a run with these flags fail; returns the exit code.

    Raises:
        ConfigurationError: flags, configuration or matrix have faults, so that no run is named.
        UsageError: there is no such plan, or a flag cannot stand beside ``resume``.
    """
    resumed: PlanRecord | None = None
    if resume:
        require_resumable(flags, {"config": config, "matrix": matrix}, places)
        resumed, store = find_plan(resume if isinstance(resume, str) else None, places, flags)
        require_effect(resumed, store, flags)
        wanted: Sequence[RunSettings] = [changed(each, flags) for each in settings_of(resumed)]
        groups, known = resolved(wanted, places)
    else:
        wanted = settings_of_call(matrix, config, flags)
        groups, known = resolved(wanted, places)
        demonstration, private = store_of(groups[0]) if groups else (False, False)
        store = places.store(demonstration=demonstration, private=private)
    names = key_names(groups)
    scanner = places.scanner(environment, names)
    store = ResultsStore(store.root, scanner=scanner)
    if judge is None and groups:
        judge = judge_probe(groups[0].settings, places, environment)
    flight = Flight(groups, places, environment, scanner, store, names, resumed, judge, known)
    with shown(console) as progress:
        report = look(flight, progress)
    show(report, console)
    return report.exit_code


def resolved(wanted: Sequence[RunSettings], places: Places) -> tuple[list[Group], list[Line]]:
    """The groups that can be made of ``wanted``, and a failed line for each that cannot."""
    groups: list[Group] = []
    lines: list[Line] = []
    for settings in wanted:
        try:
            whole = complete(settings, places)
            groups.append(Group(whole, resolve(whole, places)))
        except HarnessmarkError as error:
            where = f" ({error.where})" if error.where else ""
            check = Check("names", CheckState.FAIL, error.what + where, error.remedy)
            lines.append(Line("settings", check))
    if len({store_of(group) for group in groups}) > 1:
        found = "demonstrations, private and public datasets are kept in stores of their own"
        lines.append(Line("settings", Check("store", CheckState.FAIL, found, "make one matrix for each")))
    return groups, lines
