"""Codex: OpenAI's coding agent, driven by its exec command against a Responses endpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.codex_stream import read_run
from runner.harnesses.codex_trace import trace_event
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.installation import Installation, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import write_text
from runner.harnesses.own_provider import KEY_VARIABLE, PROVIDER
from runner.harnesses.window import filled
from runner.records import Limits

PINNED = Installation(
    source=Source.NPM,
    package="@openai/codex",
    version="0.171.0",
    executable="node_modules/@openai/codex-{npm}/vendor/{rust}/bin/codex",
    note="Speaks only the Responses API: a self-hosted server must offer it, together with a tool "
    "parser that accepts its calls.",
)


@dataclass(frozen=True)
class Codex(InstalledProgram):
    """The harness ``codex``.

    It has no limit on turns, tokens or cost of its own, names no dollars, and waits for ever where nothing
    listens: the supervisor's deadline is what ends it.
    """

    name: str = "codex"
    title: str = "Codex CLI"
    homepage: str | None = "https://github.com/openai/codex"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.RESPONSES,)
    turns_definition: str = "answers of the model in the main thread; not those of subagents"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"timeout_seconds"})
    delegates: bool = True
    memory_mb: int = 200
    notes: tuple[str, ...] = (
        "Tokens are read from its rollout files, because its stream leaves subagents and failed turns out.",
        "It has no limit on turns, tokens or cost of its own: the gateway and the supervisor keep them.",
        "Where nothing listens at the endpoint it waits for ever; the pre-flight and the deadline end that.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin; the key is in its environment, named in its file."""
        endpoint, folder = assignment.endpoint, assignment.home.absolute() / ".codex"
        return self.child(
            assignment,
            (
                *("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
                *("--cd", str(assignment.workspace), "--model", endpoint.model, "-"),
            ),
            {"CODEX_HOME": str(folder), KEY_VARIABLE: endpoint.api_key},
            files=[write_text(folder / "config.toml", settings_text(endpoint, assignment.limits))],
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the stream says of the end, and the rollout files below ``home`` of the tokens."""
        return read_run(
            stdout, assignment.home / ".codex", assignment.endpoint.model, self.unkept(assignment)
        )

    def trace(self, line: str) -> str | None:
        """A message, a command or a failure in a few words."""
        return trace_event(line)


def settings_text(endpoint: Endpoint, limits: Limits) -> str:
    """The settings file: one provider, no analytics, no update check, no search at the vendor, the window.

    The agent summarises early enough that the longest answer still fits.
    """
    lines = [
        f"model = {_quoted(endpoint.model)}",
        f'model_provider = "{PROVIDER}"',
        "check_for_update_on_startup = false",
        'web_search = "disabled"',
    ]
    if endpoint.context_window is not None:
        lines.append(f"model_context_window = {endpoint.context_window}")
        lines.append(f"model_auto_compact_token_limit = {filled(endpoint.context_window, limits)}")
    lines += [
        "",
        f"[model_providers.{PROVIDER}]",
        f'name = "{PROVIDER}"',
        f"base_url = {_quoted(endpoint.base_url)}",
        f'env_key = "{KEY_VARIABLE}"',
        'wire_api = "responses"',
        # All retries are made where they can be seen, and about as patiently as by default.
        "request_max_retries = 0",
        "stream_max_retries = 7",
        "",
        "[features]",
        "shell_snapshot = false",
        "",
        "[shell_environment_policy]",
        f'exclude = ["{KEY_VARIABLE}"]',
        "",
        "[analytics]",
        "enabled = false",
    ]
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    """``value`` as a basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(value, ensure_ascii=True).replace("\\/", "/")
