"""Endpoint: model endpoints that were measured: the index, and the mappings of each model side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from generators.pages import endpoint_run, links, words
from generators.pages.endpoint_charts import (
    capability_chart,
    curve_sections,
    distribution_charts,
    history_charts,
    median_charts,
)
from generators.pages.endpoint_entries import quantile_entry, rate_entry
from generators.pages.endpoint_history import of_one_methodology, spread_table
from generators.pages.endpoint_load import beside_each_other
from generators.pages.endpoint_tables import (
    agreement_table,
    comparisons_table,
    money_table,
    reliability_table,
    score_table,
    slices_table,
    speed_table,
)
from generators.pages.endpoint_words import BY_NAME, ENDED
from generators.pages.endpoint_work_tables import coding_table
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, count_entry, link_entry, table
from generators.pages.world import World
from generators.tables.endpoint_runs import EndpointRun, best_run
from runner.records.bench_summary import BenchSummary

Holds = Callable[[BenchSummary], bool]


@dataclass(frozen=True)
class Shown:
    """The run that a section of a model's page shows, with a link to it."""

    run: EndpointRun
    page: str
    href: str

    @property
    def words(self) -> str:
        """Run, day, profile and end in one line."""
        ended = ENDED.get(self.run.summary.ended, self.run.summary.ended)
        return f"{self.run.manifest.created_at.date().isoformat()}, {self.run.profile}, {ended}"


def pages(world: World, demonstration: World | None) -> Iterator[Page]:
    """The index, always there for real results; a page for each model, and one for each run."""
    if not world.demonstration or world.endpoints.runs:
        yield _index(world, demonstration)
    for model in world.endpoints.models:
        yield _model(world, model)
        for run in world.endpoints.of(model):
            yield endpoint_run.page(world, run)


def _index(world: World, demonstration: World | None) -> Page:
    path = world.prefix + links.ENDPOINTS
    shown_elsewhere = demonstration is not None and bool(demonstration.endpoints.runs)
    return Page(
        path=path,
        title="Endpoints",
        template="endpoints.md.j2",
        description="Latency, load, capability and coding of model endpoints, mapping by mapping.",
        context={
            "models": _models_table(world, path) if world.endpoints.models else None,
            "broken": [(each.folder, each.reason) for each in world.endpoints.broken],
            "demonstration_page": links.DEMONSTRATION + links.ENDPOINTS if shown_elsewhere else "",
            "methodology": links.ENDPOINT_METHODOLOGY,
        },
        crumbs=crumbs(world)[:1] if not world.demonstration else crumbs(world)[:2],
        in_search=not world.demonstration,
        demonstration=world.demonstration,
    )


def crumbs(world: World) -> tuple[Crumb, ...]:
    """The way to a page below the index."""
    way = [Crumb("Home", links.HOME)]
    if world.demonstration:
        way.append(Crumb("Demonstration", links.DEMONSTRATION + links.HOME))
    return (*way, Crumb("Endpoints", world.prefix + links.ENDPOINTS))


def _models_table(world: World, path: str) -> Table:
    rows = []
    for model in world.endpoints.models:
        runs = world.endpoints.of(model)
        mappings = sorted({label for run in runs for label in run.labels.values()})
        rows.append(
            [
                link_entry(model, links.relative(path, links.endpoint_model_page(model, world.prefix))),
                Entry(words.listing(mappings)),
                count_entry(len(mappings)),
                count_entry(len(runs)),
                Entry(words.listing(sorted({run.profile for run in runs}))),
                Entry(runs[-1].manifest.created_at.date().isoformat()),
            ]
        )
    columns = [Column("Model"), Column("Mappings"), Column("Number", "number"), Column("Runs", "number")]
    columns += [Column("Profiles"), Column("Newest run")]
    return table("Models whose endpoints were measured", columns, rows)


def _model(world: World, model: str) -> Page:
    path = links.endpoint_model_page(model, world.prefix)
    runs = world.endpoints.of(model)
    prefix = "demonstration" if world.demonstration else "real"
    speed = _section(world, runs, path, lambda s: any(each.reliability.requests for each in s.targets))
    quality = _section(world, runs, path, lambda s: bool(s.slices))
    load = _section(world, runs, path, lambda s: any(curve.points for curve in s.load), "load")
    coding = _section(world, runs, path, lambda s: bool(s.coding), "coding")
    medians = median_charts(speed.run, path, prefix) if speed else []
    spread = distribution_charts(speed.run, path, prefix) if speed else []
    radar = capability_chart(quality.run, path, quality.page, prefix) if quality else None
    beside = beside_each_other(load.run, path, prefix) if load else []
    curves = curve_sections(load.run, path, prefix) if load else []
    history = history_charts(of_one_methodology(runs), path, prefix)
    drawings = [*medians, *spread, *history, *([radar] if radar else [])]
    drawings += [each for group in beside for each in group.drawn]
    drawings += [each for curve in curves for each in curve.drawn]
    return Page(
        path=path,
        title=f"{model}: endpoints",
        template="endpoint_model.md.j2",
        description=f"Every mapping of {model} that was measured, side by side.",
        context={
            "speed": speed,
            "speed_tables": [speed_table(speed.run), reliability_table(speed.run)] if speed else [],
            "medians": [each.html for each in medians],
            "spread": [each.html for each in spread],
            "differences": comparisons_table(speed.run) if speed else None,
            "money": money_table(speed.run) if speed else None,
            "quality": quality,
            "scores": score_table(quality.run) if quality else None,
            "slices": slices_table(quality.run, "dimension") if quality else None,
            "radar": radar.html if radar else None,
            "agreement": agreement_table(quality.run) if quality else None,
            "load": load,
            "beside": beside,
            "curves": curves,
            "coding": coding,
            "coding_tables": [
                found
                for by_task in (False, True)
                if coding and (found := coding_table(coding.run, by_task=by_task)) is not None
            ],
            "history": [each.html for each in history],
            "run_spread": spread_table(runs),
            "runs": _runs_table(world, runs, path),
            "methodology": links.ENDPOINT_METHODOLOGY,
        },
        crumbs=crumbs(world),
        in_search=False,
        demonstration=world.demonstration,
        assets=tuple(each.asset for each in drawings),
    )


def _section(
    world: World, runs: tuple[EndpointRun, ...], path: str, holds: Holds, profile: str = "standard"
) -> Shown | None:
    chosen = best_run(tuple(run for run in runs if holds(run.summary)), profile)
    if chosen is None:
        return None
    page = links.endpoint_run_page(chosen.model, chosen.run_id, world.prefix)
    return Shown(chosen, page, links.relative(path, page))


def _runs_table(world: World, runs: tuple[EndpointRun, ...], path: str) -> Table:
    """Every target of every run, newest first."""
    rows = []
    for run in reversed(runs):
        page = links.relative(path, links.endpoint_run_page(run.model, run.run_id, world.prefix))
        for target in run.summary.targets:
            account, measures = target.account, target.measures
            rows.append(
                [
                    link_entry(words.moment(run.manifest.created_at), page, note=run.run_id),
                    Entry(run.label(target.target)),
                    Entry(run.profile, note=ENDED.get(run.summary.ended, run.summary.ended)),
                    Entry(f"{account.done:,} of {account.planned:,}", float(account.done)),
                    quantile_entry(measures.get("ttft_ms"), 0.5, BY_NAME["ttft_ms"]),
                    quantile_entry(measures.get("latency_ms"), 0.5, BY_NAME["latency_ms"]),
                    quantile_entry(measures.get("output_tps"), 0.5, BY_NAME["output_tps"]),
                    rate_entry(target.reliability.succeeded),
                    rate_entry(target.score.over_attempted if target.score else None),
                    Entry(f"version {run.summary.methodology}"),
                ]
            )
    columns = [
        Column("Run"),
        Column("Mapping"),
        Column("Profile"),
        Column("Done", "number", "of the planned"),
    ]
    columns += [Column(title, "number") for title in ("TTFT p50", "Latency p50", "Output speed p50")]
    columns += [Column("Good ends", "number"), Column("Right", "number"), Column("Methodology")]
    return table(f"Every run of {runs[0].model}", columns, rows)
