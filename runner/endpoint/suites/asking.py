"""Asking: from a case and a target to the request that is sent, with every parameter that had to give way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from runner.endpoint.capabilities import Capabilities, Thinking
from runner.endpoint.pinning import merged, pinned
from runner.endpoint.request import AskRequest, Deadlines, Message, Protocol
from runner.endpoint.suites.case import Case, Feature, Puzzle, Slot
from runner.endpoint.target import Target

NO_EFFORT = "none"
CHARACTERS_PER_TOKEN = 3.0
"""Fewer than any common tokenizer puts into a token of English, so that an estimate is not too low."""


@dataclass(frozen=True)
class Manner:
    """How all cases of a run are asked.

    Args:
        salt: sets the nonces of this run, or of this point of a sweep, apart; the same for all targets.
        effort: in place of each case's own, as are ``max_output_tokens`` and ``temperature``.
    """

    salt: str
    base_seed: int = 1
    deadlines: Deadlines = field(default_factory=Deadlines)
    effort: str | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    allow_cache: bool = False
    allow_fallback: bool = False
    """Whether a gateway may answer from its cache, or hand a request to another provider."""
    shared_prefix: bool = False
    """The nonce stands at the end, so that the caches of prompts which providers keep can work."""


@dataclass(frozen=True)
class Asking:
    """A request, and what was left out of it or said otherwise because of the target's capabilities."""

    request: AskRequest
    adjustments: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Effort:
    said: str | None
    """The effort that holds for the request; None: the endpoint's own default."""
    field: str | None
    body: Mapping[str, JsonValue]
    adjustment: str = ""


def unfit(case: Case, target: Target, effort: str | None = None) -> str:
    """Why ``case`` would mean nothing at ``target``; empty where it fits.

    Args:
        effort: the run's own effort, which stands in place of the case's.
    """
    can = target.capabilities
    if Feature.TOOLS in case.needs and not can.tools:
        return "the endpoint accepts no tools"
    if Feature.PARALLEL_TOOLS in case.needs and not can.parallel_tools:
        return "the endpoint makes no parallel tool calls"
    if Feature.JSON_SCHEMA in case.needs and not can.json_schema:
        return "the endpoint accepts no JSON schema for its answer"
    if Feature.EFFORT in case.needs:
        if effort is not None and effort != case.effort:
            return f"the run asks for effort {effort} throughout"
        if case.effort not in can.effort_words:
            return f"the endpoint does not know the effort {case.effort}"
    return ""


def too_long(asking: Asking, target: Target) -> str:
    """Why the request cannot fit into the target's context; empty where it fits, or nothing is known."""
    window = target.entry.context_tokens
    if window is None:
        return ""
    characters = len(asking.request.system or "") + sum(len(each.content) for each in asking.request.messages)
    needed = int(characters / CHARACTERS_PER_TOKEN) + (asking.request.max_output_tokens or 0)
    return f"needs about {needed} tokens of context, and the endpoint has {window}" if needed > window else ""


def request_for(case: Case, puzzle: Puzzle, slot: Slot, target: Target, manner: Manner) -> Asking:
    """The first request of a trial, with its nonce at the very front."""
    can = target.capabilities
    notes: list[str] = []
    effort = _effort(can, manner.effort or case.effort)
    if effort.adjustment:
        notes.append(effort.adjustment)
    entry = target.entry
    pins = pinned(
        entry.provider, entry.gateway, allow_cache=manner.allow_cache, allow_fallback=manner.allow_fallback
    )
    system, messages = _set_apart(puzzle, case.nonce(manner.salt, slot), can, manner, notes)
    request = AskRequest(
        protocol=target.entry.protocol,
        model=target.entry.model_id,
        messages=messages,
        system=system,
        tools=puzzle.tools,
        tool_choice=_tool_choice(puzzle, can, notes),
        max_output_tokens=_cap(case, effort.said, target, manner),
        max_output_key=can.max_output_key,
        temperature=_temperature(case, can, effort.said, manner, notes),
        effort=effort.field,
        parameters={
            **merged((pins.parameters, can.parameters)),
            **effort.body,
            **_format(puzzle, target.entry.protocol, effort.field, can),
        },
        headers={**pins.headers, **entry.headers, **manner.headers},
        deadlines=manner.deadlines,
    )
    return Asking(request, tuple(notes))


def continued(asking: Asking, more: Sequence[Message]) -> Asking:
    """The next request of the same conversation."""
    messages = (*asking.request.messages, *more)
    return Asking(asking.request.model_copy(update={"messages": messages}), asking.adjustments)


def _effort(can: Capabilities, wanted: str | None) -> _Effort:
    if wanted is None:
        return _Effort(None, None, {})
    if wanted in can.effort_bodies:
        return _Effort(wanted, None, can.effort_bodies[wanted])
    if wanted in can.efforts:
        return _Effort(wanted, wanted, {})
    if wanted != NO_EFFORT:
        return _Effort(None, None, {}, f"effort {wanted} left out: the endpoint does not know it")
    if can.thinking in {Thinking.NEVER, Thinking.ON_REQUEST}:
        return _Effort(None, None, {})
    if not can.effort_words:
        return _Effort(None, None, {}, "effort none left out: thinking cannot be switched off")
    least = can.effort_words[0]
    note = f"effort {least} in place of none: thinking cannot be switched off"
    if least in can.effort_bodies:
        return _Effort(least, None, can.effort_bodies[least], note)
    return _Effort(least, least, {}, note)


def _thinks(can: Capabilities, effort: str | None) -> bool:
    if can.thinking is Thinking.ALWAYS:
        return True
    if can.thinking is Thinking.BY_DEFAULT:
        return effort != NO_EFFORT
    return can.thinking is Thinking.ON_REQUEST and effort not in {None, NO_EFFORT}


def _cap(case: Case, effort: str | None, target: Target, manner: Manner) -> int:
    """Output tokens: the answer's own, thinking on top where there may be any, never above the endpoint's."""
    if manner.max_output_tokens is not None:
        wanted = manner.max_output_tokens
    else:
        can = target.capabilities
        wanted = case.max_output_tokens + (can.thinking_tokens if _thinks(can, effort) else 0)
    most = target.entry.max_output_tokens
    return wanted if most is None else min(wanted, most)


def _temperature(
    case: Case, can: Capabilities, effort: str | None, manner: Manner, notes: list[str]
) -> float | None:
    wanted = case.temperature if manner.temperature is None else manner.temperature
    if wanted is None:
        return None
    if not can.temperature:
        notes.append("temperature left out: the endpoint does not accept it")
        return None
    if can.temperature_at_efforts and effort not in can.temperature_at_efforts:
        notes.append("temperature left out: the endpoint does not accept it at this effort")
        return None
    return wanted


def _tool_choice(puzzle: Puzzle, can: Capabilities, notes: list[str]) -> str | None:
    wanted = puzzle.tool_choice
    if not puzzle.tools or wanted is None:
        return None
    kind = wanted if wanted in {"auto", "none", "required"} else "named"
    if kind in can.tool_choice:
        return wanted
    if "auto" in can.tool_choice:
        notes.append(f"tool choice auto in place of {wanted}: the endpoint does not accept it")
        return "auto"
    notes.append(f"tool choice {wanted} left out: the endpoint does not accept it")
    return None


def _set_apart(
    puzzle: Puzzle, nonce: str, can: Capabilities, manner: Manner, notes: list[str]
) -> tuple[str | None, tuple[Message, ...]]:
    """System text and turns, the nonce before everything else, or behind it where the run wants that."""
    if manner.shared_prefix:
        *before_last, last = puzzle.messages
        apart = last.model_copy(update={"content": f"{last.content}\n{nonce}"})
        puzzle, nonce = replace(puzzle, messages=(*before_last, apart)), ""
    first, *rest = puzzle.messages
    if puzzle.system is not None and can.system:
        return _lines(nonce, puzzle.system), puzzle.messages
    before = nonce
    if puzzle.system is not None:
        notes.append("system text put before the first turn: the endpoint accepts none")
        before = f"{_lines(nonce, puzzle.system)}\n"
    return None, (first.model_copy(update={"content": _lines(before, first.content)}), *rest)


def _lines(before: str, text: str) -> str:
    return f"{before}\n{text}" if before else text


def _format(
    puzzle: Puzzle, protocol: Protocol, effort: str | None, can: Capabilities
) -> Mapping[str, JsonValue]:
    if puzzle.schema is None or not can.json_schema:
        return {}
    schema = dict(puzzle.schema)
    if protocol is Protocol.MESSAGES:
        form: dict[str, JsonValue] = {"format": {"type": "json_schema", "schema": schema}}
        return {"output_config": {**form, "effort": effort} if effort else form}
    named: dict[str, JsonValue] = {"name": "answer", "strict": True, "schema": schema}
    if protocol is Protocol.RESPONSES:
        return {"text": {"format": {"type": "json_schema", **named}}}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
