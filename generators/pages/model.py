"""Model: every cell of one model, under every harness, and the index of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.board_tables import cells_table, warning_summary
from generators.pages.compare_board import model_pairs
from generators.pages.dollar_entries import machine_prices
from generators.pages.pair_tables import pair_table_of
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.tables.cells import Cell
from runner.costs.hardware import HardwareRate
from runner.records import Hosting


def pages(world: World) -> Iterator[Page]:
    """The index of models and one page for each."""
    if not world.demonstration:
        yield _index(world)
    for model in world.models:
        yield _page(world, model)


def _index(world: World) -> Page:
    rows = []
    for model in world.models:
        cells = world.select(model=model)
        rows.append(
            [
                link_entry(model, links.relative(links.MODELS, links.model_page(model))),
                Entry(words.listing(sorted({cell.identity.provider for cell in cells}))),
                Entry(words.listing(sorted({words.hosting(cell.hosting) for cell in cells}))),
                Entry(words.listing(sorted({cell.identity.harness for cell in cells}))),
                Entry(str(len(cells)), float(len(cells))),
                Entry(
                    str(sum(len(cell.trials) for cell in cells)),
                    float(sum(len(cell.trials) for cell in cells)),
                ),
            ]
        )
    columns = [Column("Model"), Column("Providers"), Column("Hosting"), Column("Harnesses")]
    columns += [Column("Cells", "number"), Column("Trials", "number")]
    return Page(
        path=links.MODELS,
        title="Models",
        template="index.md.j2",
        description="Every model with results here.",
        context={
            "lead": "Models by the short name used in folders and pages. Each page lists the raw ids that "
            "were sent. Where a source says that two names are one model, each page names the other one.",
            "table": table("Models", columns, rows),
            "after": (
                link_entry("Compare two cells, task by task", links.relative(links.MODELS, links.COMPARE)),
                link_entry("Every way to reach a model", links.relative(links.MODELS, links.PROVIDERS)),
            ),
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _page(world: World, model: str) -> Page:
    path = links.model_page(model, world.prefix)
    cells = world.select(model=model)
    sections = []
    for skill in world.skills:
        for dataset in world.dataset_names:
            members = world.select(model=model, skill=skill, dataset=dataset)
            if members:
                data = cells_table(
                    world, _by_score(members), path, label_text=f"{model}: {skill} on {dataset}", harness=True
                )
                rubrics = sorted({cell.rubric for cell in members if cell.rubric})
                note = ""
                if len(rubrics) > 1:
                    note = f"Scores by different rubrics are not comparable: {'; '.join(rubrics)}."
                sections.append((f"{skill} on {dataset}", note, data))
    home = (Crumb("Home", links.HOME),)
    return Page(
        path=path,
        title=model,
        template="model.md.j2",
        description=f"Every harness that was measured with the model {model}.",
        context={
            "facts": _facts(world, model, cells),
            "raw_ids": _raw_ids(cells),
            "other_names": _other_names(world, model, path),
            "managed": any(cell.hosting is Hosting.VENDOR_MANAGED for cell in cells),
            "sections": sections,
            "against": _against(world, model, path),
            "links": links,
            "warnings": warning_summary(cells, path),
        },
        crumbs=(*home, Crumb("Demonstration", links.DEMONSTRATION + links.HOME))
        if world.demonstration
        else (*home, Crumb("Models", links.MODELS)),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
    )


def _against(world: World, model: str, path: str) -> list[tuple[str, Table]]:
    """The model under its harnesses, pair by pair."""
    if world.demonstration:
        return []
    return [
        (pairs.title, pair_table_of(pairs, rows, path, f"{model} under its harnesses: {pairs.title}"))
        for pairs, rows in model_pairs(world, model)
    ]


def _facts(world: World, model: str, cells: tuple[Cell, ...]) -> list[tuple[str, Entry]]:
    facts = [
        ("Providers", Entry(words.listing(sorted({cell.identity.provider for cell in cells})))),
        ("Hosting", Entry(words.listing(sorted({words.hosting(cell.hosting) for cell in cells})))),
        ("Cells", Entry(f"{len(cells):,}")),
    ]
    if any(cell.hosting is Hosting.SELF_HOSTED for cell in cells):
        rate = world.rates.rate_for(model)
        if isinstance(rate, HardwareRate):
            text = f"{words.dollars(rate.usd_per_token * 1_000_000)} per million tokens"
            note = (
                f"sweep of {rate.deployment.name} on {rate.deployment.instance_type}, "
                f"concurrency {rate.level.concurrency}, {words.COMMITMENT_WORDS[rate.commitment]}; "
                f"{words.priced(machine_prices(world.rates))}"
            )
            facts.append(("Hardware-derived rate", Entry(text, note=note)))
        else:
            facts.append(("Hardware-derived rate", Entry("not known", note=rate.reason, unknown=True)))
    return facts


def _raw_ids(cells: tuple[Cell, ...]) -> Table:
    """One row for each raw id, with where it was sent: one name can cover variants of a model."""
    found: dict[str, list[tuple[Cell, int]]] = {}
    for cell in cells:
        counts = Counter(trial.record.identity.cell.model.raw_id for trial in cell.trials)
        for raw_id, trials in counts.items():
            found.setdefault(raw_id, []).append((cell, trials))
    rows = [
        [
            Entry(raw_id, code=True),
            Entry(words.listing(sorted({cell.identity.provider for cell, _ in places}))),
            Entry(words.listing(sorted({cell.identity.harness for cell, _ in places}))),
            Entry(str(len(places)), float(len(places))),
            Entry(str(sum(trials for _, trials in places)), float(sum(trials for _, trials in places))),
        ]
        for raw_id, places in sorted(found.items())
    ]
    columns = [Column("Raw model id"), Column("Providers"), Column("Harnesses")]
    columns += [Column("Cells", "number"), Column("Trials", "number")]
    return table("Raw model ids", columns, rows, sortable=False)


def _other_names(world: World, model: str, path: str) -> list[tuple[str, str, str]]:
    """Other names of this model: name, address, and why it is taken for the same."""
    return [
        (
            other,
            links.relative(path, links.model_page(other, world.prefix)),
            world.aliases.reason(model, other),
        )
        for other in world.aliases.others(model, world.models)
    ]


def _by_score(cells: tuple[Cell, ...]) -> list[Cell]:
    def order(cell: Cell) -> tuple[float, tuple[str, ...]]:
        """The best score first, cells without one last."""
        score = cell.figures["mean_score"].amount
        return (-score if score is not None else 1.0, cell.key)

    return sorted(cells, key=order)
