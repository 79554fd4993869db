"""aider: the pair programmer without tools, which edits by blocks of text, against Chat or Messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.aider_log import read_log
from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.isolation import agent_folder, write_json, write_text, write_yaml
from runner.harnesses.python_agent import VENDORS, ChangedAgent, library_variables, model_name
from runner.harnesses.trace import plain
from runner.harnesses.window import DEFAULT_WINDOW, longest_answer

MOST_FILES = 50
TOLD = re.compile(r"^(?:Tokens: |Applied edit to |Added |Retrying in |litellm\.\w+|The LLM did not conform)")
QUIET = (
    *("--yes-always", "--no-stream", "--no-pretty", "--no-fancy-input", "--no-restore-chat-history"),
    *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-suggest-shell-commands"),
    *("--no-detect-urls", "--disable-playwright", "--analytics-disable", "--no-check-update"),
    *("--no-show-release-notes", "--no-show-model-warnings", "--encoding", "utf-8"),
)
"""Nobody is asked, nothing is committed or looked up, and answers come whole: of streamed ones it keeps no
counts."""

PINNED = Installation(
    source=Source.PYPI,
    package="aider-chat",
    version="0.86.2",
    executable="",
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
            self.written_start(assignment),
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


def metadata(assignment: Assignment) -> dict[str, object]:
    """What it is told of the model: its window and longest answer, and no prices."""
    endpoint = assignment.endpoint
    longest = longest_answer(endpoint, assignment.limits)
    return {
        "max_input_tokens": (endpoint.context_window or DEFAULT_WINDOW) - longest,
        "max_output_tokens": longest,
        "max_tokens": longest,
        "litellm_provider": VENDORS[endpoint.protocol],
        "mode": "chat",
    }


def model_settings(model: str, assignment: Assignment) -> dict[str, object]:
    """How it is to use the model: with a map of the repository, and with the server's own temperature."""
    longest = assignment.limits.max_output_tokens
    return {
        "name": model,
        "edit_format": "diff",
        "use_repo_map": True,
        "use_temperature": False,
        **({"extra_params": {"max_tokens": longest}} if longest else {}),
    }


def _as_message(prompt: str) -> str:
    """``prompt`` so that it is no command of the agent's own, as its first character may make it."""
    return f"\n{prompt}" if prompt[:1] in {"/", "!"} else prompt
