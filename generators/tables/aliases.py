"""Aliases: names under which one model is filed more than once, each with the reason and who says so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from runner.costs.strict_yaml import read_strict_yaml
from runner.costs.yaml_faults import fault_lines
from runner.errors import ConfigurationError
from runner.records.base import Part, Slug


class ModelAlias(Part):
    """The model that a name stands for, why, and who says so."""

    model: Slug
    reason: str = Field(min_length=1)
    source: str = Field(min_length=1)


class ModelAliases(Part):
    """The table of other names. A name that is not in it is a model of its own, however alike it looks."""

    schema_version: int = Field(default=1, ge=1, le=1)
    aliases: dict[Slug, ModelAlias] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _no_name_leads_on(self) -> ModelAliases:
        for name, alias in self.aliases.items():
            if alias.model == name:
                raise ValueError(f"{name} stands for itself")
            if alias.model in self.aliases:
                raise ValueError(f"{name} stands for {alias.model}, which is another name itself")
        return self

    def model(self, slug: str) -> str:
        """The model a slug stands for; itself where the table does not say otherwise."""
        alias = self.aliases.get(slug)
        return slug if alias is None else alias.model

    def others(self, slug: str, known: Iterable[str]) -> list[str]:
        """The other names among ``known`` of the model that ``slug`` stands for, in order."""
        return sorted(name for name in set(known) - {slug} if self.model(name) == self.model(slug))

    def reason(self, first: str, second: str) -> str:
        """Why two names are taken for one model; empty for one name."""
        found = [self.aliases[name].reason for name in (first, second) if name in self.aliases]
        return " ".join(dict.fromkeys(found)) if first != second else ""


def load_model_aliases(path: Path) -> ModelAliases:
    """The alias table in the YAML file at ``path``; an empty one where there is no such file.

    Raises:
        ConfigurationError: the file cannot be read or has faults; every fault is named with key and line.
    """
    if not path.exists():
        return ModelAliases()
    document = read_strict_yaml(path)
    try:
        return ModelAliases.model_validate(document.value)
    except ValidationError as error:
        faults = fault_lines(error, document, (*ModelAliases.model_fields, *ModelAlias.model_fields))
        raise ConfigurationError(
            f"{len(faults)} faults in the table of model names:\n" + "\n".join(faults),
            where=str(path),
            remedy="correct the keys named above",
        ) from None
