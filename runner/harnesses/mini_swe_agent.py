"""mini-swe-agent: the agent with one tool, a shell, driven against Chat, Messages or Responses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import clean_environment, limits_not_kept, write_yaml
from runner.harnesses.mini_trajectory import read_trajectory
from runner.harnesses.python_program import SITE
from runner.records import CacheSemantics

LIBRARY_PREFIX = {
    WireProtocol.CHAT_COMPLETIONS: "openai",
    WireProtocol.MESSAGES: "anthropic",
    WireProtocol.RESPONSES: "openai",
}
"""What the library under the agent wants before a model's name to know how to speak to it."""
VARIABLES = {"openai": "OPENAI", "anthropic": "ANTHROPIC"}
ATTEMPTS = 5
"""At a failing request, some 20 seconds in all; with its own 10, a hopeless one takes minutes."""
KEPT_LIMITS = frozenset({"max_turns", "max_output_tokens", "timeout_seconds"})
STEP = re.compile(r"^mini-swe-agent \(step (\d+), \$[\d.]+\):")

PINNED = Installation(
    source=Source.PYPI,
    package="mini-swe-agent",
    version="2.4.6",
    executable="",
    runtime=Runtime.PYTHON,
    script="mini",
    note="Takes 0.7 GB, for the libraries it needs.",
)


@dataclass(frozen=True)
class MiniSweAgent(InstalledProgram):
    """The harness ``mini-swe-agent``. It has no subagents and never summarises what went before."""

    name: str = "mini-swe-agent"
    title: str = "mini-SWE-agent"
    homepage: str | None = "https://mini-swe-agent.com"
    protocols: tuple[WireProtocol, ...] = tuple(LIBRARY_PREFIX)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "responses of the model in the trajectory, those of a wrong form included"
    installation: Installation = PINNED
    delegates: bool = False
    memory_mb: int = 230
    notes: tuple[str, ...] = (
        "Its one tool is a shell; a run ends when the model runs the command that submits its work.",
        "It cannot be told the context window and does not summarise: a long run ends in the server's error.",
        "It exits with 0 at its limit of turns; the status in its trajectory decides.",
        "Failed requests are repeated without a trace, so the number of retries is unknown.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The task stands in its configuration, the key in its environment.

        Raises:
            ConfigurationError: the program is not installed.
        """
        folder = assignment.home.absolute() / "agent"
        written = write_yaml(folder / "run.yaml", settings(assignment))
        # Given by its place: under its name alone the workspace's file of that name would be taken.
        site = self.installation.folder(assignment.installed, self.name).absolute() / SITE
        usual = site / "minisweagent" / "config" / "mini.yaml"
        vendor = VARIABLES[LIBRARY_PREFIX[assignment.endpoint.protocol]]
        return Launch(
            command=(
                *self.command(assignment.installed),
                *("-c", str(usual), "-c", str(written), "-o", str(self.trajectory(assignment))),
            ),
            environment={
                **clean_environment(assignment, self.search_path),
                "MSWEA_CONFIGURED": "true",
                "MSWEA_SILENT_STARTUP": "1",
                "MSWEA_GLOBAL_CONFIG_DIR": str(folder),
                "MSWEA_COST_TRACKING": "ignore_errors",
                "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": str(ATTEMPTS),
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                # Else it takes variables from a file .env in any folder above its own.
                "LITELLM_MODE": "PRODUCTION",
                f"{vendor}_API_BASE": assignment.endpoint.base_url,
                f"{vendor}_API_KEY": assignment.endpoint.api_key,
            },
            working_directory=assignment.workspace,
            readable=self.folders(assignment.installed),
            configuration=(written,),
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:  # noqa: ARG002 - says nothing that counts
        """What the responses in its trajectory add up to."""
        missing = limits_not_kept(assignment.limits, self.name, KEPT_LIMITS)
        return read_trajectory(self.trajectory(assignment), missing)

    def trace(self, line: str) -> str | None:
        """That an answer came; what it says stands in lines that cannot be told from others."""
        step = STEP.match(line)
        return f"answer {step[1]}" if step else None

    @staticmethod
    def trajectory(assignment: Assignment) -> Path:
        """The file it writes after every step."""
        return assignment.home.absolute() / "agent" / "trajectory.json"


def settings(assignment: Assignment) -> dict[str, object]:
    """What is added to its usual configuration: the task, the model, and nobody to ask."""
    endpoint, limits = assignment.endpoint, assignment.limits
    longest = {"max_tokens": limits.max_output_tokens} if limits.max_output_tokens else {}
    if endpoint.protocol is WireProtocol.RESPONSES:
        longest = {"max_output_tokens": limits.max_output_tokens} if limits.max_output_tokens else {}
    responses = endpoint.protocol is WireProtocol.RESPONSES
    return {
        "run": {"task": assignment.prompt},
        "agent": {
            "mode": "yolo",
            "confirm_exit": False,
            "cost_limit": 0,
            "step_limit": limits.max_turns or 0,
        },
        "model": {
            "model_name": f"{LIBRARY_PREFIX[endpoint.protocol]}/{endpoint.model}",
            "model_class": "litellm_response" if responses else "litellm",
            "model_kwargs": {"drop_params": True, **longest},
        },
    }
