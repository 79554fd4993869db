"""Responses: the request's body, and what its events and whole answers say."""

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

PATH = "/responses"
REASONING_DELTAS = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def body(request: AskRequest) -> dict[str, JsonValue]:
    """The request in this protocol, which has no seed and no stop sequences."""
    made: dict[str, JsonValue] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _items(message)],
        "stream": request.stream,
        "store": False,
    }
    optional: dict[str, JsonValue] = {
        "instructions": request.system,
        "max_output_tokens": request.max_output_tokens,
        "temperature": request.temperature,
    }
    made |= {key: value for key, value in optional.items() if value is not None}
    if request.effort is not None:
        made["reasoning"] = {"effort": request.effort}
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": False,
            }
            for tool in request.tools
        ]
    choice = request.tool_choice
    if choice is not None:
        plain = choice in {"auto", "none", "required"}
        made["tool_choice"] = choice if plain else {"type": "function", "name": choice}
    return made


def _items(message: Message) -> list[JsonValue]:
    if message.role == "tool":
        return [
            {
                "type": "function_call_output",
                "call_id": message.tool_call_id or "",
                "output": message.content,
            }
        ]
    items: list[JsonValue] = list(message.carried)
    if message.content or not message.tool_calls:
        kind = "output_text" if message.role == "assistant" else "input_text"
        part: JsonValue = {"type": kind, "text": message.content}
        items.append({"type": "message", "role": message.role, "content": [part]})
    for call in message.tool_calls:
        items.append(
            {
                "type": "function_call",
                "call_id": call.identifier,
                "name": call.name,
                "arguments": call.arguments,
            }
        )
    return items


def read(into: Assembly, event: object, at_ns: int, name: bytes = b"") -> None:
    """One event of a stream, or a whole response.

    Raises:
        MalformedEvent: it is no object.
    """
    if not isinstance(event, dict):
        raise MalformedEvent("invalid_event", event)
    kind = str(event.get("type") or name.decode("ascii", "replace"))
    delta = text_in(event.get("delta"))
    if kind == "response.output_text.delta":
        into.add(FragmentKind.CONTENT, delta, at_ns)
    elif kind in REASONING_DELTAS:
        into.add(FragmentKind.REASONING, delta, at_ns)
    elif kind == "response.refusal.delta":
        into.add(FragmentKind.REFUSAL, delta, at_ns)
    elif kind == "response.function_call_arguments.delta":
        into.add_call(_place(event), at_ns, arguments=delta)
    elif kind == "response.output_item.added":
        _item_begins(into, event, at_ns)
    elif kind == "response.output_item.done":
        _item_ends(into, event.get("item"), _place(event), at_ns)
    elif kind in ENDS:
        into.done_ns = into.done_ns or at_ns
        _response(into, event.get("response"), at_ns)
    elif kind == "error" or (event.get("error") and event.get("object") != "response"):
        into.fail(event.get("error") or event)
    elif event.get("object") == "response":
        _response(into, event, at_ns)
    elif isinstance(event.get("response"), dict):
        into.model = into.model or text_in(event["response"].get("model")) or None


def carried(into: Assembly) -> tuple[JsonValue, ...]:
    """Items of reasoning, as they came."""
    return tuple(into.carried)


def _place(event: dict[str, JsonValue]) -> object:
    index = count_in(event, "output_index")
    return index if index is not None else text_in(event.get("item_id"))


def _item_begins(into: Assembly, event: dict[str, JsonValue], at_ns: int) -> None:
    item = event.get("item")
    if isinstance(item, dict) and item.get("type") == "function_call":
        into.add_call(
            _place(event),
            at_ns,
            identifier=text_in(item.get("call_id")),
            name=text_in(item.get("name")),
        )


def _item_ends(into: Assembly, item: object, place: object, at_ns: int) -> None:
    """A finished item: reasoning is carried; what no delta has told before is taken from it."""
    if not isinstance(item, dict):
        return
    kind = item.get("type")
    if kind == "reasoning":
        into.carried.append(item)
        if not into.reasoning:
            parts = objects_in(item.get("summary")) + objects_in(item.get("content"))
            into.add(FragmentKind.REASONING, "".join(text_in(part.get("text")) for part in parts), at_ns)
    elif kind == "function_call":
        call = into.calls.get(place)
        untold = call is None or not call.arguments
        into.add_call(
            place,
            at_ns,
            identifier=text_in(item.get("call_id")),
            name=text_in(item.get("name")) if call is None or not call.name else "",
            arguments=arguments_in(item.get("arguments")) if untold else "",
        )
    elif kind == "message" and not into.text and not into.refusal:
        for part in objects_in(item.get("content")):
            refused = part.get("type") == "refusal"
            text = text_in(part.get("refusal" if refused else "text"))
            into.add(FragmentKind.REFUSAL if refused else FragmentKind.CONTENT, text, at_ns)


def _response(into: Assembly, response: object, at_ns: int) -> None:
    if not isinstance(response, dict):
        raise MalformedEvent("invalid_response", response)
    into.model = text_in(response.get("model")) or into.model
    usage = response.get("usage")
    if isinstance(usage, dict):
        into.usage = usage_in(usage)
    if not into.fragments:
        for place, item in enumerate(objects_in(response.get("output"))):
            _item_ends(into, item, place, at_ns)
    status = response.get("status")
    details = response.get("incomplete_details")
    if response.get("error") or status == "failed":
        into.fail(response.get("error") or "failed")
    elif status == "incomplete":
        reason = details.get("reason") if isinstance(details, dict) else None
        into.finish_reason = text_in(reason)[:100] or "incomplete"
    elif status == "completed":
        into.finish_reason = "completed"
