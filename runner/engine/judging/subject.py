"""Subject: a stored trial as a case for judges, or why it cannot be judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.datasets import Task, all_datasets, find_dataset, load_dataset
from runner.errors import ConfigurationError, HarnessmarkError
from runner.harnesses.registry import HARNESSES, harness
from runner.judges.brief import Case
from runner.judges.rubric import Rubric, rubric_for
from runner.records import ArtifactState, Outcome, Standing, TrialRecord
from runner.store import StoredTrial, slug, wire_id

NOT_OURS = frozenset({Outcome.INFRASTRUCTURE, Outcome.CANCELLED})


@dataclass(frozen=True)
class Subject:
    """What is judged, by which rubric, and where its repository comes from."""

    stored: StoredTrial
    case: Case
    rubric: Rubric
    dataset_path: Path

    @property
    def where(self) -> str:
        """The trial, in messages."""
        return "/".join(self.stored.record.identity.key)

    @property
    def scenario(self) -> str:
        """Cassettes and task for the built-in model server."""
        identity = self.stored.record.identity
        return f"judge-{identity.cell.dataset}/{identity.task}"


class Refused(Exception):
    """A trial that is not judged; says why in one sentence."""


def subject_of(stored: StoredTrial, datasets: Path, rubric: str | None) -> Subject:
    """The trial as a case.

    Raises:
        Refused: it cannot or may not be judged.
    """
    record = stored.record
    if record.standing is not Standing.COUNTED:
        raise Refused(f"it does not count: {record.standing_reason}")
    if record.outcome in NOT_OURS:
        raise Refused(
            f"our side failed in it ({record.outcome.value}), so there is nothing of the agent's to judge"
        )
    if record.outcome is Outcome.CHEATING:
        raise Refused("it is void: it was found to have used what it must not use")
    files = _files(stored)
    path, task = _task(record, datasets)
    try:
        chosen = rubric_for(record.identity.cell.skill, rubric)
    except HarnessmarkError as error:
        raise Refused(error.what) from None
    cell = record.identity.cell
    models = {cell.model.raw_id, wire_id(cell.model.raw_id), cell.model.slug, *record_models(record)}
    agents = {cell.harness}
    if cell.harness in HARNESSES:
        agents.add(harness(cell.harness).title)
    case = Case(task, files, tuple(sorted(models)), tuple(sorted(agents)))
    return Subject(stored, case, chosen, path)


def record_models(record: TrialRecord) -> set[str]:
    """Model ids that the agent itself named."""
    return {name for invocation in record.invocations for name in invocation.usage_by_model}


def _files(stored: StoredTrial) -> dict[str, bytes]:
    """What was handed in.

    Raises:
        Refused: the store does not hold it, as with imported results.
    """
    record = stored.record
    imported = Refused(
        "it is imported and its artifacts were not published with it: there is nothing to read"
    )
    if any(artifact.state is ArtifactState.NOT_PUBLISHED for artifact in record.artifacts):
        raise imported
    files = {}
    for artifact in record.artifacts:
        data = stored.artifact(artifact.name)
        if artifact.state is ArtifactState.PRESENT and data is None:
            raise Refused(f"the store does not hold its {artifact.name}")
        if data is not None:
            files[artifact.name] = data
    if record.source is not None and not files:
        raise imported
    return files


def _task(record: TrialRecord, datasets: Path) -> tuple[Path, Task]:
    """The task as it was when the trial ran.

    Raises:
        Refused: the dataset or the task is not here, or has changed.
    """
    scope, name = record.identity.cell.dataset, record.identity.task
    for path in _candidates(scope, datasets):
        try:
            dataset = load_dataset(path)
        except ConfigurationError:
            continue
        task = next((each for each in dataset.tasks if each.id == name), None)
        if slug(dataset.scope) != scope or task is None:
            continue
        if record.fingerprint.task_digest not in {None, task.digest()}:
            raise Refused(f"task {name} of {path.name} has changed since it ran")
        return path, task
    raise Refused(f"no dataset here has task {name} in the scope {scope}")


def _candidates(scope: str, datasets: Path) -> list[Path]:
    """Dataset files, the one with the name of the scope first."""
    try:
        first = [find_dataset(scope, datasets)]
    except HarnessmarkError:
        first = []
    return list(dict.fromkeys([*first, *all_datasets(datasets)]))
