"""aider: the pair programmer without tools, which edits by blocks of text, against Chat or Messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.aider_log import read_log
from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import clean_environment, limits_not_kept, write_json, write_yaml
from runner.harnesses.python_program import SITE
from runner.harnesses.trace import plain
from runner.records import CacheSemantics

LIBRARY_PREFIX = {WireProtocol.CHAT_COMPLETIONS: "openai", WireProtocol.MESSAGES: "anthropic"}
"""What the library under the agent wants before a model's name to know how to speak to it."""
INSIDE = Path(__file__).with_name("aider_inside.py")
KEPT_LIMITS = frozenset({"max_output_tokens", "timeout_seconds"})
MOST_FILES = 50
DEFAULT_WINDOW = 200_000
DEFAULT_OUTPUT = 32_000
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
class Aider(InstalledProgram):
    """The harness ``aider``. It has no tools, no subagents and no limit on turns."""

    name: str = "aider"
    title: str = "aider"
    homepage: str | None = "https://aider.chat"
    protocols: tuple[WireProtocol, ...] = tuple(LIBRARY_PREFIX)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "answers of the model, summaries of the talk included"
    installation: Installation = PINNED
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
        """The child process. The prompt is in a file below ``home``, the key in the environment.

        Raises:
            ConfigurationError: the program is not installed.
        """
        folder = assignment.home.absolute() / "agent"
        model = f"{LIBRARY_PREFIX[assignment.endpoint.protocol]}/{assignment.endpoint.model}"
        files = (
            write_json(folder / "metadata.json", {model: metadata(assignment)}),
            write_yaml(folder / "settings.yml", [model_settings(model, assignment)]),
            _write(folder / "prompt.txt", _as_message(assignment.prompt)),
            _write(folder / "start.py", INSIDE.read_text(encoding="utf-8")),
        )
        *python, _ = self.command(assignment.installed)
        site = self.installation.folder(assignment.installed, self.name).absolute() / SITE
        vendor = LIBRARY_PREFIX[assignment.endpoint.protocol].upper()
        return Launch(
            command=(
                *python,
                *(str(folder / "start.py"), str(site), str(self.log(assignment)), str(folder / "tags")),
                *("--model", model, "--weak-model", model, "--editor-model", model),
                *("--edit-format", "diff", "--message-file", str(folder / "prompt.txt")),
                *("--model-metadata-file", str(folder / "metadata.json")),
                *("--model-settings-file", str(folder / "settings.yml")),
                *("--chat-history-file", str(folder / "chat.md")),
                *("--input-history-file", str(folder / "input")),
                *QUIET,
                *files_to_show(assignment.workspace),
            ),
            environment={
                **clean_environment(assignment, self.search_path),
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                # Else it takes variables from a file .env in any folder above its own.
                "LITELLM_MODE": "PRODUCTION",
                # Its checks of changed files are other programs of its own packages.
                "PYTHONPATH": str(site),
                f"{vendor}_API_BASE": assignment.endpoint.base_url,
                f"{vendor}_API_KEY": assignment.endpoint.api_key,
            },
            working_directory=assignment.workspace,
            readable=self.folders(assignment.installed),
            configuration=files,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:  # noqa: ARG002 - its counts are rounded
        """What the answers in its log add up to."""
        missing = limits_not_kept(assignment.limits, self.name, KEPT_LIMITS)
        # Over Messages its library says 0 whatever the server told.
        tells = assignment.endpoint.protocol is not WireProtocol.MESSAGES
        return read_log(self.log(assignment), missing, tells_reasoning=tells)

    def trace(self, line: str) -> str | None:
        """An edit, a file it took up, an answer's tokens or a failure."""
        return plain(line) if TOLD.match(line) else None

    @staticmethod
    def log(assignment: Assignment) -> Path:
        """What each answer used, a line each."""
        return assignment.home.absolute() / "agent" / "answers.jsonl"


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
    endpoint, limits = assignment.endpoint, assignment.limits
    window = endpoint.context_window or DEFAULT_WINDOW
    longest = min(limits.max_output_tokens or DEFAULT_OUTPUT, max(window // 2, 1))
    return {
        "max_input_tokens": window - longest,
        "max_output_tokens": longest,
        "max_tokens": longest,
        "litellm_provider": LIBRARY_PREFIX[endpoint.protocol],
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


def _write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="")
    return path
