"""InstalledProgram: what the harnesses share whose program ``invoke harness-install`` puts on the machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Assignment, Launch
from runner.harnesses.installation import Installation
from runner.harnesses.isolation import clean_environment, limits_not_kept, search_path
from runner.harnesses.programs import ask_version, installed_command, program_folders
from runner.harnesses.registry import asked_as
from runner.records import CacheSemantics, DataWarning


@dataclass(frozen=True)
class InstalledProgram:
    """A harness with a pinned program of its own; its module adds how it is started and read."""

    name: str
    installation: Installation
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    """What :class:`runner.harnesses.counts.Counts` are; every reader makes those."""
    kept_limits: frozenset[str] = frozenset({"timeout_seconds"})
    """The limits that it keeps itself, as fields of :class:`runner.records.Limits`."""
    search_path: str = field(default_factory=search_path)
    """Where the agent finds commands; nothing else of the caller's environment is passed on."""

    def version(self, installed: Path) -> str:
        """What the program says.

        Raises:
            ConfigurationError: it is not installed.
        """
        return ask_version(self.command(installed), self.variables(installed))

    def child(
        self,
        assignment: Assignment,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        *,
        files: Sequence[Path] = (),
        stdin: bool = True,
        keep_stderr: bool = False,
    ) -> Launch:
        """The program in the workspace, with an environment of its own.

        Args:
            arguments: what follows :meth:`starter`.
            variables: what its environment holds besides what every program finds there; the key is here.
            files: what was written for this start; :meth:`starter_files` come with them.
            stdin: whether the prompt is on its standard input; else it is in one of ``files``.
            keep_stderr: as of :class:`Launch`.

        Raises:
            ConfigurationError: the program is not installed.
        """
        installed = assignment.installed
        return Launch(
            command=(*self.starter(assignment), *arguments),
            environment={
                **clean_environment(assignment, self.commands_path(installed)),
                **self.variables(installed),
                **variables,
            },
            working_directory=assignment.workspace,
            stdin=assignment.prompt.encode() if stdin else b"",
            readable=self.folders(installed),
            configuration=(*files, *self.starter_files(assignment)),
            keep_stderr=keep_stderr,
        )

    def starter(self, assignment: Assignment) -> tuple[str, ...]:
        """What starts the program for a run.

        Raises:
            ConfigurationError: it is not installed.
        """
        return self.command(assignment.installed)

    def starter_files(self, assignment: Assignment) -> tuple[Path, ...]:  # noqa: ARG002 - for others
        """What :meth:`starter` needs below ``home``, written for this start; nothing for most."""
        return ()

    def unkept(self, assignment: Assignment) -> tuple[DataWarning, ...]:
        """A warning for each limit of ``assignment`` that the program cannot keep."""
        return limits_not_kept(assignment.limits, self.name, self.kept_limits)

    def command(self, installed: Path) -> tuple[str, ...]:
        """What starts the program, its runtime first.

        Raises:
            ConfigurationError: it is not installed.
        """
        asked = asked_as(self, self.name)
        return installed_command(self.installation, installed, self.name, asked_as=asked)

    def variables(self, installed: Path) -> dict[str, str]:
        """What the program must find in its environment at every start."""
        return self.installation.variables(self.installation.folder(installed, self.name))

    def commands_path(self, installed: Path) -> str:
        """The search path of the agent, with the commands that were installed beside its program in front."""
        home = self.installation.folder(installed, self.name)
        return os.pathsep.join([*map(str, self.installation.tool_folders(home)), self.search_path])

    def folders(self, installed: Path) -> tuple[Path, ...]:
        """Every folder a sandbox must let the program read."""
        return program_folders(self.installation, installed, self.name)
