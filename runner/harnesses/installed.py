"""InstalledProgram: what the harnesses share whose program ``invoke harness-install`` puts on the machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.installation import Installation
from runner.harnesses.isolation import search_path
from runner.harnesses.programs import ask_version, installed_command, program_folders


@dataclass(frozen=True)
class InstalledProgram:
    """A harness with a pinned program of its own; its module adds how it is started and read."""

    name: str
    installation: Installation
    search_path: str = field(default_factory=search_path)
    """Where the agent finds commands; nothing else of the caller's environment is passed on."""

    def version(self, installed: Path) -> str:
        """What the program says.

        Raises:
            ConfigurationError: it is not installed.
        """
        return ask_version(self.command(installed), self.variables(installed))

    def command(self, installed: Path) -> tuple[str, ...]:
        """What starts the program, its runtime first.

        Raises:
            ConfigurationError: it is not installed.
        """
        return installed_command(self.installation, installed, self.name)

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
