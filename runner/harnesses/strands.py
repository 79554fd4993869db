"""Strands: an agent of our own making on the Strands library, over Chat Completions or Messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.counts import lower_bound, not_reported, reasoning_not_reported
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.isolation import clean_environment, limits_not_kept, write_json
from runner.harnesses.strands_driver import KEY_VARIABLE
from runner.harnesses.strands_stream import Heard, hear, show
from runner.harnesses.window import share_out
from runner.records import CacheSemantics, DataWarning

DRIVER = Path(__file__).with_name("strands_driver.py")
KEPT_LIMITS = frozenset({"max_turns", "max_output_tokens", "timeout_seconds"})
FULL = 0.8
"""Part of what may be sent that is used before older messages are put into a summary."""

PINNED = Installation(
    source=Source.PYPI,
    package="strands-agents",
    version="1.62.0",
    executable="",
    runtime=Runtime.PYTHON,
    extras=("anthropic", "openai"),
    note="A library; the program that makes an agent of it comes with Harnessmark.",
)


@dataclass(frozen=True)
class Strands(InstalledProgram):
    """The harness ``strands``: a shell, a file editor, and summaries of what no longer fits."""

    name: str = "strands"
    title: str = "Strands Agents"
    homepage: str | None = "https://strandsagents.com"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "cycles of the library's loop: an answer of the model with the tools it calls"
    installation: Installation = PINNED
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
        """The child process: prompt on standard input, key in the environment, the rest in a file.

        Raises:
            ConfigurationError: the library is not installed.
        """
        folder = assignment.home.absolute() / "agent"
        settings = write_json(folder / "settings.json", settings_of(assignment))
        driver = folder / "driver.py"
        driver.write_text(DRIVER.read_text(encoding="utf-8"), encoding="utf-8")
        return Launch(
            command=(*self.command(assignment.installed), str(driver), str(settings)),
            environment={
                **clean_environment(assignment, self.search_path),
                KEY_VARIABLE: assignment.endpoint.api_key,
            },
            working_directory=assignment.workspace,
            stdin=assignment.prompt.encode(),
            readable=self.folders(assignment.installed),
            configuration=(settings, driver),
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """Sums over its requests; how it ended is in its last line."""
        heard = hear(stdout, assignment.endpoint.protocol)
        usage = heard.usage
        return Reading(
            stop_reason=heard.stop_reason,
            is_error=not heard.finished,
            error=heard.error,
            usage=usage,
            usage_by_model={assignment.endpoint.model: usage} if usage and heard.calls else {},
            turns=heard.turns,
            retries=heard.retries if heard.started else None,
            limit_hit=heard.limit_hit,
            warnings=(
                *_warnings(heard),
                *limits_not_kept(assignment.limits, self.name, KEPT_LIMITS),
            ),
        )

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


def _warnings(heard: Heard) -> Iterator[DataWarning]:
    if heard.silent:
        yield not_reported(heard.silent)
    elif any(counts.reasoning is None for counts in heard.calls):
        yield reasoning_not_reported()
    if heard.lost:
        yield lower_bound(f"{heard.lost} requests were broken off, perhaps with an answer under way")
