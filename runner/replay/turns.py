"""Turns: what a scripted model says and does, free of any wire protocol."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from runner.records import Part

ARTIFACTS_MARK = "{artifacts}"
WORKSPACE_MARK = "{workspace}"
CANDIDATE_MARK = "{candidate}"
STEP_MARK = "{step}"
MAIN_THREAD = "main"

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=80)]

Count = Annotated[int, Field(ge=0)]
PathText = Annotated[str, Field(min_length=1, max_length=4096)]


class Tokens(Part):
    """Tokens of one or many model turns, in five classes of which no two overlap but the last.

    ``uncached``, ``cache_read`` and ``cache_write`` add up to the whole input; ``reasoning`` is a part of
    ``output``.
    """

    uncached: Count = 0
    cache_read: Count = 0
    cache_write: Count = 0
    output: Count = 0
    reasoning: Count = 0

    @model_validator(mode="after")
    def _reasoning_is_part_of_output(self) -> Tokens:
        if self.reasoning > self.output:
            raise ValueError(f"reasoning ({self.reasoning}) is a part of output ({self.output})")
        return self

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            **{name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields}
        )

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(
            **{name: getattr(self, name) - getattr(other, name) for name in type(self).model_fields}
        )

    @property
    def prompt(self) -> int:
        """The whole input."""
        return self.uncached + self.cache_read + self.cache_write


class ListFiles(Part):
    """Look at a folder."""

    do: Literal["list"]
    path: PathText = "."


class ReadFile(Part):
    """Read a file, or the lines ``first`` to ``last`` of it, counted from 1."""

    do: Literal["read"]
    path: PathText
    first: int | None = Field(default=None, ge=1)
    last: int | None = Field(default=None, ge=1)


class Search(Part):
    """Look for a regular expression."""

    do: Literal["search"]
    pattern: str = Field(min_length=1, max_length=1000)
    path: PathText = "."


class Edit(Part):
    """Replace ``old`` by ``new``. ``mistake`` marks an edit that is meant to fail."""

    do: Literal["edit"]
    path: PathText
    old: str = Field(min_length=1)
    new: str
    mistake: str | None = Field(default=None, description="why this edit cannot work, when that is meant")


class Write(Part):
    """Create a file with this content."""

    do: Literal["write"]
    path: PathText
    content: str


class Shell(Part):
    """Run a command in the workspace."""

    do: Literal["shell"]
    command: str = Field(min_length=1)


class RawCall(Part):
    """A tool call sent exactly as written here: how a scripted model gets a call wrong."""

    do: Literal["call"]
    tool: str = Field(min_length=1, max_length=200)
    arguments: str = Field(description="sent verbatim; need not be JSON")


class Sleep(Part):
    """Run a command that does nothing for so long. Where commands are given time limits, it asks for more."""

    do: Literal["sleep"]
    seconds: int = Field(ge=1, le=86_400)


class Subagent(Part):
    """Start another agent, whose own turns are those of the thread ``thread``.

    In the background the agent goes on without waiting. Where no tool can start one, the step is a shell
    command that says so.
    """

    do: Literal["subagent"]
    thread: Name
    prompt: str = Field(min_length=1)
    background: bool = False


class Wait(Part):
    """Wait for the agents started so far, or for the one started as number ``agent``, counted from 1.

    A command without effect where no tool does that.
    """

    do: Literal["wait"]
    agent: int | None = Field(default=None, ge=1)


Action = Annotated[
    ListFiles | ReadFile | Search | Edit | Write | Shell | RawCall | Sleep | Subagent | Wait,
    Field(discriminator="do"),
]


class Turn(Part):
    """One answer of a scripted model. A turn without actions ends the conversation.

    ``top-up`` turns answer a completion pass, whose prompt names what is there already. Turns of a ``skill``
    answer prompts that name it; those without one answer every skill that has no turns of its own. Turns of
    another ``thread`` than the main one answer a subagent. Those with ``when`` answer prompts that hold that
    text, before those without. A ``forever`` turn, the last of its thread, is
    given again whatever has been done since; the mark ``{step}`` makes each of its commands different.
    """

    task: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=120)
    invocation: Literal["first", "top-up"] = "first"
    skill: Name | None = None
    thread: Name = MAIN_THREAD
    when: str | None = Field(default=None, min_length=1, max_length=500)
    step: Count
    say: str = ""
    actions: tuple[Action, ...] = ()
    forever: bool = False
    usage: Tokens

    @model_validator(mode="after")
    def _says_or_does_something(self) -> Turn:
        if not self.say and not self.actions:
            raise ValueError("a turn must say something or do something")
        if self.forever and not self.actions:
            raise ValueError("a turn that is given for ever must do something")
        return self
