"""Matrix: a file of models, harnesses, skills and datasets that becomes one group of settings per cell."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from pydantic import ValidationError

from runner.costs.strict_yaml import Location, StrictDocument, read_strict_yaml
from runner.engine.settings import LISTS, RunSettings
from runner.engine.settings_file import require_small, unknown_key
from runner.errors import ConfigurationError
from runner.records.plain_words import in_plain_words

AXES: Mapping[str, str] = {
    "models": "model",
    "harnesses": "harness",
    "skills": "skill",
    "datasets": "dataset",
    "efforts": "effort",
}
"""Lists of the file, and the key that an entry of each goes by in ``exclude`` and in settings."""
REQUIRED = ("models", "harnesses", "skills", "datasets")
OF_A_MODEL = frozenset(
    {"model", "provider", "endpoint", "api_key_env", "protocol", "context_window", "allow_small_window"}
    | {"hosting", "instance_type", "tensor_parallel_size", "precision", "faults"}
    | {"aws_region", "aws_profile", "kiro_dollars_per_credit"}
    | {"max_output_tokens", "recipe"}
    | {"backend_model", "backend_protocol"}
    | {"price_input", "price_output", "price_cache_read", "price_cache_write"}
)
OF_A_DATASET = frozenset({"dataset", "tasks", "count"})
OF_A_CELL = frozenset({"model", "provider", "harness", "skill", "dataset", "effort"})
SHARED = frozenset(RunSettings.model_fields) - OF_A_MODEL - OF_A_DATASET - OF_A_CELL | {"max_output_tokens"}
MAX_CELLS = 10_000


@dataclass
class _Faults:
    """Everything that is wrong in the file, with lines."""

    document: StrictDocument
    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, location: Location, what: str) -> None:
        """Note a fault at ``location``."""
        self.found.append((self.document.line(location), what))

    def unknown(self, location: Location, name: str, known: Iterable[str]) -> None:
        """Note a key that is not known here; one that an entry of a list may have is told where it goes."""
        for axis, owned in (("datasets", OF_A_DATASET), ("models", OF_A_MODEL)):
            if len(location) == 1 and name in owned:
                self.add(location, f"{name}: belongs in an entry of {axis}")
                return
        self.add(location, unknown_key(name, tuple(known)))

    def report(self, path: Path) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            lines = [f"line {line}: {what}" for line, what in sorted(dict.fromkeys(self.found))]
            raise ConfigurationError(
                "the matrix has faults:\n    " + "\n    ".join(lines),
                where=str(path),
                remedy="a matrix lists models, harnesses, skills and datasets, and what to exclude",
            )


def read_matrix(path: Path) -> tuple[RunSettings, ...]:
    """One group of settings for every cell of the matrix in the file at ``path``, in the file's order.

    Raises:
        ConfigurationError: every fault of the file in one report, with its line.
    """
    require_small(path, "matrix")
    document = read_strict_yaml(path)
    faults = _Faults(document)
    if not isinstance(document.value, dict):
        raise ConfigurationError(
            "must hold keys and values",
            where=str(path),
            remedy="it lists models, harnesses, skills and datasets",
        )
    body = {str(key): value for key, value in document.value.items()}
    for name in body:
        if name not in AXES and name not in SHARED and name not in {"exclude", "limits"}:
            faults.unknown((name,), name, [*AXES, *SHARED, "exclude", "limits"])
    axes = {axis: list(_entries(body, axis, faults)) for axis in AXES}
    shared = _shared(body, faults)
    exclusions = list(_exclusions(body, axes, faults))
    cells = _cells(axes, exclusions, faults)
    groups = [_settings({**shared, **cell}, places, faults) for cell, places in cells]
    if not groups and not faults.found:
        faults.add(("exclude",), "everything is excluded")
    faults.report(path)
    return tuple(group for group in groups if group is not None)


Entry = tuple[dict[str, object], Location]


def _entries(body: Mapping[str, object], axis: str, faults: _Faults) -> Iterator[Entry]:
    """Entries of one list as settings, each with its place in the file."""
    value, key = body.get(axis), AXES[axis]
    if value is None:
        if axis in REQUIRED:
            faults.add((), f"{axis}: is missing")
        else:
            yield {}, (axis,)
        return
    if not isinstance(value, list) or not value:
        faults.add((axis,), f"{axis}: must be a list with at least one entry")
        return
    allowed = {"models": OF_A_MODEL, "datasets": OF_A_DATASET}.get(axis)
    for number, entry in enumerate(value):
        place: Location = (axis, number)
        if isinstance(entry, str):
            yield {key: entry}, place
        elif axis == "efforts" and entry is None:
            yield {}, place
        elif isinstance(entry, dict) and allowed is not None:
            for name in entry:
                if name not in allowed:
                    faults.unknown((*place, str(name)), str(name), allowed)
            if not isinstance(entry.get(key), str):
                faults.add(place, f"{axis}: an entry needs {key}")
            else:
                yield {str(name): each for name, each in entry.items() if name in allowed}, place
        else:
            what = f"a name or keys with {key}" if allowed is not None else "a name"
            faults.add(place, f"{axis}: an entry must be {what}")


def _shared(body: Mapping[str, object], faults: _Faults) -> dict[str, object]:
    """Settings that hold for every cell: top-level keys and those below ``limits``."""
    shared = {name: value for name, value in body.items() if name in SHARED}
    limits = body.get("limits", {})
    if not isinstance(limits, dict):
        faults.add(("limits",), "limits: must hold keys and values")
        return shared
    for name, value in limits.items():
        if name not in SHARED:
            faults.unknown(("limits", str(name)), str(name), SHARED)
        elif name in shared:
            faults.add(("limits", str(name)), f"{name}: is given at the top as well")
        else:
            shared[str(name)] = value
    return shared


def _exclusions(
    body: Mapping[str, object], axes: Mapping[str, list[Entry]], faults: _Faults
) -> Iterator[tuple[dict[str, str], Location]]:
    """Partial cells that are left out; each must name entries that are there."""
    value = body.get("exclude", [])
    if not isinstance(value, list):
        faults.add(("exclude",), "exclude: must be a list")
        return
    entries = [each for of_axis in axes.values() for each, _ in of_axis]
    names = {key: {str(each[key]) for each in entries if key in each} for key in OF_A_CELL}
    for number, entry in enumerate(value):
        place: Location = ("exclude", number)
        if not isinstance(entry, dict) or not entry:
            faults.add(place, "exclude: an entry must hold some of " + ", ".join(sorted(OF_A_CELL)))
            continue
        for name, wanted in entry.items():
            if name not in OF_A_CELL:
                faults.unknown((*place, str(name)), str(name), OF_A_CELL)
            elif str(wanted) not in names[str(name)]:
                near = difflib.get_close_matches(str(wanted), names[str(name)], n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                faults.add((*place, str(name)), f"exclude: no entry has {name} {wanted}{hint}")
        yield {str(name): str(wanted) for name, wanted in entry.items()}, place


def _cells(
    axes: Mapping[str, list[Entry]],
    exclusions: list[tuple[dict[str, str], Location]],
    faults: _Faults,
) -> list[tuple[dict[str, object], dict[str, Location]]]:
    """Every combination that is not excluded, with the place of each of its keys."""
    count = 1
    for entries in axes.values():
        count *= len(entries)
    if count > MAX_CELLS:
        faults.add((), f"{count} cells are more than {MAX_CELLS}")
        return []
    cells, used = [], set()
    for combination in product(*axes.values()):
        cell: dict[str, object] = {}
        places: dict[str, Location] = {}
        for entry, place in combination:
            cell |= entry
            places |= {name: (*place, name) for name in entry}
        matching = [
            number
            for number, (partial, _) in enumerate(exclusions)
            if all(str(cell.get(name)) == wanted for name, wanted in partial.items())
        ]
        used |= set(matching)
        if not matching:
            cells.append((cell, places))
    if count:
        for number, (_, place) in enumerate(exclusions):
            if number not in used:
                faults.add(place, "exclude: no cell matches")
    return cells


def _settings(
    values: Mapping[str, object], places: Mapping[str, Location], faults: _Faults
) -> RunSettings | None:
    """The settings of one cell. Names stand for themselves: a comma is part of a name, not a list."""
    singles = {
        name: [value] if name in LISTS and isinstance(value, str) else value for name, value in values.items()
    }
    try:
        return RunSettings.model_validate(singles, strict=False)
    except ValidationError as error:
        for fault in error.errors():
            name = str(fault["loc"][0]) if fault["loc"] else ""
            inside = "limits" if ("limits", name) in faults.document.lines else ""
            place = places.get(name) or ((inside, name) if inside else (name,))
            faults.add(place, f"{name}: {in_plain_words(fault)}")
        return None
