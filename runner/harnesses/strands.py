"""Strands: an agent of our own making on the Strands library, over Chat Completions or Messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.isolation import agent_folder, write_json
from runner.harnesses.python_agent import LibraryAgent
from runner.harnesses.strands_driver import KEY_VARIABLE
from runner.harnesses.strands_stream import read_run, show
from runner.harnesses.window import share_out

FULL = 0.8
"""Part of what may be sent that is used before older messages are put into a summary."""

PINNED = Installation(
    source=Source.PYPI,
    package="strands-agents",
    version="1.62.0",
    runtime=Runtime.PYTHON,
    extras=("anthropic", "openai"),
    note="A library; the program that makes an agent of it comes with Harnessmark.",
)


@dataclass(frozen=True)
class Strands(LibraryAgent):
    """The harness ``strands``: a shell, a file editor, and summaries of what no longer fits."""

    inside = Path(__file__).with_name("strands_driver.py")

    name: str = "strands"
    title: str = "Strands Agents"
    homepage: str | None = "https://strandsagents.com"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES)
    turns_definition: str = "cycles of the library's loop: an answer of the model with the tools it calls"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_turns", "max_output_tokens", "timeout_seconds"})
    delegates: bool = False
    memory_mb: int = 130
    notes: tuple[str, ...] = (
        "Strands is a library without a program; this is an agent of few lines on it, which comes with "
        "Harnessmark: the library's own shell and file editor, and a summary of all but the first and the "
        "newest messages when the window is nearly full.",
        "It writes a line for each request to the model, summaries included, so its counts are exact.",
        "It tries a request that failed on the way or at the server up to five times, a line each.",
        "It does not read the instruction files of a repository.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process: prompt on standard input, key in the environment, the rest in a file."""
        settings = write_json(agent_folder(assignment) / "settings.json", settings_of(assignment))
        return self.child(
            assignment,
            (str(settings),),
            {KEY_VARIABLE: assignment.endpoint.api_key},
            files=[settings],
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """Sums over its requests; how it ended is in its last line."""
        return read_run(stdout, assignment.endpoint, self.unkept(assignment))

    def trace(self, line: str) -> str | None:
        """What the model says, the tools it calls, and what went wrong."""
        return show(line)


def settings_of(assignment: Assignment) -> dict[str, object]:
    """What the driver is told: where the model is, and when to summarise."""
    endpoint, limits = assignment.endpoint, assignment.limits
    shares = share_out(endpoint, limits)
    return {
        "protocol": endpoint.protocol.value,
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "window": shares.window,
        "answer": shares.answer,
        "fraction": round(shares.prompt * FULL / shares.window, 3),
        "max_turns": limits.max_turns,
    }
