"""Chat Completions: the request's body, and what its events and whole answers say."""

from __future__ import annotations

from pydantic import JsonValue

from runner.endpoint.protocols.assembly import (
    Assembly,
    MalformedEvent,
    arguments_in,
    count_in,
    objects_in,
    text_in,
    usage_in,
)
from runner.endpoint.request import AskRequest, Message
from runner.endpoint.result import FragmentKind

PATH = "/chat/completions"
END_MARK = b"[DONE]"
REASONING_PARTS = frozenset({"thinking", "reasoning", "reasoning_text"})


def body(request: AskRequest) -> dict[str, JsonValue]:
    """The request in this protocol."""
    messages: list[JsonValue] = []
    if request.system is not None:
        messages.append({"role": "system", "content": request.system})
    messages += [_message(message) for message in request.messages]
    optional: dict[str, JsonValue] = {
        request.max_output_key: request.max_output_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "reasoning_effort": request.effort,
    }
    made: dict[str, JsonValue] = {"model": request.model, "messages": messages, "stream": request.stream}
    if request.stream:
        made["stream_options"] = {"include_usage": True}
    made |= {key: value for key, value in optional.items() if value is not None}
    if request.stop:
        made["stop"] = list(request.stop)
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    choice = request.tool_choice
    if choice is not None:
        plain = choice in {"auto", "none", "required"}
        made["tool_choice"] = choice if plain else {"type": "function", "function": {"name": choice}}
    return made


def _message(message: Message) -> JsonValue:
    made: dict[str, JsonValue] = {"role": message.role, "content": message.content}
    if message.tool_call_id is not None:
        made["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        made["content"] = message.content or None
        made["tool_calls"] = [
            {
                "id": call.identifier,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    for carried in objects_in(list(message.carried)):
        made |= carried
    return made


def read(into: Assembly, chunk: object, at_ns: int, name: bytes = b"") -> None:
    """One chunk of a stream, or a whole answer: both have choices, which hold a delta or a message.

    Raises:
        MalformedEvent: it is no object.
    """
    if not isinstance(chunk, dict):
        raise MalformedEvent("invalid_chunk", chunk)
    if chunk.get("error") or name == b"error":
        into.fail(chunk.get("error") or chunk)
    if into.model is None and isinstance(chunk.get("model"), str):
        into.model = str(chunk["model"])
    usage = chunk.get("usage")
    if isinstance(usage, dict):
        into.usage = usage_in(usage)
    tokens = count_in(usage, "completion_tokens")
    for choice in objects_in(chunk.get("choices")):
        if count_in(choice, "index") in {None, 0}:
            _choice(into, choice, at_ns, tokens)


def carried(into: Assembly) -> tuple[JsonValue, ...]:
    """The details of reasoning as some gateways want them back: a field of the assistant's message."""
    return ({"reasoning_details": list(into.carried)},) if into.carried else ()


def _choice(into: Assembly, choice: dict[str, JsonValue], at_ns: int, tokens: int | None) -> None:
    delta = choice.get("delta") or choice.get("message")
    if isinstance(delta, dict):
        # Either name, and some servers send both with the same text.
        reasoning = text_in(delta.get("reasoning_content")) or text_in(delta.get("reasoning"))
        into.add(FragmentKind.REASONING, reasoning, at_ns, tokens)
        _content(into, delta.get("content"), at_ns, tokens)
        into.add(FragmentKind.REFUSAL, text_in(delta.get("refusal")), at_ns, tokens)
        for call in objects_in(delta.get("tool_calls")):
            _call(into, call, at_ns, tokens)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            _call(into, {"index": 0, "function": legacy}, at_ns, tokens)
        into.carried += objects_in(delta.get("reasoning_details"))
    else:
        into.add(FragmentKind.CONTENT, text_in(choice.get("text")), at_ns, tokens)
    if choice.get("error"):
        into.fail(choice["error"])
    finish = choice.get("finish_reason")
    if finish is not None and finish != "":
        into.finish_reason = str(finish)[:100]


def _content(into: Assembly, content: object, at_ns: int, tokens: int | None) -> None:
    if isinstance(content, str):
        into.add(FragmentKind.CONTENT, content, at_ns, tokens)
        return
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            into.add(FragmentKind.CONTENT, part, at_ns, tokens)
        elif isinstance(part, dict):
            kind = str(part.get("type"))
            if kind in REASONING_PARTS:
                into.add(FragmentKind.REASONING, _text_of(part), at_ns, tokens)
            elif kind == "refusal":
                into.add(FragmentKind.REFUSAL, text_in(part.get("refusal")), at_ns, tokens)
            else:
                into.add(FragmentKind.CONTENT, _text_of(part), at_ns, tokens)


def _text_of(part: dict[str, JsonValue]) -> str:
    inner = part.get("text") or part.get("thinking")
    if isinstance(inner, list):
        return "".join(text_in(each.get("text")) for each in objects_in(inner))
    return text_in(inner)


def _call(into: Assembly, call: dict[str, JsonValue], at_ns: int, tokens: int | None) -> None:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    identifier, name = text_in(call.get("id")), text_in(function.get("name"))
    into.add_call(
        _key(into, count_in(call, "index"), identifier, name),
        at_ns,
        tokens,
        identifier=identifier,
        name=name,
        arguments=arguments_in(function.get("arguments")),
    )


def _key(into: Assembly, index: int | None, identifier: str, name: str) -> object:
    """Which call a fragment belongs to.

    By its index; where a named fragment brings another identifier under an index that is taken, it is a new
    call (some gateways give every parallel call index 0). Without an index by its identifier; a fragment
    with neither goes on with the call before it.
    """
    if not identifier:
        if index is None:
            return next(reversed(into.calls), 0)
        return next((key for key in reversed(into.calls) if _index_of(key) == index), index)
    for key, call in into.calls.items():
        if call.identifier == identifier and index in {None, _index_of(key)}:
            return key
    if index is None:
        return ("id", identifier)
    taken = into.calls.get(index)
    return (index, identifier) if taken is not None and taken.identifier and name else index


def _index_of(key: object) -> object:
    return key[0] if isinstance(key, tuple) else key
