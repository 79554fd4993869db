"""Trial: one attempt that Harnessmark ran itself: what was asked, what happened, and what was made."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.cell import cell_title
from generators.pages.dollar_entries import trial_cost
from generators.pages.harness_skill import crumbs
from generators.pages.judgement_tables import judgement_table, said_by, seen_table
from generators.pages.money_flag import flag_of
from generators.pages.rendering import Crumb, Page
from generators.pages.server_figures import server_figures_table
from generators.pages.table import Entry, count_entry
from generators.pages.trial_artifacts import shown_artifacts
from generators.pages.trial_integrity import (
    correction_table,
    finding_table,
    scan_summary,
    tests_of,
    void_reasons,
)
from generators.pages.trial_tables import (
    Check,
    artifact_table,
    check_table,
    checks_of,
    cost_table,
    invocation_table,
    model_usage_table,
    server_table,
    usage_table,
    warning_rows,
)
from generators.pages.world import World
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from generators.tables.scoring import ScoreState
from runner.costs.derivation import Step, derivation
from runner.datasets import Task
from runner.records import TrialRecord
from runner.store.layout import trial_folder

Facts = list[tuple[str, Entry]]
ISOLATION_WORDS = {
    "none": ("none", "the agent ran as an ordinary process with the rights of its user"),
    "sandbox": ("sandbox", "the agent ran in a sandbox of the operating system"),
    "container": ("container", "the agent ran in a container"),
}


def pages(world: World) -> Iterator[Page]:
    """One page for each trial with a record of its own: imported trials carry figures only and have none."""
    for cell in world.cells:
        own = [trial for trial in cell.trials if trial.own_run]
        own.sort(key=lambda trial: (trial.task, trial.record.identity.trial))
        for place, trial in enumerate(own):
            before = own[place - 1] if place else None
            after = own[place + 1] if place + 1 < len(own) else None
            yield _page(world, cell, trial, before, after)


def _page(
    world: World, cell: Cell, trial: TrialFacts, before: TrialFacts | None, after: TrialFacts | None
) -> Page:
    path = world.trial_page(trial)
    identity = cell.identity
    artifacts = shown_artifacts(trial, path, world.prefix)
    task = world.task(identity.dataset, trial.task)
    checks = checks_of(trial)
    return Page(
        path=path,
        title=f"{trial.task}, trial {trial.record.identity.trial}",
        template="trial.md.j2",
        description=f"One trial of {cell_title(cell)}: invocations, checks, notes and patch.",
        context={
            "headline": _headline(trial),
            "money_flag": flag_of(world, trial, path),
            "reason": trial.record.outcome_reason,
            "standing": _standing(trial),
            "gist": (task.gist or "") if task else "",
            "asked": _asked(world, cell, trial, task, path),
            "conditions": _conditions(trial.record),
            "invocations": invocation_table(trial.record),
            "commands": [(each.number, " ".join(each.command)) for each in trial.record.invocations],
            "usage": usage_table(trial),
            "by_model": model_usage_table(trial.record),
            "server": server_table(trial.record),
            "server_figures": server_figures_table(trial.record),
            "turns_definition": trial.record.turns_definition or "",
            "derived": _derived(world, trial),
            "costs": cost_table(trial),
            "checks": check_table(checks) if checks else None,
            "outputs": [part for check in checks for part in _printed(check)],
            "void": void_reasons(trial),
            "scan": scan_summary(trial),
            "findings": finding_table(trial),
            "corrections": correction_table(trial),
            "judgements": judgement_table(world, trial, path),
            "seen": seen_table(trial.stored.judgements),
            "said": said_by(trial.stored.judgements),
            "artifacts": artifact_table(artifacts) if artifacts else None,
            "shown": [artifact for artifact in artifacts if artifact.html is not None],
            "warnings": warning_rows(trial, path),
            "record_folder": f"results/{world.prefix}{trial_folder(trial.record.identity).as_posix()}/",
            "neighbours": [
                (word, _name(other), links.relative(path, world.trial_page(other)))
                for word, other in (("Previous trial", before), ("Next trial", after))
                if other is not None
            ],
        },
        crumbs=crumbs(
            world,
            Crumb(identity.harness, links.harness_page(identity.harness, world.prefix)),
            Crumb(
                f"with {identity.skill}",
                links.harness_skill_page(identity.harness, identity.skill, world.prefix),
            ),
            Crumb(f"{identity.model.slug} on {identity.dataset}", world.cell_page(cell)),
        ),
        in_search=False,
        demonstration=world.demonstration,
        assets=tuple(artifact.asset for artifact in artifacts if artifact.asset is not None),
    )


def _headline(trial: TrialFacts) -> list[tuple[str, str, str]]:
    """Outcome, verdict, cost, time and turns: name, value, what it rests on."""
    record = trial.record
    tiles = [("Outcome", words.outcome(record.outcome), "how the run ended; it says nothing about quality")]
    if trial.checks_graded is not None:
        verdict = {True: "resolved", False: "not resolved", None: "not known"}[trial.resolved]
        told = "" if trial.checks_tell else "; no hidden tests tell whether the problem is solved"
        tiles.append(("Checks", verdict, f"{trial.checks_passed} of {trial.checks_graded} passed{told}"))
    if trial.score is not None:
        tiles.append(("Judge's score", f"{trial.score:.1f}", "of 100 points"))
    cost = trial_cost(trial)
    tiles.append(("Cost", cost.text, cost.note))
    seconds = record.duration_seconds
    tiles.append(("Time", "not known" if seconds is None else words.duration(seconds), "wall clock"))
    tiles.append(("Turns", "not known" if record.turns is None else f"{record.turns:,}", "all invocations"))
    return tiles


def _derived(world: World, trial: TrialFacts) -> list[Step]:
    """The way from tokens and prices to the cost; nothing for a trial that is free by design."""
    if trial.free_by_design:
        return []
    steps = derivation(trial.record, world.pricing)
    return [step for step in steps if step.title in {"tokens", "headline"} or step.title.startswith("way")]


def _standing(trial: TrialFacts) -> str:
    """Why the trial is in no figure; empty for one that counts."""
    if trial.state is not ScoreState.EXCLUDED:
        return ""
    return f"This trial is in no figure of its cell: {trial.state_reason}."


def _asked(world: World, cell: Cell, trial: TrialFacts, task: Task | None, path: str) -> Facts:
    identity, fingerprint = cell.identity, trial.record.fingerprint
    here = links.relative(path, links.task_page(identity.dataset, trial.task, world.prefix))
    model = links.relative(path, links.model_page(identity.model.slug, world.prefix))
    return [
        ("Task", Entry(trial.task, href=here)),
        ("Tier", Entry(trial.complexity or "not stated", unknown=trial.complexity is None)),
        ("Model", Entry(identity.model.slug, href=model)),
        ("Raw model id", Entry(trial.record.identity.cell.model.raw_id, code=True)),
        ("Provider", Entry(identity.provider)),
        ("Dataset version", _text(fingerprint.dataset_version)),
        ("Skill version", _text(fingerprint.skill_version)),
        ("Harness version", _text(fingerprint.harness_version)),
        ("Dataset digest", _digest(fingerprint.dataset_digest)),
        ("Task digest", _digest(fingerprint.task_digest, _digest_note(fingerprint.task_digest, task))),
        ("Skill digest", _digest(fingerprint.skill_digest)),
        ("Commit the patch applies to", _digest(trial.record.base_commit)),
    ]


def _conditions(record: TrialRecord) -> Facts:
    isolation = ISOLATION_WORDS.get(record.isolation or "")
    limits = record.limits
    return [
        ("Started", _text(words.moment(record.started_at) if record.started_at else None)),
        ("Isolation", Entry(isolation[0], note=isolation[1]) if isolation else _text(None)),
        ("Plan", Entry(record.plan_id, code=True)),
        (
            "Place in the plan",
            Entry(f"{record.position + 1:,}", note="trials of all cells are mixed in a seeded order")
            if record.position is not None
            else _text(None),
        ),
        ("Turn limit", count_entry(limits.max_turns, "no limit")),
        ("Token limit", count_entry(limits.max_tokens, "no limit")),
        ("Limit of tokens in one answer", count_entry(limits.max_output_tokens, "no limit")),
        (
            "Cost limit",
            Entry(words.dollars(limits.max_cost_usd))
            if limits.max_cost_usd is not None
            else Entry("no limit", unknown=True),
        ),
        (
            "Time limit",
            Entry(words.duration(limits.timeout_seconds))
            if limits.timeout_seconds is not None
            else Entry("no limit", unknown=True),
        ),
        ("Context window", count_entry(record.serving.context_window)),
    ]


def _digest_note(recorded: str | None, task: Task | None) -> str:
    if recorded is None or task is None:
        return ""
    return "as the dataset file has it today" if recorded == task.digest() else "the dataset file has changed"


def _printed(check: Check) -> Iterator[tuple[str, str]]:
    """What a check printed and the names of its tests, each under its title."""
    name = f"{check.name}{f', run {check.number}' if check.number > 1 else ''}"
    if (tests := tests_of(check)) is not None:
        yield f"Tests of {name}: {tests[0]}", tests[1]
    if check.output_tail:
        yield f"Output of {name}", check.output_tail


def _name(trial: TrialFacts) -> str:
    return f"{trial.task}, trial {trial.record.identity.trial}"


def _text(text: str | None) -> Entry:
    return Entry(text) if text else Entry("not recorded", unknown=True)


def _digest(text: str | None, note: str = "") -> Entry:
    return Entry(text, code=True, note=note) if text else Entry("not recorded", unknown=True)
