"""Task: what one task asks, and what every cell made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generators.pages import links, words
from generators.pages.cell_tables import checks_entry, state_entry, trial_entry
from generators.pages.charting import label
from generators.pages.dataset import task_names
from generators.pages.dollar_entries import trial_cost
from generators.pages.money_flag import flagged
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, number_entry, table
from generators.pages.world import World
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from generators.tables.sample import Unit
from runner.datasets import Task


def pages(world: World) -> Iterator[Page]:
    """One page for each task of every dataset that is described or has results."""
    for dataset in world.dataset_names:
        names = task_names(world, dataset)
        for place, name in enumerate(names):
            before = names[place - 1] if place else None
            after = names[place + 1] if place + 1 < len(names) else None
            yield _page(world, dataset, name, before, after)


def _page(world: World, dataset: str, name: str, before: str | None, after: str | None) -> Page:
    path = links.task_page(dataset, name, world.prefix)
    task = world.task(dataset, name)
    trials = [
        (cell, trial) for cell in world.select(dataset=dataset) for trial in cell.trials if trial.task == name
    ]
    sections = [
        (skill, _table(world, members, path, f"{name} with {skill}"))
        for skill in world.skills
        if (members := [pair for pair in trials if pair[0].identity.skill == skill])
    ]
    home = (Crumb("Home", links.HOME),)
    middle = (
        (Crumb("Demonstration", links.DEMONSTRATION + links.HOME),)
        if world.demonstration
        else (Crumb("Datasets", links.DATASETS),)
    )
    return Page(
        path=path,
        title=name,
        template="task.md.j2",
        description=(task.gist if task else None) or f"Every result on the task {name}.",
        context={
            "gist": (task.gist or "") if task else "",
            "statement": (task.problem_statement or "") if task else "",
            "facts": _facts(task, trials),
            "sections": sections,
            "neighbours": [
                (word, other, links.relative(path, links.task_page(dataset, other, world.prefix)))
                for word, other in (("Previous task", before), ("Next task", after))
                if other is not None
            ],
        },
        crumbs=(*home, *middle, Crumb(dataset, links.dataset_page(dataset, world.prefix))),
        in_search=False,
        demonstration=world.demonstration,
    )


def _facts(task: Task | None, trials: Sequence[tuple[Cell, TrialFacts]]) -> list[tuple[str, Entry]]:
    if task is None:
        tiers = sorted({trial.complexity for _, trial in trials if trial.complexity})
        reason = "no dataset file describes it; everything here comes from the results"
        return [
            ("Description", Entry("not known", note=reason, unknown=True)),
            ("Tier", Entry(words.listing(tiers) or "unknown", unknown=not tiers)),
        ]
    web = task.repo.startswith("https://")
    facts = [
        ("Tier", Entry(task.complexity or "not stated", unknown=task.complexity is None)),
        ("Repository", Entry(task.repo, href=task.repo if web else "")),
        ("Pinned at", Entry(task.ref, code=True)),
        ("Tags", Entry(words.listing(list(task.tags), 20) or "none")),
    ]
    if task.problem_issue_url:
        facts.append(("Problem", Entry(task.problem_issue_url, href=task.problem_issue_url)))
    public = task.public_since
    facts.append(("Public since", Entry(str(public) if public else "not recorded", unknown=public is None)))
    hidden = [check.name for check in task.checks if check.purpose == "hidden"]
    other = [f"{check.name} ({check.purpose})" for check in task.checks if check.purpose != "hidden"]
    facts.append(("Hidden checks", Entry(words.listing(hidden) or "none")))
    facts.append(("Other checks", Entry(words.listing(other) or "none")))
    facts.append(("Digest", Entry(task.digest(), code=True)))
    return facts


def _table(world: World, trials: Sequence[tuple[Cell, TrialFacts]], page: str, title: str) -> Table:
    checks = any(trial.checks_graded for _, trial in trials)
    columns = [Column("Model"), Column("Harness"), Column("Trial", "number"), Column("State")]
    scores = any(trial.score is not None for _, trial in trials) or not checks
    columns += [Column("Score", "number")] if scores else []
    columns += [Column("Checks passed", "number")] if checks else []
    columns += [Column("Cost", "number"), Column("Minutes", "number"), Column("Tokens processed", "number")]
    columns += [Column("Outcome", wide=True)]
    rows = []
    for cell, trial in sorted(trials, key=lambda pair: (-(pair[1].score or -1.0), pair[0].key)):
        row = [
            link_entry(
                label(cell),
                links.relative(page, world.cell_page(cell)),
                cell.identity.provider,
            ),
            Entry(cell.identity.harness),
            trial_entry(world, trial, page),
            state_entry(trial),
        ]
        if scores:
            row.append(number_entry(trial.score, Unit.POINTS, "no score"))
        if checks:
            row.append(checks_entry(trial))
        row += [flagged(world, trial_cost(trial), trial, page), number_entry(trial.minutes, Unit.MINUTES)]
        row.append(number_entry(None if trial.tokens is None else float(trial.tokens), Unit.TOKENS))
        row.append(Entry(words.outcome(trial.record.outcome)))
        rows.append(row)
    return table(title, columns, rows)
