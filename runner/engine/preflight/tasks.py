"""Tasks: datasets, skills and recordings of a run, and whether every repository can be had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.datasets import unreachable_refs
from runner.datasets.location import repository_name
from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.question import Question
from runner.errors import ConfigurationError
from runner.providers.checks import Check, CheckState
from runner.replay import open_library

LISTING_SECONDS = 30.0


def task_questions(groups: Sequence[Group], places: Places) -> list[Question]:
    """Datasets and skills, recordings where they are played, and one question for each repository."""
    questions = [Question("tasks", lambda: list(_chosen(groups)))]
    if any(group.parts.provider.name == "replay" for group in groups):
        questions.append(Question("tasks", lambda: recording_checks(groups, places.cassettes)))
    refs: dict[tuple[str, Path], dict[str, None]] = {}
    for group in groups:
        for task in group.parts.tasks:
            refs.setdefault((task.repo, group.parts.dataset_path.parent), {})[task.ref] = None
    return questions + [
        _repository(repo, beside, tuple(wanted), places.repositories)
        for (repo, beside), wanted in refs.items()
    ]


def _chosen(groups: Sequence[Group]) -> Iterator[Check]:
    for group in groups:
        dataset, count = group.parts.dataset, len(group.parts.tasks)
        found = f"{dataset.name} {dataset.version}: {count} of {len(dataset.tasks)} tasks"
        yield Check("dataset", CheckState.PASS, found)
        for skill in group.parts.skills.values():
            yield Check("skill", CheckState.PASS, f"{skill.name} {skill.version}")


def recording_checks(groups: Sequence[Group], cassettes: Path) -> Iterator[Check]:
    """Every model of the built-in server is recorded for the dataset it is to work on."""
    try:
        library = open_library(cassettes)
    except ConfigurationError:
        # The provider says so itself.
        return
    for group in groups:
        recorded = library.models(group.parts.dataset.scope)
        for model in group.settings.model if group.parts.provider.name == "replay" else ():
            scope = group.parts.dataset.scope
            if model in recorded:
                yield Check("recording", CheckState.PASS, f"{model} on {scope}")
            elif recorded:
                found = f"{model} has no recording of dataset {scope}"
                yield Check("recording", CheckState.FAIL, found, f"--model {','.join(recorded)}")
            else:
                found = f"no model has a recording of dataset {scope}"
                played = ", ".join(library.datasets())
                yield Check("recording", CheckState.FAIL, found, f"--dataset with one of: {played}")


def _repository(repo: str, beside: Path, refs: tuple[str, ...], cache: Path) -> Question:
    return Question(
        repository_name(repo), lambda: repository_checks(repo, refs, beside, cache), LISTING_SECONDS + 10
    )


def repository_checks(repo: str, refs: tuple[str, ...], beside: Path, cache: Path) -> Iterator[Check]:
    """The repository answers and has the refs of the tasks."""
    faults = unreachable_refs(repo, refs, beside=beside, cache=cache, seconds=LISTING_SECONDS)
    for fault in faults:
        yield Check("repository", CheckState.FAIL, f"{fault.what} ({fault.where})", fault.remedy)
    if not faults:
        shown = f"{len(refs)} refs" if len(refs) > 1 else refs[0]
        yield Check("repository", CheckState.PASS, f"{repo} has {shown}")
