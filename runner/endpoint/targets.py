"""Targets: the models that can be benchmarked and their mappings, from ``datasets/targets/*.yaml``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, model_validator

from runner.costs.price_row import RegionClass, ServiceTier
from runner.costs.strict_yaml import read_strict_yaml
from runner.costs.yaml_faults import fault_lines, nearest
from runner.endpoint.capabilities import Capabilities, Thinking
from runner.endpoint.pinning import Gateway, Words
from runner.endpoint.request import Protocol
from runner.endpoint.target import LINE, MappingEntry, PriceKey, ReplayPlace, Target, url_fault
from runner.errors import ConfigurationError, UsageError
from runner.records.base import Part, Slug

LOCAL = "local"
"""Provider of an endpoint that is described by flags alone."""


class TargetFile(Part):
    """A file: one model and its mappings."""

    schema_version: int = Field(ge=1, le=1)
    model: Slug
    title: str = Field(min_length=1, max_length=120, pattern=LINE)
    defaults: Capabilities = Capabilities()
    mappings: tuple[MappingEntry, ...] = Field(strict=False)

    @model_validator(mode="after")
    def _some_mapping(self) -> Self:
        if not self.mappings:
            raise ValueError("a model needs at least one mapping")
        return self


class Catalogue:
    """All targets that are described, by model."""

    def __init__(self, targets: Iterable[Target] = ()) -> None:
        self.targets: tuple[Target, ...] = tuple(targets)

    def models(self) -> tuple[str, ...]:
        """Slugs of all models, in order."""
        return tuple(sorted({target.model for target in self.targets}))

    def of_model(self, model: str, *, on: date, with_deactivated: bool = False) -> tuple[Target, ...]:
        """The targets of ``model`` that are active on that day, in the order of its file.

        Raises:
            UsageError: no such model, or none of its mappings is active.
        """
        known = self.models()
        if model not in known:
            raise UsageError(
                f"there is no model {model!r} among the targets{nearest(model, known)}",
                remedy=f"known: {', '.join(known) or 'none'}; or name an endpoint with --url",
            )
        every = tuple(target for target in self.targets if target.model == model)
        active = tuple(target for target in every if with_deactivated or is_active(target, on))
        if not active:
            raise UsageError(
                f"every mapping of {model} is deactivated",
                remedy="add --include-deactivated to measure them anyway",
            )
        return active


def is_active(target: Target, on: date) -> bool:
    """Whether the mapping has no day of deactivation, or one that is still to come."""
    ends = target.entry.deactivated_on
    return ends is None or ends > on


def load_targets(folder: Path) -> Catalogue:
    """The targets of all files ``*.yaml`` in ``folder``; an empty or missing folder has none.

    Raises:
        ConfigurationError: faults; one report names file, line and key of each.
    """
    targets: list[Target] = []
    faults: list[str] = []
    places: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            found = read_target_file(path)
        except ConfigurationError as error:
            faults.append(f"{error.where or path}: {error.what}")
            continue
        for target in found:
            earlier = places.setdefault(target.identifier, path.name)
            if any(each.identifier == target.identifier for each in targets):
                faults.append(f"{path}: the mapping {target.identifier} stands in {earlier} already")
            targets.append(target)
    if faults:
        raise ConfigurationError(
            "the targets have faults:\n" + "\n".join(faults),
            where=str(folder),
            remedy="correct the lines named above",
        )
    return Catalogue(targets)


def read_target_file(path: Path) -> tuple[Target, ...]:
    """The targets of one file.

    Raises:
        ConfigurationError: all its faults, with lines.
    """
    document = read_strict_yaml(path)
    merged = _with_defaults(document.value)
    try:
        file = TargetFile.model_validate(merged)
    except ValidationError as error:
        lines = fault_lines(error, document, _KNOWN)
        raise ConfigurationError(
            f"{len(lines)} faults in the targets:\n" + "\n".join(lines),
            where=str(path),
            remedy="correct the keys named above",
        ) from None
    if file.model != path.stem:
        raise ConfigurationError(
            f"the file of {file.model} is called {path.name}; call it {file.model}.yaml", where=str(path)
        )
    return tuple(Target(file.model, file.title, entry) for entry in file.mappings)


_KNOWN = (
    *TargetFile.model_fields,
    *MappingEntry.model_fields,
    *Capabilities.model_fields,
    *PriceKey.model_fields,
    *ReplayPlace.model_fields,
    *Gateway.model_fields,
    *Words.model_fields,
    *Protocol,
    *Thinking,
    *RegionClass,
    *ServiceTier,
)


def _with_defaults(value: object) -> object:
    """The document with the file's default capabilities below those of each mapping.

    Defaults that are wrong stay where they are, so that they are reported once and not in every mapping.
    """
    if not isinstance(value, dict):
        return value
    defaults, entries = value.get("defaults"), value.get("mappings")
    if not isinstance(defaults, dict) or not isinstance(entries, list):
        return value
    try:
        Capabilities.model_validate(defaults)
    except ValidationError:
        return value
    return {**value, "mappings": [_merged(entry, defaults) for entry in entries]}


def _merged(entry: object, defaults: Mapping[str, object]) -> object:
    own = entry.get("capabilities", {}) if isinstance(entry, dict) else None
    return (
        {**entry, "capabilities": {**defaults, **own}}
        if isinstance(entry, dict) and isinstance(own, dict)
        else entry
    )


def local_target(
    url: str,
    model_id: str,
    *,
    model: str,
    key_variable: str | None = None,
    protocol: Protocol = Protocol.CHAT_COMPLETIONS,
    on: date,
    capabilities: Capabilities | None = None,
    effort: str | None = None,
) -> Target:
    """A target that is in no file: what ``--url`` and ``--api-key-env`` stand for.

    Args:
        model: slug for folders and pages.
        effort: the one that is asked for, which the endpoint is then taken to know; it must not be left out
            silently.

    Raises:
        UsageError: the URL cannot be used; credentials in it are not repeated.
    """
    fault = url_fault(url.strip().rstrip("/"))
    if fault:
        raise UsageError(f"the address given with --url {fault}")
    try:
        entry = MappingEntry(
            provider=LOCAL,
            model_id=model_id,
            protocol=protocol,
            base_url=url.strip().rstrip("/"),
            key_variable=key_variable,
            capabilities=capabilities or _assumed(effort),
            source="given on the command line",
            checked_on=on,
        )
    except ValidationError as error:
        named = ", ".join(str(fault["loc"][0]) for fault in error.errors())
        raise UsageError(
            f"the endpoint cannot be used as described: {named}",
            remedy="--api-key-env takes the name of a variable, never a key; --effort one lower-case word",
        ) from None
    return Target(model, model_id, entry, origin="flags")


def _assumed(effort: str | None) -> Capabilities:
    if effort is None:
        return Capabilities()
    return Capabilities(efforts=(effort,), thinking=Thinking.ON_REQUEST)


def require_unique(targets: Sequence[Target]) -> None:
    """Refuse a list in which a target stands twice.

    Raises:
        UsageError: names those that do.
    """
    counts = Counter(each.identifier for each in targets)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise UsageError(f"targets given twice: {', '.join(twice)}")
