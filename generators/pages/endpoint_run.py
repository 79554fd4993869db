"""Endpoint run: everything that one endpoint benchmark measured, and how far to trust it."""

from __future__ import annotations

import posixpath

from generators.pages import links
from generators.pages.endpoint_charts import curve_sections, distribution_charts
from generators.pages.endpoint_run_tables import (
    account_table,
    adjustments_words,
    calibration_table,
    cases_table,
    facts,
    lag_words,
    measures_table,
    targets_table,
    thresholds_table,
)
from generators.pages.endpoint_tables import (
    agreement_table,
    comparisons_table,
    money_table,
    reliability_table,
    score_table,
    slices_table,
    speed_table,
)
from generators.pages.endpoint_words import milliseconds
from generators.pages.endpoint_work_tables import coding_table
from generators.pages.rendering import Asset, Crumb, Page
from generators.pages.table import Entry, Table
from generators.pages.world import World
from generators.tables.endpoint_runs import EndpointRun

SLICES = ("dimension", "category", "difficulty")


def page(world: World, run: EndpointRun) -> Page:
    """The page of one run."""
    path = links.endpoint_run_page(run.model, run.run_id, world.prefix)
    prefix = "demonstration-run" if world.demonstration else "run"
    spread = distribution_charts(run, path, prefix)
    curves = curve_sections(run, path, prefix)
    drawings = [*spread, *(each for curve in curves for each in curve.drawn)]
    files = _files(world, run)
    return Page(
        path=path,
        title=f"{run.model}, run {run.run_id}",
        template="endpoint_run.md.j2",
        description=f"Endpoint benchmark of {run.model}, {run.manifest.created_at.date().isoformat()}.",
        context={
            "run_id": run.run_id,
            "facts": facts(run),
            "flags": [*run.notes, *run.summary.flags, *_target_flags(run)],
            "thresholds": thresholds_table(run),
            "account": account_table(run),
            "targets": targets_table(run),
            "calibration": calibration_table(run),
            "calibration_facts": _calibration_words(run),
            "speed": speed_table(run),
            "measures": [
                (run.label(target.target), measures_table(run, target, path))
                for target in run.summary.targets
            ],
            "spread": [each.html for each in spread],
            "reliability": reliability_table(run),
            "adjustments": [
                (run.label(target.target), each)
                for target in run.summary.targets
                for each in adjustments_words(target)
            ],
            "answered_as": _answered_as(run),
            "scores": score_table(run),
            "slices": [found for by in SLICES if (found := slices_table(run, by)) is not None],
            "cases": cases_table(run),
            "differences": comparisons_table(run),
            "agreement": agreement_table(run),
            "curves": curves,
            "coding": _coding(run),
            "money": money_table(run),
            "files": [Entry(name, href=links.relative(path, asset.path)) for name, asset in files],
            "folder": posixpath.join(_store(world), "endpoint", run.model, run.run_id),
            "responses_kept": run.summary.responses_kept,
            "trials_bytes": run.trials_bytes,
            "data": links.DATA,
            "methodology": links.ENDPOINT_METHODOLOGY,
        },
        crumbs=(*_above(world), Crumb(run.model, links.endpoint_model_page(run.model, world.prefix))),
        in_search=False,
        demonstration=world.demonstration,
        assets=(*(each.asset for each in drawings), *(asset for _, asset in files)),
    )


def _above(world: World) -> tuple[Crumb, ...]:
    way = [Crumb("Home", links.HOME)]
    if world.demonstration:
        way.append(Crumb("Demonstration", links.DEMONSTRATION + links.HOME))
    return (*way, Crumb("Endpoints", world.prefix + links.ENDPOINTS))


def _store(world: World) -> str:
    return "results/demonstration" if world.demonstration else "results"


def _files(world: World, run: EndpointRun) -> list[tuple[str, Asset]]:
    """The plan and all figures as files; trials, which may hold what models wrote, stay in the store."""
    records = (("manifest.json", run.manifest), ("summary.json", run.summary))
    return [
        (name, Asset(links.endpoint_data(run.model, run.run_id, name, world.prefix), record.to_bytes()))
        for name, record in records
    ]


def _target_flags(run: EndpointRun) -> list[str]:
    return [f"{run.label(target.target)}: {flag}" for target in run.summary.targets for flag in target.flags]


def _calibration_words(run: EndpointRun) -> list[str]:
    calibration, lag = run.manifest.calibration, lag_words(run)
    if calibration is None:
        said = [f"The client was not measured: {run.manifest.calibration_missing or 'no reason given'}."]
    else:
        load = "" if calibration.load_average is None else f", load average {calibration.load_average:.1f}"
        said = [
            f"Just before the run the client measured the built-in server, whose first token comes after "
            f"{calibration.first_ms:g} ms and whose {calibration.chunks} chunks come every "
            f"{calibration.gap_ms:g} ms ({calibration.event_loop}{load}).",
            *([] if calibration.floor_ms is None else [_floor_words(calibration.floor_ms)]),
        ]
    return [*said, *([lag] if lag else [])]


def _floor_words(floor_ms: float) -> str:
    return f"Its floor, which is in every time to the first token: {milliseconds(floor_ms)} at p50."


def _answered_as(run: EndpointRun) -> list[tuple[str, str]]:
    """Models that answered under another name than the one that was asked, with how often."""
    found = []
    for target in run.summary.targets:
        asked = run.targets[target.target].model_id
        others = {name: count for name, count in target.reliability.other_model.items() if name != asked}
        found += [(run.label(target.target), f"{name} ({count:,})") for name, count in others.items()]
    return found


def _coding(run: EndpointRun) -> list[Table]:
    return [found for by_task in (False, True) if (found := coding_table(run, by_task=by_task)) is not None]
