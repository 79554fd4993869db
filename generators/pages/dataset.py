"""Dataset: what is asked, of which repositories, and every cell that answered; and the index of datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from generators.pages import links
from generators.pages.board_tables import cells_table
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table, value_entry
from generators.pages.world import World
from generators.tables.boards import build_boards, task_means
from generators.tables.facts import TrialFacts
from generators.tables.sample import Sample, Unit, Value
from generators.tables.scores import mean_score
from generators.tables.spread import Kind, Spread
from runner.datasets import Dataset


def pages(world: World) -> Iterator[Page]:
    """The index of datasets and one page for each."""
    if not world.demonstration:
        yield _index(world)
    for name in world.dataset_names:
        yield _page(world, name)


def task_names(world: World, dataset: str) -> list[str]:
    """Tasks of a dataset: as described, then those that only results know."""
    described = world.datasets.get(dataset)
    names = [task.id for task in described.tasks] if described else []
    seen = {trial.task for cell in world.select(dataset=dataset) for trial in cell.trials}
    seen |= {task for cell in world.select(dataset=dataset) for task, _ in cell.missing}
    return names + sorted(seen - set(names))


def _index(world: World) -> Page:
    rows = []
    for name in world.dataset_names:
        described = world.datasets.get(name)
        cells = world.select(dataset=name)
        title = described.title if described else "known from results only"
        tasks = len(task_names(world, name))
        rows.append(
            [
                link_entry(name, links.relative(links.DATASETS, links.dataset_page(name)), title),
                Entry(str(tasks), float(tasks)),
                Entry(str(len(cells)), float(len(cells))),
                Entry(described.version if described else "unknown", unknown=described is None),
            ]
        )
    columns = [Column("Dataset"), Column("Tasks", "number"), Column("Cells", "number"), Column("Version")]
    return Page(
        path=links.DATASETS,
        title="Datasets",
        template="index.md.j2",
        description="The task sets that trials are drawn from.",
        context={
            "lead": "A dataset is a list of tasks: a repository at a pinned point and a problem. Figures of "
            "different datasets, or of different versions of one, are never mixed.",
            "table": table("Datasets", columns, rows),
            "after": (
                link_entry(
                    "Measure your own repository", links.relative(links.DATASETS, links.OWN_REPOSITORY)
                ),
            ),
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _page(world: World, name: str) -> Page:
    path = links.dataset_page(name, world.prefix)
    described = world.datasets.get(name)
    cells = world.select(dataset=name)
    sections = []
    for skill in world.skills:
        members = [cell for cell in cells if cell.identity.skill == skill]
        for board in build_boards(members):
            shown = (*board.by_score, *(cell for cell, _ in board.set_apart))
            data = cells_table(world, shown, path, label_text=f"{skill} on {name}", harness=True)
            href = links.relative(path, links.skill_page(skill, world.prefix))
            frontier = links.relative(path, links.frontier_page(skill, name, world.prefix))
            sections.append((skill, href, frontier, data))
    home = (Crumb("Home", links.HOME),)
    return Page(
        path=path,
        title=name,
        template="dataset.md.j2",
        description=described.title if described else f"Tasks and results of the dataset {name}.",
        context={
            "title": described.title if described else "",
            "description": described.description if described else "",
            "facts": _facts(world, name, described),
            "tasks": _tasks(world, name, path),
            "sections": sections,
        },
        crumbs=(*home, Crumb("Demonstration", links.DEMONSTRATION + links.HOME))
        if world.demonstration
        else (*home, Crumb("Datasets", links.DATASETS)),
        in_search=not world.demonstration,
        demonstration=world.demonstration,
    )


def _facts(world: World, name: str, described: Dataset | None) -> list[tuple[str, Entry]]:
    if described is None:
        reason = "no dataset file of this name is here; everything below comes from the results"
        return [("Description", Entry("not known", note=reason, unknown=True))]
    digest = described.digest()
    recorded = Counter(
        trial.record.fingerprint.dataset_digest
        for cell in world.select(dataset=name)
        for trial in cell.trials
    )
    same, none = recorded.get(digest, 0), recorded.get(None, 0)
    other = sum(recorded.values()) - same - none
    tiers = ", ".join(f"{level} {count}" for level, count in described.tasks_per_complexity().items())
    return [
        ("Version", Entry(described.version)),
        ("Licence", Entry(described.license or "not stated", unknown=described.license is None)),
        ("Tasks by complexity", Entry(tiers)),
        ("Digest of this version", Entry(digest, code=True)),
        ("Trials made from this version", Entry(f"{same:,}")),
        ("Trials made from another version", Entry(f"{other:,}")),
        ("Trials that do not record the version", Entry(f"{none:,}")),
    ]


def _difficulty(world: World, dataset: str, task: str, trials: tuple[TrialFacts, ...]) -> Value:
    """Mean score of a task over all cells; what varies here is the cell, so the interval is over cells."""
    value = mean_score(Sample(trials, len(trials)))
    by_cell = [
        mean
        for cell in world.select(dataset=dataset)
        if (mean := task_means(cell, "score").get(task)) is not None
    ]
    return replace(value, spread=Spread(tuple(by_cell), Kind.SCORE, unit="cell")) if by_cell else value


def _tasks(world: World, name: str, page: str) -> Table:
    described = world.datasets.get(name)
    known = {task.id: task for task in described.tasks} if described else {}
    rows = []
    for task_id in task_names(world, name):
        task = known.get(task_id)
        trials = tuple(
            trial for cell in world.select(dataset=name) for trial in cell.counted if trial.task == task_id
        )
        tier = task.complexity if task else next((t.complexity for t in trials if t.complexity), None)
        value = _difficulty(world, name, task_id, trials)
        rows.append(
            [
                link_entry(
                    task_id,
                    links.relative(page, links.task_page(name, task_id, world.prefix)),
                    (task.gist or "") if task else "",
                ),
                Entry(tier or "unknown", unknown=tier is None),
                Entry(f"{task.repository_name} at {task.ref}" if task else "unknown", unknown=task is None),
                value_entry(value, Unit.POINTS) if trials else Entry("no trials", None, unknown=True),
            ]
        )
    columns = [Column("Task"), Column("Tier"), Column("Repository")]
    columns.append(
        Column(
            "Mean score",
            "number",
            "Over all scored trials of every cell, with its interval over cells: how hard the task was, "
            "not who is good",
        )
    )
    return table(f"Tasks of {name}", columns, rows)
