"""Resolution: from the names in the settings to datasets, harnesses, skills and a provider."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from runner.datasets import bring, find_dataset, load_dataset
from runner.engine.places import Places
from runner.engine.planning import Group, Parts, select_tasks
from runner.engine.settings import RunSettings
from runner.errors import ConfigurationError, RepositoryError, UsageError
from runner.harnesses.endpoint import TokenPrices
from runner.harnesses.registry import harness
from runner.providers.base import ProviderSettings
from runner.providers.facts import serving_facts
from runner.providers.registry import provider
from runner.replay import recorded_models
from runner.skills import skill

PROVIDER_FLAGS = {
    "aws_region": ("bedrock", "litellm"),
    "aws_profile": ("bedrock",),
    "backend_model": ("litellm",),
    "backend_protocol": ("litellm",),
    "faults": ("replay",),
    "kiro_dollars_per_credit": ("kiro",),
    "recipe": ("vllm",),
}


def is_path(dataset: str) -> bool:
    """Whether a dataset is named by a path, not by its name."""
    return "/" in dataset or dataset.endswith((".yaml", ".yml"))


def portable(dataset: str, root: Path) -> str:
    """A dataset's path as it may stand in a plan: relative to the project, not a folder of this machine."""
    return Path(os.path.relpath(dataset, root)).as_posix() if is_path(dataset) else dataset


def complete(settings: RunSettings, places: Places) -> RunSettings:
    """``settings`` with what follows from the rest filled in: the provider and, for ``replay``, the models.

    Raises:
        UsageError: a model is needed, or a flag belongs to another provider.
    """
    name = settings.provider or ("endpoint" if settings.endpoint else "replay")
    provider(name)
    if name == "replay" and settings.endpoint:
        raise UsageError(
            "the built-in model server has an address of its own",
            where=f"--endpoint {settings.endpoint}",
            remedy="leave --endpoint out, or name --provider endpoint",
        )
    models = settings.model
    if not models and name == "replay":
        path = find_dataset(settings.dataset, places.datasets)
        models = recorded_models(places.cassettes, load_dataset(path).scope)
        if not models:
            raise UsageError(
                "the built-in model server has no recording of this dataset",
                where=settings.dataset,
                remedy="name a model that can work on it, with --provider or --endpoint, and --model",
            )
    if not models:
        raise UsageError(f"provider {name} needs --model", remedy="name the model as the server lists it")
    for flag, owners in PROVIDER_FLAGS.items():
        if getattr(settings, flag) not in (None, ()) and name not in owners:
            shown = "--" + flag.replace("_", "-")
            raise UsageError(
                f"{shown} is for provider {' and '.join(owners)}; this run uses {name}",
                remedy=f"leave {shown} out",
            )
    return settings.model_copy(
        update={
            "provider": name,
            "model": models,
            "dataset": portable(settings.dataset, places.root),
            "judge": tuple(portable(each, places.root) for each in settings.judge),
        }
    )


def resolve(settings: RunSettings, places: Places) -> Parts:
    """The parts that completed settings name.

    Raises:
        ConfigurationError: a file or an installation is missing, or the dataset is not meant to be run.
        UsageError: an unknown name.
    """
    wanted = str(places.root / settings.dataset) if is_path(settings.dataset) else settings.dataset
    path = find_dataset(wanted, places.datasets)
    dataset = load_dataset(path)
    tasks = select_tasks(dataset, settings.tasks, settings.count)
    for task in tasks:
        if not task.runnable:
            raise ConfigurationError(
                f"task {task.id} has no problem statement, so no agent can be asked to solve it",
                where=str(path.name),
                remedy="add problem_statement to the dataset, or leave the task out with --tasks",
            )
    harnesses = {name: harness(name) for name in settings.harness}
    return Parts(
        dataset=dataset,
        dataset_path=path,
        tasks=tasks,
        harnesses={each.name: each for each in harnesses.values()},
        skills={each.name: each for each in (skill(name) for name in settings.skill)},
        provider=provider(settings.provider),
        installed=places.harnesses,
    )


def provider_settings(settings: RunSettings, places: Places) -> ProviderSettings:
    """What the provider is told about the hosting path."""
    prices = settings.prices()
    return ProviderSettings(
        base_url=settings.endpoint,
        api_key_env=settings.api_key_env,
        context_window=settings.context_window or None,
        cassettes=str(places.cassettes),
        faults=settings.faults,
        hosting=settings.hosting,
        protocols=settings.protocol,
        backend_model=settings.backend_model,
        backend_protocol=settings.backend_protocol,
        recipe=settings.recipe,
        recipes=str(places.recipes),
        installed=str(places.harnesses),
        state=str(places.servers),
        aws_region=settings.aws_region,
        aws_profile=settings.aws_profile,
        dollars_per_credit=settings.kiro_dollars_per_credit,
        longest_seconds=settings.timeout_seconds,
        prices=TokenPrices(prices.input, prices.output, prices.cache_read) if prices else None,
    )


def as_served(group: Group, model: str, places: Places) -> RunSettings:
    """The settings of ``group`` with what its provider knows of how ``model`` is served, unless given.

    Raises:
        ConfigurationError: what it knows it from has faults.
    """
    settings = group.settings
    facts = serving_facts(group.parts.provider, model, provider_settings(settings, places))
    known = {name: value for name, value in vars(facts).items() if getattr(settings, name) is None}
    return settings.model_copy(update=known)


def resolve_all(settings: Sequence[RunSettings], places: Places) -> list[Group]:
    """The groups of completed settings; all of them belong in one store.

    Raises:
        ConfigurationError: as :func:`resolve`.
        UsageError: unknown names, or groups whose results belong in different stores.
    """
    groups = [Group(each, resolve(each, places)) for each in settings]
    stores = {store_of(group) for group in groups}
    if len(stores) > 1:
        raise UsageError(
            "demonstrations, private and public datasets are kept in stores of their own",
            remedy="make one matrix for each of them",
        )
    return groups


def store_of(group: Group) -> tuple[bool, bool]:
    """Whether the results of a group are a demonstration, and whether they are private."""
    return group.parts.provider.demonstration, group.parts.dataset.visibility == "private"


def require_repositories(groups: Sequence[Group], places: Places, say: Callable[[str], None]) -> None:
    """Bring the repositories of all tasks into the cache, before a trial is planned that could not start.

    Raises:
        RepositoryError: some cannot be had; every one is named with its cause.
    """
    wanted = {
        (task.repo, task.ref, group.parts.dataset_path.parent): None
        for group in groups
        for task in group.parts.tasks
    }
    faults = []
    for number, (repo, ref, beside) in enumerate(wanted, 1):
        if repo.startswith(("https:", "ssh:")):
            say(f"repository {number} of {len(wanted)}: {repo} at {ref}")
        try:
            bring(repo, ref, beside=beside, cache=places.repositories)
        except RepositoryError as error:
            faults.append(error)
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise RepositoryError(
            f"{len(faults)} repositories cannot be had:\n"
            + "\n".join(f"  {fault.where}: {fault.what}; {fault.remedy}" for fault in faults),
            remedy="put these right, or leave their tasks out with --tasks",
        )
