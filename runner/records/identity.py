"""Identity: which cell a trial belongs to, and which trial it is."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from runner.records.base import Part, Sha256, Slug


class Hosting(StrEnum):
    """Who runs the machines behind the model; never inferred from the provider's name alone."""

    VENDOR_API = "vendor-api"
    CLOUD = "cloud"
    SELF_HOSTED = "self-hosted"
    VENDOR_MANAGED = "vendor-managed"
    BUILT_IN = "built-in"
    UNKNOWN = "unknown"


class ModelName(Part):
    """A model: the raw id as sent on the wire, and the slug used in folders and pages."""

    raw_id: str = Field(min_length=1, max_length=300)
    slug: Slug


class CellIdentity(Part):
    """One point on a chart: model x provider x effort x harness x skill x dataset."""

    model: ModelName
    provider: Slug
    effort: Slug | None = None
    harness: Slug
    skill: Slug
    dataset: Slug

    @property
    def served_model(self) -> str:
        """First folder of the cell: ``<model>_<provider>[_<effort>]``."""
        parts = [self.model.slug, self.provider]
        if self.effort is not None:
            parts.append(self.effort)
        return "_".join(parts)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes two cells the same; raw ids under one slug share a cell."""
        return (self.served_model, self.harness, self.skill, self.dataset)


class TrialIdentity(Part):
    """One attempt at one task in one cell."""

    cell: CellIdentity
    task: Slug
    trial: int = Field(ge=1, description="1..k, never overwritten")

    @property
    def key(self) -> tuple[str, ...]:
        """Folder components below ``swe/``, unique in a store."""
        return (*self.cell.key, self.task, str(self.trial))


class Fingerprint(Part):
    """Digests of what the trial was asked to do. Figures of different digests are never mixed."""

    dataset_version: str | None = None
    dataset_digest: Sha256 | None = None
    task_digest: Sha256 | None = None
    skill_version: str | None = None
    skill_digest: Sha256 | None = None
    harness_version: str | None = None
