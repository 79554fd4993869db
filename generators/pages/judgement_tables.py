"""Judgement tables: who scored a trial, what it saw and read, what it said, and what that took."""

from __future__ import annotations

from collections.abc import Sequence

from generators.pages import links, words
from generators.pages.dollar_entries import cost_entry
from generators.pages.judge import judge_page
from generators.pages.table import Column, Entry, Table, count_entry, link_entry, number_entry, table
from generators.pages.world import World
from generators.tables.facts import TrialFacts
from generators.tables.judging_cost import judging_cost
from generators.tables.sample import Unit
from generators.tables.yardstick import Yardstick, admitted
from runner.costs.tokens import tokens_processed
from runner.records import JudgementRecord


def judgement_table(world: World, trial: TrialFacts, page: str) -> Table | None:
    """One row for each judgement, those that count marked; None where nothing was judged."""
    judgements = trial.stored.judgements
    if not judgements:
        return None
    carded = admitted(trial.stored)
    rows = []
    for each in judgements:
        href = links.relative(page, judge_page(Yardstick.of(each), world.prefix)) if each in carded else ""
        rows.append(
            [
                link_entry(f"{each.judge.name}, {each.number}", href, each.judge.model or ""),
                Entry(each.rubric),
                Entry(words.judgement_status(each.status), note=each.invalid_reason or ""),
                number_entry(each.task_score, Unit.POINTS, "no score"),
                *_effort(each),
                _grounding(each),
                Entry(words.moment(each.judged_at))
                if each.judged_at
                else Entry("not recorded", unknown=True),
            ]
        )
    columns = [
        Column("Judge"),
        Column("Rubric"),
        Column("Status", wide=True),
        Column("Score", "number"),
        Column("Answers", "number", "how often it was asked"),
        Column("Tokens", "number"),
        Column("Cost", "number"),
        Column("Seconds", "number"),
        Column("Read the repository"),
        Column("When"),
    ]
    marked = [each in trial.judgements for each in judgements]
    return table("Judgements of this trial", columns, rows, sortable=False, marked=marked)


def said_by(judgements: Sequence[JudgementRecord]) -> list[tuple[str, list[tuple[str, str]]]]:
    """For each judgement with words of its judge: a title, and what it said, by artifact."""
    found = []
    for each in judgements:
        said = [(name, note) for name, note in each.notes.items() if note]
        said += [("verdict", each.verdict)] if each.verdict else []
        if said:
            found.append((f"What {each.judge.name} said, judgement {each.number}", said))
    return found


def seen_table(judgements: Sequence[JudgementRecord]) -> Table | None:
    """What was put before each judge, and what was cut or taken out; None where that is not recorded."""
    rows = [
        [
            Entry(f"{each.judge.name}, {each.number}"),
            Entry(part.name),
            count_entry(part.characters),
            Entry(f"{part.cut_characters:,}", float(part.cut_characters)),
            Entry(words.listing(part.removed) or "nothing"),
            Entry(part.sha256[:16], code=True) if part.sha256 else Entry("missing", unknown=True),
        ]
        for each in judgements
        for part in each.seen
    ]
    columns = [
        Column("Judgement"),
        Column("Part"),
        Column("Characters", "number"),
        Column("Cut out", "number"),
        Column("Taken out so that the judge is blind", wide=True),
        Column("SHA-256"),
    ]
    return table("What the judges were shown", columns, rows) if rows else None


def _effort(judgement: JudgementRecord) -> list[Entry]:
    usage, cost = judgement.usage, judging_cost(judgement)
    tokens = tokens_processed(usage) if usage is not None else None
    seconds = judgement.duration_seconds
    return [
        count_entry(len(judgement.attempts) or None, "not recorded"),
        count_entry(tokens, "not known"),
        Entry("not known", None, note=_why_unpriced(judgement), unknown=True)
        if cost is None
        else cost_entry(cost),
        Entry("not recorded", None, unknown=True) if seconds is None else Entry(f"{seconds:,.1f}", seconds),
    ]


def _why_unpriced(judgement: JudgementRecord) -> str:
    return next((cost.missing_reason for cost in judgement.costs if cost.missing_reason), None) or ""


def _grounding(judgement: JudgementRecord) -> Entry:
    grounded = judgement.judge.repository_grounded
    if grounded is None:
        return Entry("not recorded", unknown=True)
    return Entry("yes" if grounded else "no", note=words.listing(judgement.files_read, 3))
