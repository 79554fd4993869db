"""Recipe file: a strict YAML file with one serving recipe, and every fault of it in one report."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from runner.costs.strict_yaml import Location, StrictDocument, read_strict_yaml
from runner.errors import ConfigurationError, UsageError
from runner.providers.recipe import Recipe, Source
from runner.records.plain_words import in_plain_words

MAX_BYTES = 64 * 1024
SUFFIX = ".yaml"


def read_recipe(path: Path) -> Recipe:
    """The recipe in the file at ``path``; a file that has not changed is read once.

    Raises:
        ConfigurationError: every fault of the file in one report, with its line and the nearest known key.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise ConfigurationError(
            f"cannot be read: {error.strerror}", where=str(path), remedy="check the path"
        ) from None
    if found.st_size > MAX_BYTES:
        raise ConfigurationError(
            "is larger than any serving recipe", where=str(path), remedy="check the path"
        )
    return _parsed(path, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=256)
def _parsed(path: Path, changed: int, size: int) -> Recipe:  # noqa: ARG001 - they tell one state from others
    document = read_strict_yaml(path)
    if not isinstance(document.value, dict):
        raise ConfigurationError(
            "must hold keys and values", where=str(path), remedy="compare it with the other recipes"
        )
    try:
        recipe = Recipe.model_validate(document.value, strict=False)
    except ValidationError as error:
        found = sorted(dict.fromkeys(_faults(error, document)))
    else:
        if recipe.name == path.stem:
            return recipe
        found = [(document.line(("name",)), f"name: is {recipe.name}, but the file is called {path.name}")]
    count = "1 fault" if len(found) == 1 else f"{len(found)} faults"
    lines = [f"  line {line}: {what}" for line, what in found]
    raise ConfigurationError(
        f"{count} in the recipe {path.name}\n" + "\n".join(lines),
        where=str(path),
        remedy="correct the lines above; the other recipes in datasets/recipes show every key",
    )


def find_recipe(name: str, folder: Path) -> Recipe:
    """The recipe called ``name`` in ``folder``, or in the file that ``name`` is the path of.

    Raises:
        ConfigurationError: the file has faults.
        UsageError: there is none; the nearest name is offered.
    """
    if "/" in name or name.endswith((SUFFIX, ".yml")):
        return read_recipe(Path(name))
    names = recipe_names(folder)
    if name in names:
        return read_recipe(folder / f"{name}{SUFFIX}")
    near = difflib.get_close_matches(name, names, n=1)
    raise UsageError(
        f"there is no recipe {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
        where=str(folder),
        remedy=f"there are: {', '.join(names) or 'none'}; or give the path of a file",
    )


def recipe_for(model: str, folder: Path) -> Recipe | None:
    """The recipe that serves ``model`` under one of its names; None where none does.

    Raises:
        ConfigurationError: a file has faults.
        UsageError: several recipes serve it.
    """
    found = [each for each in all_recipes(folder) if model in each.served_names]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise UsageError(f"several recipes serve {model}: {names}", remedy="choose one with --recipe")
    return found[0] if found else None


def all_recipes(folder: Path) -> list[Recipe]:
    """Every recipe in ``folder``, by name.

    Raises:
        ConfigurationError: a file has faults.
    """
    return [read_recipe(folder / f"{name}{SUFFIX}") for name in recipe_names(folder)]


def recipe_names(folder: Path) -> list[str]:
    """Names of the recipes in ``folder``."""
    return sorted(path.stem for path in folder.glob(f"*{SUFFIX}"))


def _faults(error: ValidationError, document: StrictDocument) -> Iterator[tuple[int, str]]:
    for detail in error.errors():
        location: Location = tuple(part for part in detail["loc"] if part != "[key]")
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
        message = _message(detail, location)
        yield document.line(location), f"{place.lstrip('.')}: {message}" if place else message


def _message(detail: ErrorDetails, location: Location) -> str:
    if detail["type"] == "extra_forbidden":
        model: type[BaseModel] = Source if "source" in location[:-1] else Recipe
        near = difflib.get_close_matches(str(location[-1]), sorted(model.model_fields), n=1)
        return "unknown key" + (f"; did you mean {near[0]!r}?" if near else "")
    return in_plain_words(detail)
