"""Cell tables: figures, tasks, parts of the score, warnings and sources of one cell."""

from __future__ import annotations

from functools import partial

from generators.pages import links, words
from generators.pages.charting import artifact_name, criterion_name
from generators.pages.dated_text import as_recorded, found_entry, of_task
from generators.pages.dollar_entries import trial_cost
from generators.pages.interval_words import sureness
from generators.pages.money_flag import flagged
from generators.pages.table import (
    Column,
    Entry,
    Table,
    count_entry,
    link_entry,
    number_entry,
    table,
    value_entry,
)
from generators.pages.world import World
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from generators.tables.figures import FIGURES
from generators.tables.profiles import (
    CRITERION_MAXIMUM,
    artifact_means,
    criterion_mean,
    criterion_means,
    has_parts,
    tier_means,
)
from generators.tables.sample import Unit
from generators.tables.scoring import ScoreState
from runner.records import CRITERIA


def figure_table(cell: Cell) -> Table:
    """Every figure with its value, n of m, and formula."""
    rows = []
    for figure in FIGURES:
        value = cell.figures[figure.name]
        if value.amount is None:
            missing = words.NOT_PRICED if figure.unit is Unit.DOLLARS else "not known"
            amount = Entry(missing, None, note=value.reason, unknown=True)
        else:
            rests_on = words.priced(value.priced) if figure.unit is Unit.DOLLARS else ""
            below = "; ".join(part for part in (sureness(value, figure.unit), rests_on) if part)
            amount = Entry(words.amount(value.amount, figure.unit), value.amount, note=below)
        count = Entry(words.n_of_m(value), float(value.n))
        rows.append([Entry(figure.title), amount, count, Entry(figure.formula, code=True)])
    columns = [Column("Figure"), Column("Value", "number"), Column("n of m", "number")]
    columns.append(Column("Formula", wide=True))
    return table("All figures of this cell", columns, rows, sortable=False)


def task_table(world: World, cell: Cell, page: str) -> Table:
    """One row for each recorded trial that counts."""
    here = partial(links.relative, page)
    checks = cell.has_checks
    several = any(len(trials) > 1 or trials[0].own_run for trials in cell.by_task.values())
    columns = [Column("Task"), *([Column("Trial", "number")] if several else []), Column("Tier")]
    columns += [Column("State"), *([Column("Score", "number")] if cell.has_scores else [])]
    columns += [Column("Checks passed", "number")] if checks else []
    columns += [Column("Cost", "number"), Column("Minutes", "number"), Column("Turns", "number")]
    columns += [
        Column("Tokens processed", "number"),
        Column("Artifacts", "number"),
        Column("Outcome", wide=True),
    ]
    rows = []
    for trial in sorted(cell.counted, key=lambda trial: (-(trial.score or -1.0), trial.task)):
        record = trial.record
        row = [link_entry(trial.task, here(links.task_page(cell.identity.dataset, trial.task, world.prefix)))]
        if several:
            row.append(trial_entry(world, trial, page))
        row.append(Entry(trial.complexity or "unknown", unknown=trial.complexity is None))
        row.append(state_entry(trial))
        if cell.has_scores:
            row.append(number_entry(trial.score, Unit.POINTS, "no score"))
        if checks:
            row.append(checks_entry(trial))
        row.append(flagged(world, trial_cost(trial), trial, page))
        row.append(number_entry(trial.minutes, Unit.MINUTES))
        row.append(count_entry(record.turns))
        row.append(number_entry(None if trial.tokens is None else float(trial.tokens), Unit.TOKENS))
        row.append(_artifacts(trial))
        row.append(Entry(words.outcome(record.outcome), note=_short(record.outcome_reason)))
        rows.append(row)
    return table("Tasks of this cell", columns, rows)


def trial_entry(world: World, trial: TrialFacts, page: str) -> Entry:
    """The number of a trial; where it has a page of its own, the way there."""
    number = trial.record.identity.trial
    if not trial.own_run:
        return Entry(str(number), float(number))
    return Entry(f"trial {number}", float(number), links.relative(page, world.trial_page(trial)))


def state_entry(trial: TrialFacts) -> Entry:
    """The state of a trial; for one that only checks graded, whether it was resolved."""
    if trial.judgement is None and trial.resolved is not None:
        return Entry("resolved" if trial.resolved else "not resolved")
    return Entry(words.STATE_WORDS[trial.state])


def checks_entry(trial: TrialFacts) -> Entry:
    """Checks passed of those graded."""
    if trial.checks_graded is None or trial.checks_passed is None:
        return Entry("not graded", None, unknown=True)
    return Entry(f"{trial.checks_passed} of {trial.checks_graded}", float(trial.checks_passed))


def tier_table(cell: Cell) -> Table | None:
    """Mean score per complexity tier; None with fewer than two tiers or without scores."""
    means = tier_means(cell)
    if len(means) < 2 or not cell.has_scores:
        return None
    rows = [[Entry(tier), value_entry(value, Unit.POINTS)] for tier, value in means.items()]
    return table("Mean score by complexity", [Column("Tier"), Column("Mean score", "number")], rows)


def artifact_table(cell: Cell) -> Table | None:
    """Mean of each criterion for each artifact, and the artifact's mean total; None where not published."""
    if not has_parts(cell):
        return None
    columns = [Column("Artifact"), *(Column(criterion_name(name), "number") for name in CRITERIA)]
    columns.append(Column("Total", "number"))
    rows = []
    for artifact, total in artifact_means(cell).items():
        row = [Entry(artifact_name(artifact))]
        for criterion in CRITERIA:
            row.append(value_entry(criterion_mean(cell, artifact, criterion), Unit.POINTS, count_below=True))
        rows.append([*row, value_entry(total, Unit.POINTS)])
    means = criterion_means(cell)
    overall = [Entry("All, percent of the maximum")]
    overall += [value_entry(means[name], Unit.PERCENT, count_below=True) for name in CRITERIA]
    overall.append(value_entry(cell.figures["mean_score"], Unit.POINTS))
    label = f"Mean scores by artifact and criterion, criteria of {CRITERION_MAXIMUM} points"
    return table(label, columns, [*rows, overall], sortable=False)


def warning_table(world: World, cell: Cell, page: str) -> Table | None:
    """Every warning of the cell in words; None when there is none."""
    rows = []
    for warning, task in cell.warnings():
        where = (
            Entry("whole cell")
            if task is None
            else link_entry(
                task, links.relative(page, links.task_page(cell.identity.dataset, task, world.prefix))
            )
        )
        code = Entry(warning.code, href=links.relative(page, links.QUALITY, warning.code))
        rows.append([code, where, found_entry(warning.text, of_task(cell, task))])
    for warning, trial in cell.warnings_left_out():
        code = Entry(warning.code, href=links.relative(page, links.QUALITY, warning.code))
        where = Entry(f"{trial.task}, trial {trial.record.identity.trial}: left out of every figure")
        rows.append([code, where, found_entry(warning.text, as_recorded(trial))])
    if not rows:
        return None
    return table(
        "Data-quality warnings",
        [Column("Warning"), Column("Where", wide=True), Column("What was found", wide=True)],
        rows,
    )


def left_out(world: World, cell: Cell, page: str) -> Table | None:
    """Trials that enter no figure or have no score, and planned trials without a record; None when none."""
    rows = []
    for trial in (*cell.excluded, *cell.counted):
        if trial.state is ScoreState.SCORED or (trial.resolved is not None and not cell.has_scores):
            continue
        href = links.relative(page, links.task_page(cell.identity.dataset, trial.task, world.prefix))
        rows.append(
            [
                link_entry(trial.task, href),
                trial_entry(world, trial, page),
                Entry(words.STATE_WORDS[trial.state]),
                Entry(trial.state_reason),
                flagged(world, trial_cost(trial), trial, page),
            ]
        )
    for task, number in cell.missing:
        why = Entry("planned, but there is no record of it")
        rows.append([Entry(task), Entry(str(number), float(number)), Entry("missing"), why, Entry("unknown")])
    if not rows:
        return None
    columns = [Column("Task"), Column("Trial", "number"), Column("State"), Column("Why", wide=True)]
    return table("Trials that are not in the mean score", [*columns, Column("Cost", "number")], rows)


def source_table(cell: Cell) -> Table | None:
    """Where imported figures were read, one row for each source; None for own runs."""
    found: dict[tuple[str, str, str, str], int] = {}
    for trial in cell.trials:
        source = trial.record.source
        if source is not None:
            key = (source.repository, source.commit, source.path, source.license)
            found[key] = found.get(key, 0) + 1
    if not found:
        return None
    rows = []
    for (repository, commit, path, licence), amount in sorted(found.items()):
        address = f"https://github.com/{repository}" if "://" not in repository else repository
        rows.append(
            [
                link_entry(repository, address),
                link_entry(commit[:12], f"{address}/commit/{commit}"),
                link_entry(path, f"{address}/blob/{commit}/{path}"),
                Entry(licence),
                Entry(str(amount), float(amount)),
            ]
        )
    columns = [
        Column("Repository"),
        Column("Commit"),
        Column("File", wide=True),
        Column("Licence"),
        Column("Trials", "number"),
    ]
    return table("Sources of the imported figures", columns, rows)


def _artifacts(trial: TrialFacts) -> Entry:
    produced, expected = trial.record.artifacts_produced, trial.record.artifacts_expected
    if produced is None or expected is None:
        return Entry("not reported", None, unknown=True)
    return Entry(f"{produced} of {expected}", float(produced))


def _short(reason: str) -> str:
    return reason if len(reason) <= 160 else reason[:159] + "…"
