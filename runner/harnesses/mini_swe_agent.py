"""mini-swe-agent: the agent with one tool, a shell, driven against Chat, Messages or Responses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.isolation import agent_folder, known, write_yaml
from runner.harnesses.litellm_settings import VENDORS, library_variables, model_name
from runner.harnesses.mini_trajectory import read_trajectory
from runner.harnesses.python_agent import PythonAgent

ATTEMPTS = 5
"""At a failing request, some 20 seconds in all; with its own 10, a hopeless one takes minutes."""
STEP = re.compile(r"^mini-swe-agent \(step (\d+), \$[\d.]+\):")

PINNED = Installation(
    source=Source.PYPI,
    package="mini-swe-agent",
    version="2.4.6",
    runtime=Runtime.PYTHON,
    script="mini",
    note="Takes 0.7 GB, for the libraries it needs.",
)


@dataclass(frozen=True)
class MiniSweAgent(PythonAgent):
    """The harness ``mini-swe-agent``. It has no subagents and never summarises what went before."""

    name: str = "mini-swe-agent"
    title: str = "mini-SWE-agent"
    homepage: str | None = "https://mini-swe-agent.com"
    protocols: tuple[WireProtocol, ...] = tuple(VENDORS)
    turns_definition: str = "responses of the model in the trajectory, those of a wrong form included"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_turns", "max_output_tokens", "timeout_seconds"})
    delegates: bool = False
    memory_mb: int = 230
    notes: tuple[str, ...] = (
        "Its one tool is a shell; a run ends when the model runs the command that submits its work.",
        "It cannot be told the context window and does not summarise: a long run ends in the server's error.",
        "It exits with 0 at its limit of turns; the status in its trajectory decides.",
        "Failed requests are repeated without a trace, so the number of retries is unknown.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The task stands in its configuration, the key in its environment."""
        folder = agent_folder(assignment)
        written = write_yaml(folder / "run.yaml", settings(assignment))
        # Given by its place: under its name alone the workspace's file of that name would be taken.
        usual = self.site(assignment.installed) / "minisweagent" / "config" / "mini.yaml"
        return self.child(
            assignment,
            ("-c", str(usual), "-c", str(written), "-o", str(self.trajectory(assignment))),
            {
                "MSWEA_CONFIGURED": "true",
                "MSWEA_SILENT_STARTUP": "1",
                "MSWEA_GLOBAL_CONFIG_DIR": str(folder),
                "MSWEA_COST_TRACKING": "ignore_errors",
                "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": str(ATTEMPTS),
                **library_variables(assignment.endpoint),
            },
            files=[written],
            stdin=False,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:  # noqa: ARG002 - says nothing that counts
        """What the responses in its trajectory add up to."""
        return read_trajectory(self.trajectory(assignment), self.unkept(assignment))

    def trace(self, line: str) -> str | None:
        """That an answer came; what it says stands in lines that cannot be told from others."""
        step = STEP.match(line)
        return f"answer {step[1]}" if step else None

    @staticmethod
    def trajectory(assignment: Assignment) -> Path:
        """The file it writes after every step."""
        return agent_folder(assignment) / "trajectory.json"


def settings(assignment: Assignment) -> dict[str, object]:
    """What is added to its usual configuration: the task, the model, and nobody to ask."""
    endpoint, limits = assignment.endpoint, assignment.limits
    responses = endpoint.protocol is WireProtocol.RESPONSES
    named = "max_output_tokens" if responses else "max_tokens"
    return {
        "run": {"task": assignment.prompt},
        "agent": {
            "mode": "yolo",
            "confirm_exit": False,
            "cost_limit": 0,
            "step_limit": limits.max_turns or 0,
        },
        "model": {
            "model_name": model_name(endpoint),
            "model_class": "litellm_response" if responses else "litellm",
            "model_kwargs": {"drop_params": True, **known({named: limits.max_output_tokens})},
        },
    }
