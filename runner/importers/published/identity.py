"""Identity of an imported run: its cell, its plan, its trial number and how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.importers.published.document import RunDocument, SourceBlock
from runner.records import (
    CellIdentity,
    DataWarning,
    Hosting,
    ModelName,
    Serving,
    Source,
    Standing,
    TrialIdentity,
)
from runner.store import model_slug, slug

DATASETS: Mapping[str, str] = {"Hello-World": "hello-world-sanity"}
"""The source's folder name to the name the dataset declares; other folders are named like the dataset."""

HOSTING: Mapping[str, Hosting] = {
    "bedrock": Hosting.CLOUD,
    "endpoint": Hosting.SELF_HOSTED,
    "kiro": Hosting.VENDOR_MANAGED,
}


@dataclass(frozen=True)
class Role:
    """What a file is in its cell: the run that counts, or one that does not."""

    trial: int
    standing: Standing
    reason: str | None
    plan_suffix: str


COUNTED = Role(1, Standing.COUNTED, None, "")
ROLES: Mapping[str, Role] = {
    "superseded": Role(
        2,
        Standing.SUPERSEDED,
        "an earlier run of the same cell; trial 1 replaces it",
        "-superseded",
    ),
    "no-run-summary": Role(
        1, Standing.PROBE, "a probe of the model router: the source holds no run summary of it", "-probe"
    ),
}


def role_of(path: Path) -> Role | None:
    """The role that the file's name states after the dataset; None where the word is not known."""
    parts = path.stem.split("__")
    return COUNTED if len(parts) <= 3 else ROLES.get(parts[3])


def cell_of(run: RunDocument) -> CellIdentity:
    """The cell of ``run``; the slug is ours, from the raw id."""
    return CellIdentity(
        model=ModelName(
            raw_id=run.model, slug=model_slug(run.model, dots_become_dashes=run.provider == "kiro")
        ),
        provider=run.provider,
        harness=run.harness,
        skill=run.skill,
        dataset=DATASETS.get(run.dataset) or slug(run.dataset),
    )


def identity_of(cell: CellIdentity, task: str, role: Role) -> TrialIdentity:
    """The trial of ``task`` in ``cell``."""
    return TrialIdentity(cell=cell, task=task, trial=role.trial)


def plan_id_of(cell: CellIdentity, role: Role) -> str:
    """One plan per file, named after what the file holds and not after where it lies."""
    return (
        f"published-{cell.harness}-{cell.model.slug}-{cell.skill}-{cell.dataset}".replace("_", "-")
        + role.plan_suffix
    )


def source_of(block: SourceBlock) -> Source:
    """Repository, commit, path and licence of the figures."""
    return Source(repository=block.repo, commit=block.commit, path=block.path, license=block.license)


def serving_of(run: RunDocument) -> Serving:
    """The machines of ``run``. Only for a self-hosted model is the source's machine the model's (T-33)."""
    hosting = HOSTING[run.provider]
    block = run.serving
    if block is None:
        return Serving(hosting=hosting)
    own = hosting is Hosting.SELF_HOSTED
    return Serving(
        hosting=hosting,
        instance_type=block.instance_type if own else None,
        orchestrator_instance_type=None if own else block.instance_type,
        tensor_parallel_size=block.tensor_parallel_size,
        precision=block.precision.upper() if block.precision else None,
        context_window=block.context_window,
    )


def identity_warnings(run: RunDocument, cell: CellIdentity) -> list[DataWarning]:
    """Oddities of names and machines that hold for every task of the run."""
    found = []
    if cell.model.slug != run.model_slug:
        found.append(
            DataWarning(
                code="slug-differs",
                text=f"The source files {run.model} as {run.model_slug}; here it is {cell.model.slug}.",
            )
        )
    block = run.serving
    if block is None:
        return found
    if block.precision and block.precision != block.precision.upper():
        found.append(
            DataWarning(
                code="precision-respelled",
                text=f"The source writes {block.precision}; here it is {block.precision.upper()}.",
            )
        )
    if run.model.endswith("[1m]") and block.context_window is not None and block.context_window < 1_000_000:
        found.append(
            DataWarning(
                code="context-window-doubtful",
                text=f"The source prints a window of {block.context_window} tokens; the id {run.model} "
                "asks for one of a million.",
            )
        )
    return found
