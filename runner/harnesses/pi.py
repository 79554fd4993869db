"""Pi: the coding agent of that name, driven in its JSON mode against Chat, Responses or Messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import agent_folder, write_json
from runner.harnesses.own_provider import KEY_VARIABLE, PROVIDER
from runner.harnesses.pi_settings import (
    API_KINDS,
    compatibility,
    models,
    own_instructions,
    reserve_tokens,
)
from runner.harnesses.pi_stream import read_stream, trace_event
from runner.records import Limits

PINNED = Installation(
    source=Source.NPM,
    package="@earendil-works/pi-coding-agent",
    version="1.6.0",
    executable="node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js",
    runtime=Runtime.NODE,
    note="Needs Node 22.19 or newer, which is installed with it.",
)


@dataclass(frozen=True)
class Pi(InstalledProgram):
    """The harness ``pi``. It has no subagents, no permission questions and no limit on turns."""

    name: str = "pi"
    title: str = "pi"
    homepage: str | None = "https://pi.dev"
    protocols: tuple[WireProtocol, ...] = tuple(API_KINDS)
    turns_definition: str = "answers of the model; those that ended in an error are not counted"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_output_tokens", "timeout_seconds"})
    delegates: bool = False
    memory_mb: int = 200
    notes: tuple[str, ...] = (
        "It exits with 0 whatever happened; the stop reason of its last answer decides.",
        "It has four tools, no subagents and no permission questions, and its requests are the shortest.",
        "Retries of a failed request show in its stream; answers that failed are not turns.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The prompt is on its stdin; the key is in its environment, named in its files."""
        endpoint, limits, folder = assignment.endpoint, assignment.limits, agent_folder(assignment)
        told = {"apiKey": f"${KEY_VARIABLE}", "compat": compatibility(endpoint)}
        return self.child(
            assignment,
            (
                *("-p", "--mode", "json", "--no-session", "--no-extensions", "--no-mcp"),
                *("--provider", PROVIDER, "--model", endpoint.model),
                *("--no-context-files", *own_instructions(assignment.workspace)),
            ),
            {
                "PI_CODING_AGENT_DIR": str(folder),
                "PI_OFFLINE": "1",
                "PI_TELEMETRY": "0",
                # Only its client of Bedrock looks at it, which else speaks a version that few gateways do.
                "AWS_BEDROCK_FORCE_HTTP1": "1",
                KEY_VARIABLE: endpoint.api_key,
            },
            files=[
                write_json(folder / "models.json", models(endpoint, limits, provider=told, model={})),
                write_json(folder / "settings.json", settings(endpoint, limits)),
            ],
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the events in ``stdout`` add up to; a cut stream yields what it still holds."""
        return read_stream(stdout, self.unkept(assignment))

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or a retry in a few words."""
        return trace_event(line)


def settings(endpoint: Endpoint, limits: Limits) -> dict[str, object]:
    """The settings file: summarise early enough that the longest answer still fits."""
    return {"compaction": {"enabled": True, "reserveTokens": reserve_tokens(endpoint, limits)}}
