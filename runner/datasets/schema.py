"""The shape of a dataset file: every key, its type and its own rule."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from runner.datasets.location import check_ref, check_relative, check_repository, check_web_address
from runner.datasets.patterns import check_pattern
from runner.datasets.reports import check_report
from runner.errors import PathEscapeError
from runner.records import Part
from runner.store import component

SCHEMA_VERSION = "1.2"
MAX_TIMEOUT_SECONDS = 24 * 3600.0

TEXT_PATTERN = r"^[\n\t\P{Cc}]*[^\s\p{Cc}][\n\t\P{Cc}]*$"
LINE_PATTERN = r"^[^\s\p{Cc}](?:\P{Cc}*[^\s\p{Cc}])?$"
COMMIT_PATTERN = r"^[0-9a-f]{40}$"

Text = Annotated[str, StringConstraints(min_length=1, max_length=100_000, pattern=TEXT_PATTERN)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=LINE_PATTERN)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=10_000, pattern=r"^[^\x00]*$")]


def _slug(name: str) -> str:
    try:
        component(name)
    except PathEscapeError:
        name = "_"
    if "_" in name or len(name) > 120:
        raise ValueError("use lower-case letters, digits, dots and dashes, a letter or digit first")
    return name


def _date(text: str) -> str:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError("expected a date such as 2026-01-31")
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError("there is no such day") from None
    return text


Date = Annotated[str, AfterValidator(_date)]
Name = Annotated[str, AfterValidator(_slug)]
Address = Annotated[str, AfterValidator(check_web_address)]
Repository = Annotated[str, AfterValidator(check_repository)]
Ref = Annotated[str, AfterValidator(check_ref)]
Beside = Annotated[str, AfterValidator(check_relative)]
Pattern = Annotated[str, AfterValidator(check_pattern)]
Report = Annotated[str, AfterValidator(check_report)]


class Provenance(Part):
    """Where a dataset comes from. Imported facts name repository, commit, path and licence."""

    description: Text | None = None
    repository: Address | None = None
    commit: Annotated[str, StringConstraints(pattern=COMMIT_PATTERN)] | None = None
    path: Line | None = None
    license: Line | None = None
    declared_name: Line | None = Field(default=None, description="name of the dataset in its source")
    notes: tuple[Text, ...] = ()


class GroundTruth(Part):
    """For reviewers and judges only; never shown to the agent."""

    approach: Text | None = None
    expectations: tuple[Text, ...] = ()
    reference_url: Address | None = None


class CheckEntry(Part):
    """A command that decides whether a change works: exit code 0, and only that, is a pass."""

    name: Name
    command: Annotated[tuple[Word, ...], Field(min_length=1)]
    timeout_seconds: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_SECONDS)] = 300.0
    hidden_files: tuple[Beside, ...] = Field(
        default=(),
        description="folders beside the file; their content is copied into the workspace for grading",
    )
    purpose: Literal["hidden", "build", "regression", "lint"] = Field(
        default="hidden",
        description="regression: run before the patch too; only tests that passed then must pass. "
        "Where a build fails, tests are not run",
    )
    report: Report | None = Field(
        default=None,
        description="where names of tests stand: unittest, pytest, or junit <path>; default: what is printed",
    )


class RulesEntry(Part):
    """Limits of a change, which need no command to be checked."""

    max_changed_files: Annotated[int, Field(ge=1)] | None = None
    max_changed_lines: Annotated[int, Field(ge=1, description="added and removed")] | None = None
    forbidden_paths: tuple[Pattern, ...] = ()


class _Guarded(Part):
    """What a change may not touch; of a dataset: of all its tasks, beside what they say themselves."""

    rules: RulesEntry | None = None
    frozen: tuple[Pattern, ...] = Field(
        default=(), description="files that must stay as they are; a change of one voids the trial"
    )
    only_additions: tuple[Pattern, ...] = Field(
        default=(),
        description="files in which no line may be changed or removed, such as tests that are there; "
        "adding to them is fine",
    )


class TaskEntry(_Guarded):
    """A problem in a repository at a ref, as written in the file."""

    id: Name
    kind: Literal["quality", "load"] = Field(
        default="quality", description="load tasks only make work for a server and are never scored"
    )
    repo: Repository
    ref: Ref | None = None
    complexity: Line | None = None
    tags: tuple[Line, ...] = ()
    problem_statement: Text | None = None
    problem_issue_url: Address | None = None
    problem_missing: Text | None = Field(
        default=None, description="why there is neither statement nor issue; such a task cannot be run"
    )
    gist: Line | None = Field(default=None, description="one sentence on what it is about; not the statement")
    clarifying_answers: Text | None = None
    ground_truth: GroundTruth | None = None
    checks: tuple[CheckEntry, ...] = ()
    reference_solution: Beside | None = None
    public_since: Date | None = None
    canary: Line | None = None


class DatasetEntry(_Guarded):
    """A dataset file."""

    schema_version: Literal["1.1", "1.2"]
    name: Name
    title: Line
    description: Text
    version: Line
    visibility: Literal["public", "private"]
    license: Line | None = None
    created: Date | None = None
    default_ref: Ref
    output_scope: Name | None = None
    metrics: Annotated[tuple[Line, ...], Field(min_length=1)]
    complexity_levels: Annotated[tuple[Line, ...], Field(min_length=1)]
    source: Provenance | None = None
    checks: tuple[CheckEntry, ...] = Field(
        default=(), description="of every task; a check of a task with the same name takes its place"
    )
    tasks: Annotated[tuple[TaskEntry, ...], Field(min_length=1)]
