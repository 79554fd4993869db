"""GeminiCli: Google's coding agent, driven in its streaming JSON mode against generateContent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.gemini_settings import NO_GUESTS, UNATTENDED, program_variables, settings_for
from runner.harnesses.gemini_stream import read_run, trace_event
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import write_json
from runner.records import DataWarning

PINNED = Installation(
    source=Source.NPM,
    package="@google/gemini-cli",
    version="0.61.0",
    executable="node_modules/@google/gemini-cli/bundle/gemini.js",
    runtime=Runtime.NODE,
    note="Speaks only generateContent, which few servers but Google's own offer.",
)


@dataclass(frozen=True)
class GeminiCli(InstalledProgram):
    """The harness ``gemini-cli``.

    Its settings name one model for every request, also for those by which it watches itself for loops.
    """

    name: str = "gemini-cli"
    title: str = "Gemini CLI"
    homepage: str | None = "https://github.com/google-gemini/gemini-cli"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.GENERATE_CONTENT,)
    turns_definition: str = "answers of the model in the main conversation; not those of subagents"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_turns", "max_output_tokens", "timeout_seconds"})
    delegates: bool = True
    memory_mb: int = 800
    notes: tuple[str, ...] = (
        "Tokens are those of its last line, subagents included, told as input with the cache in it and "
        "output without thinking; they are taken apart. A run without an end is read from its session files.",
        "It retries a failed request up to ten times; an answer that breaks off in the middle ends it.",
        "Its exit code after a failed request is the HTTP status modulo 256; the last line decides instead.",
        "Its own limit on turns counts requests of the main conversation. Web search and fetch are off.",
        "It is told at which share of its assumed window to summarise, but does so only between messages of "
        "a user: one long task can outgrow a small window.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin, the key in its environment."""
        home, endpoint = assignment.home.absolute(), assignment.endpoint
        none = home / "no-settings.json"
        told = settings_for(endpoint, assignment.limits, assignment.artifacts)
        return self.child(
            assignment,
            ("--model", endpoint.model, *UNATTENDED, *NO_GUESTS),
            {
                "GEMINI_API_KEY": endpoint.api_key,
                "GOOGLE_GEMINI_BASE_URL": endpoint.base_url,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                **program_variables("GEMINI_CLI", settings=none, defaults=none),
            },
            files=[write_json(home / ".gemini" / "settings.json", told)],
            keep_stderr=True,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the last line says, or, where there is none, what the session files below ``home`` hold."""
        notes = (*self.unkept(assignment), *workspace_settings(assignment.workspace))
        return read_run(stdout, assignment.home / ".gemini", notes)

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or the result in a few words."""
        return trace_event(line)


def workspace_settings(workspace: Path) -> Iterator[DataWarning]:
    """A warning where the repository brings settings of its own.

    The agent obeys them over the user's, and would obey others still only in a folder that is the
    machine's own. Model, permissions, extensions and servers are on its command line, which beats both.
    """
    if (workspace / ".gemini" / "settings.json").is_file():
        yield DataWarning(
            code="workspace-settings",
            text="the repository has settings for this agent (.gemini/settings.json), which it obeys",
        )
