"""Loop: the built-in harness, a plain tool loop against any Chat Completions endpoint."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from runner.errors import ConfigurationError
from runner.harnesses import loop_agent
from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation
from runner.harnesses.isolation import search_path
from runner.harnesses.loop_agent.job import Bounds, Job, Patience, Prices, write_job
from runner.harnesses.loop_stream import read_stream
from runner.harnesses.loop_trace import trace_event
from runner.records import CacheSemantics, Limits

KEY_VARIABLE = "HARNESSMARK_API_KEY"
LIMIT_MARGIN = 0.05
MAX_MARGIN_SECONDS = 5.0


@dataclass(frozen=True)
class Loop:
    """The harness ``loop``.

    Args:
        patience: how often and how long its child process tries to reach the model.
        search_path: gives the PATH of the child and of the commands the model runs; nothing else of the
            caller's environment is passed on.
    """

    patience: Patience = field(default_factory=Patience)
    search_path: str = field(default_factory=search_path)
    name: str = "loop"
    title: str = "Loop (built in)"
    homepage: str | None = None
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "answers of the model that arrived whole; repeated requests are not counted"
    installation: Installation | None = None
    delegates: bool = False
    memory_mb: int = 100
    notes: tuple[str, ...] = (
        "It keeps every limit itself: turns, tokens, answer length, cost and time.",
        "It is the plainest agent there is: six tools, no prompt tricks, no subagents. Use it as a baseline.",
    )

    def version(self, installed: Path) -> str:  # noqa: ARG002 - part of the seam
        """Harnessmark's own version.

        Raises:
            ConfigurationError: Harnessmark runs without being installed.
        """
        try:
            return version("harnessmark")
        except PackageNotFoundError:
            raise ConfigurationError(
                "harnessmark is not installed", remedy="install it: pip install -e ."
            ) from None

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The key is in its environment and nowhere else; the job is on its stdin."""
        endpoint = assignment.endpoint
        job = Job(
            prompt=assignment.prompt,
            workspace=assignment.workspace.resolve(),
            artifacts=assignment.artifacts.resolve(),
            base_url=endpoint.base_url,
            model=endpoint.model,
            context_window=endpoint.context_window,
            key_variable=KEY_VARIABLE,
            bounds=_bounds(assignment.limits),
            patience=self.patience,
            prices=Prices(**vars(endpoint.prices)) if endpoint.prices else None,
        )
        return Launch(
            command=(sys.executable, "-I", "-m", "runner.harnesses.loop_agent"),
            environment=self._environment(assignment),
            working_directory=assignment.workspace,
            stdin=write_job(job),
            # Where Harnessmark is installed from its sources, they are not below the interpreter's folder.
            readable=(Path(loop_agent.__file__).parents[2],),
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:  # noqa: ARG002 - part of the seam
        """What the events in ``stdout`` say; a cut stream yields what it still holds."""
        return read_stream(stdout)

    def trace(self, line: str) -> str | None:
        """An event in a few words; its usage and outcome only, never what the model wrote."""
        return trace_event(line)

    def _environment(self, assignment: Assignment) -> Mapping[str, str]:
        here = str(Path(sys.executable).parent)
        return {
            "PATH": os.pathsep.join([here, self.search_path]),
            "HOME": str(assignment.home),
            "LANG": "C.UTF-8",
            # Without its own .git the workspace is no repository, and not part of one further up.
            "GIT_CEILING_DIRECTORIES": str(assignment.workspace.parent),
            KEY_VARIABLE: assignment.endpoint.api_key,
        }


def _bounds(limits: Limits) -> Bounds:
    """The limits for the child: its time ends a little before the supervisor's, so that it ends in order."""
    seconds = limits.timeout_seconds
    if seconds is not None:
        seconds -= min(seconds * LIMIT_MARGIN, MAX_MARGIN_SECONDS)
    return Bounds(
        turns=limits.max_turns,
        tokens=limits.max_tokens,
        answer_tokens=limits.max_output_tokens,
        cost_usd=limits.max_cost_usd,
        seconds=seconds,
    )
