"""PythonAgent: a harness whose program is a Python package that speaks to its model through litellm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import agent_folder, write_text
from runner.harnesses.python_program import SITE

VENDORS: Mapping[WireProtocol, str] = {
    WireProtocol.CHAT_COMPLETIONS: "openai",
    WireProtocol.MESSAGES: "anthropic",
    WireProtocol.RESPONSES: "openai",
}
"""What the library wants before a model's name, and in its variables, to know how to speak to it."""
ALONE: Mapping[str, str] = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    # Else it takes variables from a file .env in any folder above its own.
    "LITELLM_MODE": "PRODUCTION",
}
"""Variables with which the library fetches nothing and obeys nothing of the workspace."""


def model_name(endpoint: Endpoint) -> str:
    """The model as the library names it."""
    return f"{VENDORS[endpoint.protocol]}/{endpoint.model}"


def library_variables(endpoint: Endpoint) -> dict[str, str]:
    """Address and key, as the library itself looks for them, and :data:`ALONE`."""
    vendor = VENDORS[endpoint.protocol].upper()
    return {**ALONE, f"{vendor}_API_BASE": endpoint.base_url, f"{vendor}_API_KEY": endpoint.api_key}


@dataclass(frozen=True)
class PythonAgent(InstalledProgram):
    """One that its own script starts."""

    def site(self, installed: Path) -> Path:
        """The folder of its packages."""
        return self.installation.folder(installed, self.name).absolute() / SITE


@dataclass(frozen=True)
class ChangedAgent(PythonAgent):
    """One that a file of ours starts with small changes, which logs what the library received.

    The run has a copy of that file below its home, because the project is not in its sandbox.
    """

    inside: ClassVar[Path]
    """That file; the folder of the packages and the log are its first arguments."""

    def starter(self, assignment: Assignment) -> tuple[str, ...]:
        """The interpreter, not the package's own script, with the file."""
        *python, _ = self.command(assignment.installed)
        start, site = agent_folder(assignment) / "start.py", self.site(assignment.installed)
        return (*python, str(start), str(site), str(self.log(assignment)))

    def starter_files(self, assignment: Assignment) -> tuple[Path, ...]:
        """The copy for this run."""
        text = self.inside.read_text(encoding="utf-8")
        return (write_text(agent_folder(assignment) / "start.py", text),)

    @staticmethod
    def log(assignment: Assignment) -> Path:
        """What each answer used, a line each."""
        return agent_folder(assignment) / "answers.jsonl"
