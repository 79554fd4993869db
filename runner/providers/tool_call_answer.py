"""Answer of the tool-call test: calls and text of an answer, whole or streamed, over each API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.harnesses.endpoint import WireProtocol

# What a server sends has whatever shape it has; a reader that finds another one fails with one of these.
UNREADABLE = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
Json = Any


@dataclass(frozen=True)
class Answer:
    """What an answer holds."""

    calls: list[tuple[object, object]]
    """Names and arguments."""
    text: str
    cut_off: bool


def read_answer(protocol: WireProtocol, body: str) -> Answer:
    """The answer in ``body``: events of a stream, or one JSON document.

    Raises:
        one of ``UNREADABLE``: it is none of the API.
    """
    events = _events(body)
    whole = STREAMS[protocol](events) if events else json.loads(body)
    return WHOLES[protocol](whole)


def _events(body: str) -> list[Json]:
    data = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
    return [json.loads(each) for each in data if each and each != "[DONE]"]


def _chat(body: Json) -> Answer:
    choice = body["choices"][0]
    message = choice["message"]
    calls = [
        (each["function"]["name"], each["function"]["arguments"]) for each in message["tool_calls"] or ()
    ]
    return Answer(calls, str(message["content"] or ""), choice.get("finish_reason") == "length")


def _chat_stream(events: Sequence[Json]) -> Json:
    text, reason = "", None
    calls: dict[int, dict[str, str]] = {}
    for choice in (each["choices"][0] for each in events if each["choices"]):
        delta = choice["delta"]
        text += delta.get("content") or ""
        reason = choice.get("finish_reason") or reason
        for part in delta.get("tool_calls") or ():
            call = calls.setdefault(part["index"], {"name": "", "arguments": ""})
            for name in call:
                call[name] += part.get("function", {}).get(name) or ""
    message = {"content": text, "tool_calls": [{"function": each} for each in calls.values()]}
    return {"choices": [{"message": message, "finish_reason": reason}]}


def _responses(body: Json) -> Answer:
    calls = [(each["name"], each["arguments"]) for each in body["output"] if each["type"] == "function_call"]
    parts = [part for each in body["output"] if each["type"] == "message" for part in each["content"]]
    text = "".join(str(part.get("text") or "") for part in parts)
    return Answer(calls, text, body.get("status") == "incomplete")


def _responses_stream(events: Sequence[Json]) -> Json:
    """Items as they are done, because that is what agents act on, not on the summary at the end."""
    (end,) = (each for each in events if each["type"] in {"response.completed", "response.incomplete"})
    items = [each["item"] for each in events if each["type"] == "response.output_item.done"]
    return {"output": items, "status": end["type"].removeprefix("response.")}


def _messages(body: Json) -> Answer:
    calls = [(each["name"], each["input"]) for each in body["content"] if each["type"] == "tool_use"]
    text = "".join(str(each["text"]) for each in body["content"] if each["type"] == "text")
    return Answer(calls, text, body.get("stop_reason") == "max_tokens")


def _messages_stream(events: Sequence[Json]) -> Json:
    blocks: dict[int, Json] = {}
    inputs: dict[int, str] = {}
    reason = None
    for each in events:
        if each["type"] == "content_block_start":
            blocks[each["index"]] = dict(each["content_block"])
        elif each["type"] == "content_block_delta" and "text" in each["delta"]:
            blocks[each["index"]]["text"] += each["delta"]["text"]
        elif each["type"] == "content_block_delta" and "partial_json" in each["delta"]:
            inputs[each["index"]] = inputs.get(each["index"], "") + each["delta"]["partial_json"]
        elif each["type"] == "message_delta":
            reason = each["delta"].get("stop_reason") or reason
        elif each["type"] == "error":
            raise ValueError("an error in the middle of a stream")
    for index, given in inputs.items():
        blocks[index]["input"] = given
    return {"content": list(blocks.values()), "stop_reason": reason}


Streams = Mapping[WireProtocol, Callable[[Sequence[Json]], Json]]
STREAMS: Streams = {
    WireProtocol.CHAT_COMPLETIONS: _chat_stream,
    WireProtocol.RESPONSES: _responses_stream,
    WireProtocol.MESSAGES: _messages_stream,
}
WHOLES: Mapping[WireProtocol, Callable[[Json], Answer]] = {
    WireProtocol.CHAT_COMPLETIONS: _chat,
    WireProtocol.RESPONSES: _responses,
    WireProtocol.MESSAGES: _messages,
}
