"""aider: the pair programmer without tools, which edits by blocks of text, against Chat or Messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.aider_log import read_log
from runner.harnesses.aider_settings import QUIET, metadata, model_settings
from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.isolation import agent_folder, write_json, write_text, write_yaml
from runner.harnesses.litellm_settings import library_variables, model_name
from runner.harnesses.python_agent import ChangedAgent
from runner.harnesses.trace import plain

MOST_FILES = 50
TOLD = re.compile(r"^(?:Tokens: |Applied edit to |Added |Retrying in |litellm\.\w+|The LLM did not conform)")

PINNED = Installation(
    source=Source.PYPI,
    package="aider-chat",
    version="0.86.2",
    runtime=Runtime.PYTHON,
    script="aider",
    note="Takes 0.7 GB, for the libraries it needs.",
)


@dataclass(frozen=True)
class Aider(ChangedAgent):
    """The harness ``aider``. It has no tools, no subagents and no limit on turns."""

    inside = Path(__file__).with_name("aider_inside.py")

    name: str = "aider"
    title: str = "aider"
    homepage: str | None = "https://aider.chat"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES)
    turns_definition: str = "answers of the model, summaries of the talk included"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_output_tokens", "timeout_seconds"})
    delegates: bool = False
    memory_mb: int = 250
    notes: tuple[str, ...] = (
        "It gives the model no tools: the model sees a map of the repository, names the files it wants to "
        "see and answers with blocks of text to replace. It runs no commands, tests included.",
        "What it shows of tokens is rounded, so each answer is logged as the library under it received it.",
        "It is started with three small changes: the workspace's settings are not read, its cache stays out "
        "of the workspace, and it may write the artifacts, which lie outside its repository.",
        "It exits with 0 whatever happened; the last answer decides. Requests that the library repeated by "
        "itself do not show, so the number of retries is unknown.",
        "It does not read the instruction files of a repository.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is in a file below ``home``, the key in the environment."""
        folder, model = agent_folder(assignment), model_name(assignment.endpoint)
        files = (
            write_json(folder / "metadata.json", {model: metadata(assignment)}),
            write_yaml(folder / "settings.yml", [model_settings(model, assignment)]),
            write_text(folder / "prompt.txt", _as_message(assignment.prompt)),
        )
        return self.child(
            assignment,
            (
                str(folder / "tags"),
                *("--model", model, "--weak-model", model, "--editor-model", model),
                *("--edit-format", "diff", "--message-file", str(folder / "prompt.txt")),
                *("--model-metadata-file", str(folder / "metadata.json")),
                *("--model-settings-file", str(folder / "settings.yml")),
                *("--chat-history-file", str(folder / "chat.md")),
                *("--input-history-file", str(folder / "input")),
                *QUIET,
                *files_to_show(assignment.workspace),
            ),
            {
                # Its checks of changed files are other programs of its own packages.
                "PYTHONPATH": str(self.site(assignment.installed)),
                **library_variables(assignment.endpoint),
            },
            files=files,
            stdin=False,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:  # noqa: ARG002 - its counts are rounded
        """What the answers in its log add up to."""
        # Over Messages its library says 0 whatever the server told.
        tells = assignment.endpoint.protocol is not WireProtocol.MESSAGES
        return read_log(self.log(assignment), self.unkept(assignment), tells_reasoning=tells)

    def trace(self, line: str) -> str | None:
        """An edit, a file it took up, an answer's tokens or a failure."""
        return plain(line) if TOLD.match(line) else None


def files_to_show(workspace: Path) -> tuple[str, ...]:
    """Nothing for a repository, whose files it finds; else the files, and that there is no repository.

    By itself it would make one.
    """
    if (workspace / ".git").exists():
        return ()
    found = sorted(path for path in workspace.absolute().rglob("*") if path.is_file())
    return ("--no-git", "--", *map(str, found[:MOST_FILES]))


def _as_message(prompt: str) -> str:
    """``prompt`` so that it is no command of the agent's own, as its first character may make it."""
    return f"\n{prompt}" if prompt[:1] in {"/", "!"} else prompt
