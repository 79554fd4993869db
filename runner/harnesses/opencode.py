"""OpenCode: the coding agent of that name, driven by its run command against Chat, Messages or Responses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import write_json
from runner.harnesses.opencode_settings import CLIENTS, settings_for
from runner.harnesses.opencode_stream import read_run, trace_event
from runner.harnesses.own_provider import KEY_VARIABLE, PROVIDER

SWITCHES = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_SHARE",
)

PINNED = Installation(
    source=Source.NPM,
    package="opencode-ai",
    version="1.18.33",
    executable="node_modules/opencode-{npm}{musl}/bin/opencode",
    # Its own search tools fetch this from the network where there is none on the search path.
    beside=("@vscode/ripgrep@1.18.0",),
    tools=("node_modules/@vscode/ripgrep-{npm}/bin",),
    note="Its package holds two builds of the program, one of them for old processors.",
)
PLUGIN_KIT = {"@opencode-ai/plugin": PINNED.version}
"""What it would fetch from the registry at every start, for plugins that nobody asked for.

A package that the lock file names counts as there.
"""


@dataclass(frozen=True)
class OpenCode(InstalledProgram):
    """The harness ``opencode``. It keeps no limit on turns, tokens or cost by itself."""

    name: str = "opencode"
    title: str = "OpenCode"
    homepage: str | None = "https://opencode.ai"
    protocols: tuple[WireProtocol, ...] = tuple(CLIENTS)
    turns_definition: str = "finished answers of the model in the main session; not those of subagents"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_output_tokens", "timeout_seconds"})
    delegates: bool = True
    memory_mb: int = 700
    notes: tuple[str, ...] = (
        "Tokens are read from its database, because its stream leaves out subagents. It counts reasoning "
        "apart; here it is part of the output.",
        "It repeats a failed request five times with growing pauses, for more than a minute in all, and says "
        "nothing meanwhile; the retries are counted from its log.",
        "An answer that ends for no reason it knows is asked for again for ever. Over Responses that is so "
        "with every answer of a server that tells no token counts; the deadline ends it.",
        "Of what a repository brings for it, its instruction file is read; settings, agents and plugins are "
        "not loaded.",
        "Its tools for the web are off.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin; the key is in its environment, named in its file."""
        folder = assignment.home.absolute() / "settings"
        settings = write_json(
            folder / "opencode.json",
            settings_for(assignment.endpoint, assignment.limits, assignment.workspace),
        )
        own = assignment.home.absolute() / ".config" / "opencode"
        (own / "node_modules").mkdir(parents=True, exist_ok=True)
        lock = write_json(own / "package-lock.json", {"packages": {"": {"dependencies": PLUGIN_KIT}}})
        return self.child(
            assignment,
            (
                # With a title of ours it does not ask the model for one.
                *("run", "--format", "json", "--pure", "--title", "run"),
                *("--model", f"{PROVIDER}/{assignment.endpoint.model}"),
            ),
            {
                **dict.fromkeys(SWITCHES, "1"),
                "OPENCODE_CONFIG": str(settings),
                # In place of the machine's own settings, which would win over these.
                "OPENCODE_TEST_MANAGED_CONFIG_DIR": str(folder / "none"),
                KEY_VARIABLE: assignment.endpoint.api_key,
            },
            files=[settings, lock],
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the stream says of the end, and the database below ``home`` of the tokens."""
        data = assignment.home / ".local" / "share" / "opencode"
        return read_run(stdout, data, assignment.endpoint.model, self.unkept(assignment))

    def trace(self, line: str) -> str | None:
        """An answer, a tool call or a failure in a few words."""
        return trace_event(line)
