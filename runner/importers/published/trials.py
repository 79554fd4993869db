"""Trials of an imported run: one plan, and one trial with its judgement for each task row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.importers.published import judging, money, notes, plausibility
from runner.importers.published import usage as usages
from runner.importers.published.document import RunDocument, TaskRow
from runner.importers.published.identity import (
    Role,
    cell_of,
    identity_of,
    identity_warnings,
    plan_id_of,
    serving_of,
    source_of,
)
from runner.importers.published.outcome import artifacts_of, outcome_of
from runner.records import (
    CellIdentity,
    DataWarning,
    Fingerprint,
    JudgementRecord,
    PlannedTrial,
    PlanRecord,
    PublishedFigures,
    Standing,
    TrialRecord,
    Usage,
)

IMPORT_VERSION = "import-1"
"""In place of a version of Harnessmark, so that a newer one imports the same bytes."""

COST_CEILING_REASON = "imported results: nothing is spent"
TURNS_DEFINITION = "num_turns as the harness reported it to the source; not comparable between harnesses"


@dataclass(frozen=True)
class ImportedRun:
    """All records of one file."""

    plan: PlanRecord
    trials: tuple[TrialRecord, ...]
    judgements: tuple[JudgementRecord | None, ...]
    """One for each trial; None where it never was judged."""


def records_of(run: RunDocument, role: Role) -> ImportedRun:
    """The records of ``run``; the same for the same file, wherever and whenever it is read."""
    cell = cell_of(run)
    plan_id = plan_id_of(cell, role)
    source = source_of(run.source)
    counts = [usages.usage_of(run, row) for row in run.tasks]
    common = tuple(_run_warnings(run, cell, counts, role))
    trials = tuple(
        _trial(run, row, usage, cell, role, common) for row, usage in zip(run.tasks, counts, strict=True)
    )
    plan = PlanRecord(
        plan_id=plan_id,
        purpose="import",
        harnessmark_version=IMPORT_VERSION,
        trials=tuple(PlannedTrial(identity=trial.identity, fingerprint=Fingerprint()) for trial in trials),
        cost_ceiling_reason=COST_CEILING_REASON,
        source=source,
    )
    judgements = tuple(
        judging.judgement_of(run, row, trial, source) for row, trial in zip(run.tasks, trials, strict=True)
    )
    return ImportedRun(plan, trials, judgements)


def _run_warnings(
    run: RunDocument, cell: CellIdentity, counts: Sequence[Usage | None], role: Role
) -> Iterator[DataWarning]:
    yield from identity_warnings(run, cell)
    for warning in (plausibility.last_turn_only(run), usages.mixed_semantics(counts)):
        if warning is not None:
            yield warning
    if role.standing is Standing.PROBE:
        yield DataWarning(code="probe", text="The source holds no run summary of this run.")


def _trial(
    run: RunDocument,
    row: TaskRow,
    usage: Usage | None,
    cell: CellIdentity,
    role: Role,
    common: tuple[DataWarning, ...],
) -> TrialRecord:
    outcome, reason = outcome_of(row)
    turns = usages.turns_of(row)
    serving = serving_of(run)
    slug = cell.model.slug
    return TrialRecord(
        identity=identity_of(cell, row.task, role),
        fingerprint=Fingerprint(),
        plan_id=plan_id_of(cell, role),
        standing=role.standing,
        standing_reason=_reason(role, common),
        outcome=outcome,
        outcome_reason=reason,
        duration_seconds=row.latency_seconds,
        serving=serving,
        turns=turns,
        turns_definition=None if turns is None else TURNS_DEFINITION,
        usage=usage,
        costs=money.costs_of(run, row),
        artifacts=artifacts_of(row),
        artifacts_produced=row.artifacts_produced,
        artifacts_expected=row.artifacts_expected,
        warnings=(
            *common,
            *usages.usage_warnings(run, row, usage),
            *plausibility.task_warnings(row, usage, serving.context_window),
            *money.cost_warnings(run, slug, row, usage),
            *judging.judgement_warnings(run, row),
            *notes.note_warnings(run, slug, row),
        ),
        source=source_of(run.source),
        published=_published(run, row),
    )


def _reason(role: Role, common: tuple[DataWarning, ...]) -> str | None:
    """Why the trial does not count, with what is wrong with the whole run where that is known."""
    if role.reason is None:
        return None
    return " ".join((role.reason + ".", *(w.text for w in common if w.code == "last-turn-counters")))


def _published(run: RunDocument, row: TaskRow) -> PublishedFigures:
    """The row as printed, zeros and all; its artifact scores stand in the judgement."""
    kept = set(PublishedFigures.model_fields) & set(TaskRow.model_fields)
    cache = row.kv_cache_usage
    return PublishedFigures(
        **{name: getattr(row, name) for name in kept},
        task_ref=row.ref or run.dataset_ref,
        kv_cache_peak=None if cache is None else cache.peak,
        kv_cache_mean=None if cache is None else cache.mean,
        run_date=run.run_date,
    )
