"""AgenticJudge: what judges share that are coding agents: one start, one answer, and what was read for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.base import Assignment, Harness, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.judges.base import AGENTIC, Question, Reply, Start
from runner.judges.grounding import ToolUse, files_read

OUTPUT = ".stdout"
"""Ending of the file beside the home: inside it the judge, led by what it reads, could write it anew."""
MAX_ANSWER = 1_000_000


@dataclass(frozen=True)
class AgenticJudge:
    """A judge that is a harness asked for a judgement; its module adds flags and how its answer is found."""

    name: str
    title: str
    harness: Harness
    method: str = AGENTIC
    demonstration: bool = False

    @property
    def protocols(self) -> tuple[WireProtocol, ...]:
        """Those of the agent."""
        return self.harness.protocols

    def version(self, installed: Path) -> str:
        """Version of the agent's program.

        Raises:
            ConfigurationError: it is not installed.
        """
        return self.harness.version(installed)

    def ask(self, question: Question, start: Start) -> Reply:
        """Start the agent on the question and read its answer, its tokens and what it looked at.

        Raises:
            ConfigurationError: its program is not installed.
        """
        stdout = _output(question)
        launch = self.launch(self.harness.launch(_assignment(question)), question)
        stopped = start(launch, stdout)
        reading = self.harness.read(stdout, _assignment(question))
        error = stopped or (reading.error or "it failed" if reading.is_error else None)
        return self._reply(question, reading, error)

    def left_behind(self, question: Question) -> Reply:
        """What a killed one had used, from its output and its own files."""
        reading = self.harness.read(_output(question), _assignment(question))
        return self._reply(question, reading, "the runner was killed while the judge worked")

    def _reply(self, question: Question, reading: Reading, error: str | None) -> Reply:
        stdout = _output(question)
        read: tuple[str, ...] = ()
        if question.workspace is not None and stdout.is_file():
            read = files_read(self.uses(stdout), question.workspace)
        return Reply(
            answer=None if error else self.answer(stdout),
            usage=reading.usage,
            costs=reading.costs,
            files_read=read,
            error=error,
            stream=stdout if stdout.is_file() else None,
            warnings=reading.warnings,
        )

    def launch(self, launch: Launch, question: Question) -> Launch:
        """``launch`` of the agent with what makes it a judge: answer form, no changes, effort."""
        raise NotImplementedError

    def answer(self, stdout: Path) -> str | None:
        """The last answer in the output."""
        raise NotImplementedError

    def uses(self, stdout: Path) -> Iterator[ToolUse]:
        """The uses of tools in the output that did not fail."""
        raise NotImplementedError


def _assignment(question: Question) -> Assignment:
    """The question as an agent's assignment; without a repository it starts in its own empty folder."""
    return Assignment(
        prompt=question.prompt,
        workspace=question.workspace or question.home,
        artifacts=question.home,
        home=question.home,
        endpoint=question.endpoint,
        limits=question.limits,
        installed=question.installed,
    )


def _output(question: Question) -> Path:
    """Where the agent's standard output goes."""
    return question.home.with_name(question.home.name + OUTPUT)
