"""OpenHands: its terminal program, headless, over Chat Completions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.isolation import agent_folder, write_json, write_text
from runner.harnesses.litellm_settings import ALONE, model_name
from runner.harnesses.openhands_stream import read_run, show
from runner.harnesses.python_agent import ChangedAgent
from runner.harnesses.window import share_out

PLAIN_TERMINAL = "set enable-bracketed-paste off\n"
"""Else the marks of its terminal are in the output of every command."""
FULL = 0.8
"""Part of what may be sent that is used before older events are put into a summary."""
PATIENCE = {"num_retries": 5, "retry_min_wait": 1, "retry_multiplier": 2.0, "retry_max_wait": 30}
"""Pauses of some 30 seconds in all; with its own, from 8 seconds up, a hopeless request takes minutes."""
SUMMARIES = {"kind": "LLMSummarizingCondenser", "max_size": 80, "keep_first": 4}
"""As the program sets them by itself; only the limit in tokens is added."""

PINNED = Installation(
    source=Source.PYPI,
    package="openhands",
    version="1.16.0",
    runtime=Runtime.PYTHON,
    script="openhands",
    python="3.12",
    built=("func-timeout",),
    note="Takes 0.7 GB and needs Python 3.12; for others the registry has an empty package of this name.",
)


@dataclass(frozen=True)
class OpenHands(ChangedAgent):
    """The harness ``openhands``. It cannot be told a limit on turns."""

    inside = Path(__file__).with_name("openhands_inside.py")

    name: str = "openhands"
    title: str = "OpenHands"
    homepage: str | None = "https://docs.openhands.dev"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    turns_definition: str = "answers of the model in the main conversation, however many tools each called"
    installation: Installation = PINNED
    kept_limits: frozenset[str] = frozenset({"max_output_tokens", "timeout_seconds"})
    delegates: bool = True
    memory_mb: int = 350
    notes: tuple[str, ...] = (
        "It speaks Chat Completions without streaming and prints its events among other text.",
        "It exits with 0 on a failed model call, and saves its counts only now and then; so each answer is "
        "logged as the library under it received it, and the status that it saved decides.",
        "It is started with a few small changes: hooks and the file .env of the workspace are not obeyed, no "
        "skills are fetched from a public repository, the prompt arrives as it is, and commands run in a "
        "plain terminal, as the tmux server that it would start outlives it.",
        "It reads AGENTS.md and the skills of the repository.",
    )

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is in a file below ``home``, the key in the environment."""
        endpoint, folder = assignment.endpoint, agent_folder(assignment)
        files = (
            write_json(folder / "agent_settings.json", settings(assignment)),
            write_text(folder / "prompt.txt", assignment.prompt),
            write_text(folder / "inputrc", PLAIN_TERMINAL),
        )
        return self.child(
            assignment,
            (str(folder / "prompt.txt"),),
            {
                "OPENHANDS_PERSISTENCE_DIR": str(folder),
                "OPENHANDS_CONVERSATIONS_DIR": str(folder / "conversations"),
                "OPENHANDS_WORK_DIR": str(assignment.workspace.absolute()),
                "INPUTRC": str(folder / "inputrc"),
                "OPENHANDS_SUPPRESS_BANNER": "1",
                **ALONE,
                "LLM_MODEL": model_name(endpoint),
                "LLM_BASE_URL": endpoint.base_url,
                "LLM_API_KEY": endpoint.api_key,
            },
            files=files,
            stdin=False,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """Events for what it said, its state file for how it ended, the log for what it used."""
        conversations = agent_folder(assignment) / "conversations"
        return read_run(stdout, conversations, self.log(assignment), self.unkept(assignment))

    def trace(self, line: str) -> str | None:
        """What the model says, the tools it calls, and an error that ends the run."""
        return show(line)


def settings(assignment: Assignment) -> dict[str, object]:
    """Its usual settings with the window added; its variables add address and key."""
    shares = share_out(assignment.endpoint, assignment.limits)
    model = {
        "model": model_name(assignment.endpoint),
        "max_input_tokens": shares.prompt,
        "max_output_tokens": shares.answer,
        **PATIENCE,
    }
    return {
        "kind": "Agent",
        "llm": {**model, "usage_id": "agent"},
        "tools": [],
        "system_prompt_kwargs": {"cli_mode": True},
        "condenser": {
            **SUMMARIES,
            "max_tokens": int(shares.prompt * FULL),
            "llm": {**model, "usage_id": "condenser"},
        },
    }
