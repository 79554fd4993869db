"""Skill: a prompt program and the contract of the artifacts it asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import yaml
from pydantic import Field, ValidationError

from runner.errors import ConfigurationError
from runner.records import Part, sha256_of
from runner.records.base import Slug
from runner.records.plain_words import plain_faults

PROMPT_FILE, CONTRACT_FILE = "prompt.md", "contract.yaml"
NO_ANSWERS = "None were given. Where the task leaves something open, decide yourself and say so in the note."
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


class Problem(Protocol):
    """What a skill may know of a task. Ground truth, checks and solutions are not among it."""

    @property
    def problem_statement(self) -> str | None:
        """What is to be done."""

    @property
    def problem_issue_url(self) -> str | None:
        """Where the problem was reported."""

    @property
    def clarifying_answers(self) -> str | None:
        """Answers to what an agent might ask."""


class ArtifactRule(Part):
    """One file of the contract, who makes it, and the headings it must have."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)
    made_by: Literal["agent", "runner"]
    required_headings: tuple[str, ...] = ()


class Contract(Part):
    """The file ``contract.yaml`` of a skill."""

    schema_version: Literal[1]
    name: Slug
    version: str = Field(pattern=r"^[0-9a-z][0-9a-z.-]*$", max_length=40)
    title: str = Field(min_length=1)
    artifacts: tuple[ArtifactRule, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Skill:
    """A prompt with marks ``{{problem}}`` and the like, its contract, and the digest of both files."""

    contract: Contract
    template: str
    digest: str

    @property
    def name(self) -> str:
        """Short name, as in paths."""
        return str(self.contract.name)

    @property
    def version(self) -> str:
        """Version of the prompt program."""
        return self.contract.version

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Names of all artifacts, in the order of the contract."""
        return tuple(rule.name for rule in self.contract.artifacts)

    def prompt(self, task: Problem, *, artifacts: Path, workspace: Path, present: Sequence[str] = ()) -> str:
        """The text an agent gets.

        Args:
            task: the problem; nothing else of the task is looked at.
            artifacts: absolute folder for the artifacts, given verbatim.
            workspace: absolute folder of the checkout.
            present: artifacts that are there already; with any, the text asks for the missing ones only.

        Raises:
            ConfigurationError: the task has no problem statement, or a folder is not absolute.
        """
        if not task.problem_statement or not task.problem_statement.strip():
            raise ConfigurationError(
                "the task has no problem statement, so no agent can be asked to solve it",
                remedy="add problem_statement to the dataset",
            )
        for folder in (artifacts, workspace):
            if not folder.is_absolute() or "\n" in str(folder):
                raise ConfigurationError("the folder must be an absolute path on one line", where=str(folder))
        values = {
            "artifacts": str(artifacts),
            "workspace": str(workspace),
            "problem": task.problem_statement.strip(),
            "answers": (task.clarifying_answers or "").strip() or NO_ANSWERS,
            "reference": f"Reference: {task.problem_issue_url}\n" if task.problem_issue_url else "",
            "pass": self._completion_pass(present) if present else "",
        }
        # One pass over the template, so that marks inside a statement stay as they are.
        return re.sub(r"\{\{(\w+)\}\}", lambda mark: values.get(mark[1], mark[0]), self.template)

    def _completion_pass(self, present: Sequence[str]) -> str:
        missing = [
            rule.name
            for rule in self.contract.artifacts
            if rule.made_by == "agent" and rule.name not in present
        ]
        return (
            "This is a completion pass: an earlier pass did the work but left files out.\n"
            f"artifacts_present: {', '.join(present)}\n"
            f"artifacts_missing: {', '.join(missing)}\n"
            "Write the missing ones only. Do not change the files that are there.\n\n"
        )

    def missing_headings(self, artifact: str, text: str) -> tuple[str, ...]:
        """Required headings that ``text`` lacks, compared without case."""
        rule = next((rule for rule in self.contract.artifacts if rule.name == artifact), None)
        found = {heading.strip().casefold() for heading in HEADING.findall(text)}
        wanted = rule.required_headings if rule else ()
        return tuple(heading for heading in wanted if heading.casefold() not in found)


def load_skill(folder: Path) -> Skill:
    """The skill in ``folder``, which holds ``prompt.md`` and ``contract.yaml``.

    Raises:
        ConfigurationError: a file is missing or has faults; all of them are listed.
    """
    try:
        prompt = (folder / PROMPT_FILE).read_bytes()
        contract = (folder / CONTRACT_FILE).read_bytes()
        document = yaml.safe_load(contract)
        rules = Contract.model_validate(document, strict=False)
        template = prompt.decode()
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the skill cannot be read: {error}", where=folder.name) from None
    except ValidationError as error:
        faults = plain_faults(error, whole="contract")
        raise ConfigurationError(
            "the skill's contract has faults:\n    " + "\n    ".join(faults),
            where=f"{folder.name}/{CONTRACT_FILE}",
        ) from None
    unmarked = [
        mark
        for mark in ("artifacts", "workspace", "problem", "answers", "pass")
        if f"{{{{{mark}}}}}" not in template
    ]
    if unmarked:
        raise ConfigurationError(
            "the prompt lacks marks: " + ", ".join(f"{{{{{mark}}}}}" for mark in unmarked),
            where=f"{folder.name}/{PROMPT_FILE}",
        )
    lengths = f"{len(prompt)} {len(contract)}\n".encode()
    return Skill(rules, template, sha256_of(lengths + prompt + contract))
