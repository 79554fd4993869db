"""About a run: how a trial goes from plan to record, with what the records hold at each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, table
from generators.pages.world import World
from generators.tables.scoring import ScoreState
from runner.records import RULES, CheckStatus, Outcome, Standing

OUTCOME_MEANING = {
    Outcome.COMPLETED: "All artifacts of the skill are there and the agent ended in order.",
    Outcome.INCOMPLETE: "The agent ended by itself but left artifacts out.",
    Outcome.MODEL_ERROR: "The model or its endpoint answered with an error that ended the run.",
    Outcome.TIMEOUT: "A wall-clock limit stopped the agent.",
    Outcome.BUDGET: "A limit on turns, tokens or money stopped the agent.",
    Outcome.INFRASTRUCTURE: "Our side failed: checkout, process or disk. It says nothing about the cell.",
    Outcome.CHEATING: "Found later: the agent used what it must not use.",
    Outcome.CANCELLED: "Stopped by the user before it ended.",
}
STANDING_MEANING = {
    Standing.COUNTED: "Enters the figures of its cell.",
    Standing.SUPERSEDED: "Replaced by a later trial, for a recorded reason; named on the page, in no figure.",
    Standing.PROBE: "Run to try something out; named on the page, in no figure.",
}
STATE_MEANING = {
    ScoreState.SCORED: "A judge gave it a valid score. It enters the mean.",
    ScoreState.FAILED: "Artifacts were missing, so there was nothing to judge. Named beside the mean; "
    "zero where failures count as zero.",
    ScoreState.UNSCORED: "Never judged, or judged without a valid answer. Its score is unknown, not zero.",
    ScoreState.EXCLUDED: "Superseded, a probe, or made from another version of the dataset. In no figure.",
}
CHECK_MEANING = {
    CheckStatus.PASSED: "The command ended with success.",
    CheckStatus.FAILED: "The command ended with a failure.",
    CheckStatus.TIMEOUT: "The command ran into its time limit; counts as not passed.",
    CheckStatus.NOT_RUN: "Something it builds on failed first; counts as not passed.",
    CheckStatus.ERROR: "Our side failed; the check grades nothing.",
}


def pages(world: World, demonstration: World | None) -> Iterator[Page]:
    """The page about a run; real results only, counting the demonstration's trials apart."""
    if world.demonstration:
        return
    yield Page(
        path=links.ABOUT,
        title="About a run",
        template="about_run.md.j2",
        description="How a trial goes from plan to record, and what each word on these pages means.",
        context={
            "outcomes": _outcomes(world, demonstration),
            "standings": _standings(world),
            "states": _states(world),
            "checks": _meanings("Check results", "Result", {k.value: v for k, v in CHECK_MEANING.items()}),
            "integrity": _meanings("Integrity rules", "Rule", dict(RULES)),
            "plans": len(world.plans),
            "trials": world.trial_count,
            "demonstration_href": links.relative(links.ABOUT, links.DEMONSTRATION + links.HOME)
            if demonstration is not None
            else "",
            "links": links,
            "judges": bool(world.judge_cards),
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _outcomes(world: World, demonstration: World | None) -> Table:
    real = Counter(trial.record.outcome for cell in world.cells for trial in cell.trials)
    shown = Counter(
        trial.record.outcome
        for cell in (demonstration.cells if demonstration else ())
        for trial in cell.trials
    )
    rows = [
        [
            Entry(outcome.value, code=True),
            Entry(OUTCOME_MEANING[outcome]),
            Entry(f"{real[outcome]:,}", float(real[outcome])),
            *([Entry(f"{shown[outcome]:,}", float(shown[outcome]))] if demonstration else []),
        ]
        for outcome in Outcome
    ]
    columns = [Column("Outcome", wide=True), Column("Meaning", wide=True), Column("Trials", "number")]
    columns += [Column("In the demonstration", "number")] if demonstration else []
    return table("Outcomes", columns, rows, sortable=False)


def _standings(world: World) -> Table:
    counts = Counter(trial.record.standing for cell in world.cells for trial in cell.trials)
    rows = [
        [
            Entry(kind.value, code=True),
            Entry(STANDING_MEANING[kind]),
            Entry(f"{counts[kind]:,}", float(counts[kind])),
        ]
        for kind in Standing
    ]
    return table(
        "Standing",
        [Column("Standing"), Column("Meaning", wide=True), Column("Trials", "number")],
        rows,
        sortable=False,
    )


def _states(world: World) -> Table:
    counts = Counter(trial.state for cell in world.cells for trial in cell.trials)
    rows = [
        [
            Entry(words.STATE_WORDS[kind]),
            Entry(STATE_MEANING[kind]),
            Entry(f"{counts[kind]:,}", float(counts[kind])),
        ]
        for kind in ScoreState
    ]
    return table(
        "States",
        [Column("State"), Column("Meaning", wide=True), Column("Trials", "number")],
        rows,
        sortable=False,
    )


def _meanings(title: str, head: str, meanings: dict[str, str]) -> Table:
    rows = [[Entry(name, code=True), Entry(meaning)] for name, meaning in meanings.items()]
    return table(title, [Column(head), Column("Meaning", wide=True)], rows, sortable=False)
