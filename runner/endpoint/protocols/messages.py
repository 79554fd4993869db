"""Messages: the request's body, and what its events and whole answers say."""

from __future__ import annotations

from pydantic import JsonValue

from runner.endpoint.protocols.assembly import (
    Assembly,
    MalformedEvent,
    arguments_in,
    clean_table,
    count_in,
    objects_in,
    text_in,
)
from runner.endpoint.request import AskRequest, Message
from runner.endpoint.result import FragmentKind, ReportedUsage

PATH = "/v1/messages"
VERSION = "2023-06-01"
DEFAULT_OUTPUT_TOKENS = 4096
"""The protocol demands a limit; this is sent where the request names none."""
THINKING = frozenset({"thinking", "redacted_thinking"})


def body(request: AskRequest) -> dict[str, JsonValue]:
    """The request in this protocol, which has no seed."""
    made: dict[str, JsonValue] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens or DEFAULT_OUTPUT_TOKENS,
        "messages": _messages(request.messages),
        "stream": request.stream,
    }
    if request.system is not None:
        made["system"] = request.system
    if request.temperature is not None:
        made["temperature"] = request.temperature
    if request.effort is not None:
        made["output_config"] = {"effort": request.effort}
    if request.stop:
        made["stop_sequences"] = list(request.stop)
    if request.tools:
        made["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in request.tools
        ]
    choice = request.tool_choice
    if choice is not None:
        names: dict[str, JsonValue] = {"auto": "auto", "none": "none", "required": "any"}
        made["tool_choice"] = {"type": names[choice]} if choice in names else {"type": "tool", "name": choice}
    return made


def _messages(messages: tuple[Message, ...]) -> JsonValue:
    """Turns; results of tools that follow each other are one turn of the user's."""
    made: list[tuple[str, list[JsonValue]]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if made and message.role == "tool" and made[-1][0] == role:
            made[-1][1].extend(blocks)
        else:
            made.append((role, blocks))
    return [{"role": role, "content": blocks} for role, blocks in made]


def _blocks(message: Message) -> list[JsonValue]:
    if message.role == "tool":
        return [
            {"type": "tool_result", "tool_use_id": message.tool_call_id or "", "content": message.content}
        ]
    blocks: list[JsonValue] = list(message.carried)
    if message.content:
        blocks.append({"type": "text", "text": message.content})
    for call in message.tool_calls:
        blocks.append(
            {
                "type": "tool_use",
                "id": call.identifier,
                "name": call.name,
                "input": call.arguments_object(),
            }
        )
    return blocks


def read(into: Assembly, event: object, at_ns: int, name: bytes = b"") -> None:
    """One event of a stream, or a whole message.

    Raises:
        MalformedEvent: it is no object, or a part of it has the wrong form.
    """
    if not isinstance(event, dict):
        raise MalformedEvent("invalid_event", event)
    kind = event.get("type") or name.decode("ascii", "replace")
    if kind == "error" or event.get("error"):
        into.fail(event.get("error") or event)
    elif kind == "message_start":
        _start(into, event.get("message"))
    elif kind == "content_block_start":
        _block(into, event.get("content_block"), count_in(event, "index") or 0, at_ns)
    elif kind == "content_block_delta":
        _delta(into, event.get("delta"), count_in(event, "index") or 0, at_ns)
    elif kind == "message_delta":
        _usage(into, event.get("usage"))
        _finish(into, event.get("delta"))
    elif kind == "message_stop":
        into.done_ns = into.done_ns or at_ns
    elif kind == "message":
        _start(into, event)
        for number, block in enumerate(objects_in(event.get("content"))):
            _block(into, block, number, at_ns)
        _finish(into, event)


def _start(into: Assembly, message: object) -> None:
    if isinstance(message, dict):
        into.model = text_in(message.get("model")) or into.model
        _usage(into, message.get("usage"))


def _finish(into: Assembly, holder: object) -> None:
    reason = holder.get("stop_reason") if isinstance(holder, dict) else None
    if isinstance(reason, str) and reason:
        into.finish_reason = reason[:100]


def _block(into: Assembly, block: object, index: int, at_ns: int) -> None:
    if not isinstance(block, dict):
        raise MalformedEvent("invalid_block", block)
    kind = block.get("type")
    if kind in THINKING:
        into.add(FragmentKind.REASONING, text_in(block.get("thinking")), at_ns)
        into.carried.append(dict(block) | {"_index": index})
    elif kind == "text":
        into.add(FragmentKind.CONTENT, text_in(block.get("text")), at_ns)
    elif kind == "tool_use":
        given = block.get("input")
        into.add_call(
            index,
            at_ns,
            identifier=text_in(block.get("id")),
            name=text_in(block.get("name")),
            # A streamed call begins with an empty object and spells its input out in deltas.
            arguments=arguments_in(given) if given else "",
        )


def _delta(into: Assembly, delta: object, index: int, at_ns: int) -> None:
    if not isinstance(delta, dict):
        raise MalformedEvent("invalid_delta", delta)
    kind = delta.get("type")
    if kind == "text_delta":
        into.add(FragmentKind.CONTENT, text_in(delta.get("text")), at_ns)
    elif kind == "thinking_delta":
        into.add(FragmentKind.REASONING, text_in(delta.get("thinking")), at_ns)
        _carry(into, index, "thinking", text_in(delta.get("thinking")))
    elif kind == "signature_delta":
        _carry(into, index, "signature", text_in(delta.get("signature")))
    elif kind == "input_json_delta":
        into.add_call(index, at_ns, arguments=text_in(delta.get("partial_json")))


def _carry(into: Assembly, index: int, key: str, more: str) -> None:
    for block in objects_in(into.carried):
        if block.get("_index") == index:
            block[key] = text_in(block.get(key)) + more


def carried(into: Assembly) -> tuple[JsonValue, ...]:
    """Thinking blocks as the provider wants them back."""
    return tuple(
        {key: value for key, value in block.items() if key != "_index"} for block in objects_in(into.carried)
    )


def _usage(into: Assembly, table: object) -> None:
    """Usage comes twice and is cumulative: what the second leaves out, the first has told.

    ``input_tokens`` does not hold what was read from or written to the cache; the prompt is the sum of the
    three. Output includes thinking, whose part is not told by most.
    """
    if not isinstance(table, dict):
        return
    known = dict(into.usage.raw) if into.usage is not None else {}
    raw = known | {key: value for key, value in table.items() if value is not None}
    fresh, read_, written = (
        count_in(raw, key)
        for key in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    into.usage = ReportedUsage(
        prompt_tokens=None if fresh is None else fresh + (read_ or 0) + (written or 0),
        cached_tokens=read_,
        cache_write_tokens=written,
        completion_tokens=count_in(raw, "output_tokens"),
        reasoning_tokens=count_in(raw, "output_tokens_details", "thinking_tokens"),
        raw=clean_table(raw),
    )
