"""PythonAgent: a harness whose program is a Python package, with a start of its own or by a file of ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from runner.harnesses.base import Assignment
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import agent_folder, write_text
from runner.harnesses.python_program import SITE


@dataclass(frozen=True)
class PythonAgent(InstalledProgram):
    """One that its own script starts."""

    def site(self, installed: Path) -> Path:
        """The folder of its packages."""
        return self.installation.folder(installed, self.name).absolute() / SITE


@dataclass(frozen=True)
class OwnStart(PythonAgent):
    """One that a file of ours starts.

    The run has a copy of that file below its home, because the folder it stands in is not in the sandbox.
    """

    inside: ClassVar[Path]
    """That file."""

    def starter_files(self, assignment: Assignment) -> tuple[Path, ...]:
        """The copy for this run."""
        return (write_text(self.start_file(assignment), self.inside.read_text(encoding="utf-8")),)

    @staticmethod
    def start_file(assignment: Assignment) -> Path:
        """Where the copy stands."""
        return agent_folder(assignment) / "start.py"


@dataclass(frozen=True)
class LibraryAgent(OwnStart):
    """A library that is no program: the file is the agent, and can import that library and what it needs."""

    def starter(self, assignment: Assignment) -> tuple[str, ...]:
        """The library's launcher, with the file."""
        return (*self.command(assignment.installed), str(self.start_file(assignment)))


@dataclass(frozen=True)
class ChangedAgent(OwnStart):
    """A program that the file starts with small changes, and logs what the library below it received.

    The folder of the packages and the log are the first arguments of the file.
    """

    def starter(self, assignment: Assignment) -> tuple[str, ...]:
        """The interpreter, not the package's own script, with the file."""
        *python, _ = self.command(assignment.installed)
        start, site = self.start_file(assignment), self.site(assignment.installed)
        return (*python, str(start), str(site), str(self.log(assignment)))

    @staticmethod
    def log(assignment: Assignment) -> Path:
        """What each answer used, a line each."""
        return agent_folder(assignment) / "answers.jsonl"
