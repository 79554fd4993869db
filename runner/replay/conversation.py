"""Conversation and answer: one request and its reply, free of any wire protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runner.replay.turns import MAIN_THREAD, Tokens

PRESENT_LINE = re.compile(r"^\s*artifacts_present:", re.MULTILINE)
PROMPT_LINE = r"^\s*{name}:[ \t]*(\S.*?)\s*$"
OUR_LINE = re.compile(r"^\s*(?:workspace|artifacts_dir|skill|replay_thread):[ \t]*\S", re.MULTILINE)
SIDE_THREAD = "side"
"""Where requests are counted that belong to no task: an agent that wants a title, or a first sign of life."""


class RequestFault(ValueError):
    """The request cannot be served. The text goes back to the client."""

    def __init__(self, message: str, *, status: int = 400, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class OfferedTool:
    """A tool as the agent describes it; ``schema`` is the JSON Schema of its arguments."""

    name: str
    schema: Mapping[str, object]
    namespace: str | None = None
    """The group the agent put the tool in; a call of it has to name the group."""
    freeform: bool = False
    """The tool takes plain text instead of arguments."""
    description: str = ""


@dataclass(frozen=True)
class Conversation:
    """What a request says, whichever protocol it came by."""

    model: str
    stream: bool
    wants_usage: bool
    tools: tuple[OfferedTool, ...]
    tool_results: int
    prompt: str
    """Texts of the user before the first answer to them."""
    results: tuple[str, ...] = ()
    """Texts of the tool results, as far as they are texts."""
    schema: Mapping[str, object] | None = None
    """JSON Schema that the final answer has to follow, where one is asked for."""
    thinking: bool = False
    """Whether the agent wants to see reasoning."""
    answer_tool: str | None = None
    """Tool that the final answer has to be handed in with, where there is one."""

    heard: str = ""
    """All that the model is told, but for its own answers; empty where a protocol does not gather it."""
    answers: int = 0
    """Answers to the prompt so far; 0 where a protocol does not count them."""

    def _line(self, name: str) -> str | None:
        match = re.search(PROMPT_LINE.format(name=name), self.prompt, re.MULTILINE)
        return match[1] if match else None

    @property
    def artifacts(self) -> str | None:
        """Folder on the prompt's line ``artifacts_dir:``."""
        return self._line("artifacts_dir")

    @property
    def workspace(self) -> str | None:
        """Folder on the prompt's line ``workspace:``."""
        return self._line("workspace")

    @property
    def candidate(self) -> str | None:
        """Id on the line ``candidate_id:``, which only questions to a judge have."""
        return self._line("candidate_id")

    @property
    def skill(self) -> str | None:
        """Name on the prompt's line ``skill:``, or for a judge that on the line ``rubric:``."""
        return self._line("skill" if self.candidate is None else "rubric")

    @property
    def invocation(self) -> str:
        """``top-up`` when the prompt has a line ``artifacts_present:``, else ``first``."""
        # What a judge is shown may hold such a line.
        present = self.candidate is None and PRESENT_LINE.search(self.prompt)
        return "top-up" if present else "first"

    @property
    def thread(self) -> str:
        """Name on the line ``replay_thread:``, which only subagents have; ``side`` for a side request."""
        if self.is_side_request:
            return SIDE_THREAD
        return MAIN_THREAD if self.candidate else self._line("replay_thread") or MAIN_THREAD

    @property
    def is_side_request(self) -> bool:
        """Whether the agent asks on its own account: no tools, no output form, and none of our lines."""
        ours = ("workspace", "artifacts_dir", "skill", "replay_thread")
        asks = self.tools or self.schema is not None or self.tool_results
        return not asks and all(self._line(name) is None for name in ours)


@dataclass(frozen=True)
class ToolCall:
    """One call of an offered tool; ``arguments`` is the text sent, normally JSON."""

    identifier: str
    name: str
    arguments: str
    namespace: str | None = None
    freeform: bool = False


@dataclass(frozen=True)
class Answer:
    """What the scripted model answers. ``usage`` is None when the server keeps it to itself."""

    identifier: str
    model: str
    text: str
    calls: tuple[ToolCall, ...]
    usage: Tokens | None
    cache_detail: bool = True
    thought: str = ""
    """Reasoning that is shown; empty where there is none or nobody asked for it."""
    at_limit: bool = False
    """Whether it ends because as many tokens were said as the client allows."""
    piece: int = 0
    """Characters of each piece of a stream; 0: as usual."""


class Talk(NamedTuple):
    """What was said, whoever offers tools for it."""

    prompt: str
    heard: str
    answers: int


def talk_in(messages: Sequence[tuple[str, str]], system: str = "") -> Talk:
    """The talk in the roles and texts of messages.

    Some agents let a made-up talk precede the user's words, as an example; the prompt then begins with the
    message that holds one of our lines.
    """
    answered = [index for index, (role, _) in enumerate(messages) if role == "assistant"]
    ours = (at for at, (role, text) in enumerate(messages) if role == "user" and OUR_LINE.search(text))
    begin = next(ours, 0)
    if not answered or begin < answered[0]:
        begin = 0
    end = next((index for index in answered if index >= begin), len(messages))
    prompt = "\n".join(text for role, text in messages[begin:end] if role == "user")
    told = (text for role, text in messages if role in {"system", "developer", "user"})
    return Talk(prompt, "\n".join((system, *told)), sum(index >= end for index in answered))


def text_of(content: object) -> str:
    """The text in a message's content: a string, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def objects_in(body: Mapping[str, object], key: str) -> list[dict[str, object]]:
    """The list of objects under ``key``, the heart of every request.

    Raises:
        RequestFault: it is missing or something else.
    """
    found = body.get(key)
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise RequestFault(f"{key!r} is missing or no list of objects", code=f"missing_{key}")
    return found


def model_in(body: Mapping[str, object]) -> str:
    """The model asked for.

    Raises:
        RequestFault: none is named.
    """
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise RequestFault("'model' is missing or no string", code="missing_model")
    return model


def schema_in(entry: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    """The JSON Schema under the first of ``keys`` that holds one; empty where none does."""
    return next((found for found in map(entry.get, keys) if isinstance(found, dict)), {})


def description_in(entry: Mapping[str, object]) -> str:
    """What the agent says of a tool; nothing where it says nothing."""
    said = entry.get("description")
    return said if isinstance(said, str) else ""


def pieces(text: str, size: int = 24) -> list[str]:
    """``text`` in pieces, as a stream sends it."""
    return [text[start : start + size] for start in range(0, len(text), size)]
