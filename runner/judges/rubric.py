"""Rubric: which artifacts are scored by which criteria, versioned, with a digest of every word of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import Field, ValidationError, field_validator

from runner.errors import ConfigurationError, UsageError
from runner.records import CRITERIA, Part, sha256_of
from runner.records.base import Slug
from runner.records.plain_words import plain_faults
from runner.registry import load_by_name

FOLDER = Path(__file__).parent / "rubrics"
RUBRIC_FILE, INSTRUCTIONS_FILE = "rubric.yaml", "instructions.md"
RUBRICS: Mapping[str, str] = {"five-artifacts": "five-artifacts", "implementation": "implementation"}
MARKS = (
    "candidate",
    "task",
    "rubric",
    "problem",
    "notes",
    "repository",
    "criteria",
    "artifacts",
    "submission",
)
"""What the instructions must have a place for."""


class ScoredArtifact(Part):
    """One thing that gets four numbers: a file, or several that are judged together."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)
    title: str = Field(min_length=1)
    files: tuple[str, ...] = Field(min_length=1)
    needs: tuple[str, ...] = Field(
        default=(), description="files without which there is nothing to judge; default: any of them will do"
    )
    expects: str = Field(min_length=1)

    def present(self, files: Mapping[str, bytes]) -> bool:
        """Whether there is something to judge among ``files``, content by name; blank files are none."""
        held = {name for name in self.files if files.get(name, b"").strip()}
        return bool(held) and set(self.needs) <= held


class RubricEntry(Part):
    """The file ``rubric.yaml``."""

    schema_version: int = Field(ge=1, le=1)
    name: Slug
    version: str = Field(pattern=r"^[0-9a-z][0-9a-z.]*$", max_length=20)
    title: str = Field(min_length=1)
    skills: tuple[Slug, ...]
    criteria: dict[str, str]
    anchors: tuple[str, ...] = Field(min_length=2)
    artifacts: tuple[ScoredArtifact, ...] = Field(min_length=1)

    @field_validator("criteria")
    @classmethod
    def _the_four(cls, criteria: dict[str, str]) -> dict[str, str]:
        if tuple(criteria) != CRITERIA:
            raise ValueError(f"must be {', '.join(CRITERIA)}, in this order")
        return criteria


class Rubric(RubricEntry):
    """A rubric with its instructions. Scores of two rubrics are never averaged with each other."""

    instructions: str = Field(min_length=1)
    digest: str

    @property
    def identity(self) -> str:
        """Name and version, as records hold it."""
        return f"{self.name}-{self.version}"

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that is shown to a judge, in order."""
        return tuple(dict.fromkeys(name for artifact in self.artifacts for name in artifact.files))

    def parts(self, files: Mapping[str, bytes]) -> tuple[tuple[ScoredArtifact, ...], tuple[str, ...]]:
        """What a judge is asked about, and the names of what scores zero because it is not there."""
        asked = tuple(artifact for artifact in self.artifacts if artifact.present(files))
        return asked, tuple(artifact.name for artifact in self.artifacts if artifact not in asked)


def load_rubric(folder: Path) -> Rubric:
    """The rubric in ``folder``; instructions that are not there are taken from the folder above.

    Raises:
        ConfigurationError: a file is missing or has faults; all of them are listed.
    """
    own = folder / INSTRUCTIONS_FILE
    try:
        declared = (folder / RUBRIC_FILE).read_bytes()
        instructions = (own if own.is_file() else folder.parent / INSTRUCTIONS_FILE).read_bytes()
        document = yaml.safe_load(declared)
        if not isinstance(document, dict):
            raise ConfigurationError(
                "the rubric must hold keys and values", where=f"{folder.name}/{RUBRIC_FILE}"
            )
        entry = RubricEntry.model_validate(document, strict=False)
        text = instructions.decode()
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the rubric cannot be read: {error}", where=folder.name) from None
    except ValidationError as error:
        faults = plain_faults(error, whole="rubric")
        raise ConfigurationError(
            "the rubric has faults:\n    " + "\n    ".join(faults), where=f"{folder.name}/{RUBRIC_FILE}"
        ) from None
    missing = [mark for mark in MARKS if f"{{{{{mark}}}}}" not in text]
    if missing:
        raise ConfigurationError(
            "the instructions lack marks: " + ", ".join(f"{{{{{mark}}}}}" for mark in missing),
            where=f"{folder.name}/{INSTRUCTIONS_FILE}",
        )
    lengths = f"{len(declared)} {len(instructions)}\n".encode()
    return Rubric(**dict(entry), instructions=text, digest=sha256_of(lengths + declared + instructions))


def rubric(name: str) -> Rubric:
    """The rubric called ``name``, or the one that an import path ``package.module:Name`` leads to.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: its files have faults, or the import path leads to no rubric.
    """
    if name in RUBRICS:
        return load_rubric(FOLDER / RUBRICS[name])
    found = load_by_name("rubric", name, RUBRICS)
    if not isinstance(found, Rubric):
        raise ConfigurationError(f"{name!r} is no rubric")
    return found


def rubric_for(skill: str, asked: str | None = None) -> Rubric:
    """The rubric for trials of ``skill``: the one asked for, or the one that declares the skill.

    Raises:
        UsageError: no rubric declares it.
    """
    if asked:
        return rubric(asked)
    for each in map(rubric, RUBRICS):
        if skill in each.skills:
            return each
    raise UsageError(
        f"no rubric is for skill {skill!r}", remedy=f"name one: --rubric {'|'.join(sorted(RUBRICS))}"
    )


def mean_of_totals(totals: Sequence[int]) -> float:
    """The task score: arithmetic mean of the artifacts' totals, 0 to 100, to 4 decimals."""
    return round(sum(totals) / len(totals), 4)
