"""The protocols as a client knows them: requests built and answers read without the server's own code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Said:
    """What an answer says."""

    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    """Identifier, name and arguments of each call."""
    usage: Json | None = None
    stop: str | None = None
    model: str | None = None
    thought: str = ""


@dataclass(frozen=True)
class Done:
    """An earlier answer and the results of its calls, in order."""

    said: Said
    results: Sequence[str]


@dataclass(frozen=True)
class Dialect:
    """How a client of one protocol talks and listens."""

    name: str
    path: Callable[[str, bool], str]
    body: Callable[[str, str, Sequence[str], Sequence[Done], bool], Json]
    whole: Callable[[Json], Said]
    stream: Callable[[str], Said]
    classes: Callable[[Json], Mapping[str, int]]
    """Usage as uncached, cache_read, cache_write, output and reasoning, as a careful client reads it."""


def sent_events(text: str) -> list[tuple[str | None, Json]]:
    """Server-sent events as (name, data), but the closing mark of Chat Completions."""
    found = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        name = next((line[7:] for line in lines if line.startswith("event: ")), None)
        data = "\n".join(line[6:] for line in lines if line.startswith("data: "))
        if data and data != "[DONE]":
            found.append((name, json.loads(data)))
    return found


STRING = {"type": "string"}
COMMAND = {"type": "object", "properties": {"command": STRING}, "required": ["command"]}


# Chat Completions


def chat_body(model: str, prompt: str, tools: Sequence[str], done: Sequence[Done], stream: bool) -> Json:
    messages: list[Json] = [{"role": "system", "content": "s"}, {"role": "user", "content": prompt}]
    for turn in done:
        calls = [
            {
                "id": identifier,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for identifier, name, arguments in turn.said.calls
        ]
        messages.append({"role": "assistant", "content": turn.said.text, "tool_calls": calls})
        for call, result in zip(turn.said.calls, turn.results, strict=True):
            messages.append({"role": "tool", "tool_call_id": call[0], "content": result})
    offered = [{"type": "function", "function": {"name": name, "parameters": COMMAND}} for name in tools]
    options = {"stream_options": {"include_usage": True}} if stream else {}
    return {"model": model, "messages": messages, "tools": offered, "stream": stream, **options}


def chat_whole(body: Json) -> Said:
    choice = body["choices"][0]
    calls = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in choice["message"].get("tool_calls", [])
    ]
    text = choice["message"]["content"] or ""
    return Said(text, calls, body.get("usage"), choice["finish_reason"], body["model"])


def chat_stream(text: str) -> Said:
    assert text.endswith("data: [DONE]\n\n")
    said = Said()
    calls: dict[int, Json] = {}
    for _, chunk in sent_events(text):
        said.usage = chunk.get("usage") or said.usage
        said.model = chunk["model"]
        for choice in chunk["choices"]:
            said.text += choice["delta"].get("content") or ""
            said.stop = choice["finish_reason"] or said.stop
            for part in choice["delta"].get("tool_calls", []):
                call = calls.setdefault(part["index"], {"id": part.get("id"), "name": "", "arguments": ""})
                call["name"] += part["function"].get("name", "")
                call["arguments"] += part["function"].get("arguments", "")
    said.calls = [(call["id"], call["name"], json.loads(call["arguments"])) for call in calls.values()]
    return said


def chat_classes(usage: Json) -> Mapping[str, int]:
    details, output = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    cached = details.get("cached_tokens", 0)
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    return {
        "uncached": usage["prompt_tokens"] - cached,
        "cache_read": cached,
        "cache_write": 0,
        "output": usage["completion_tokens"],
        "reasoning": output.get("reasoning_tokens", 0),
    }


# Messages


def messages_body(model: str, prompt: str, tools: Sequence[str], done: Sequence[Done], stream: bool) -> Json:
    reminder = {
        "type": "text",
        "text": "<system-reminder>\nskill lines may be quoted here\n</system-reminder>",
    }
    messages: list[Json] = [
        {"role": "user", "content": [reminder, {"type": "text", "text": prompt}]},
        {"role": "system", "content": "a system message between the others"},
    ]
    for turn in done:
        blocks: list[Json] = [{"type": "text", "text": turn.said.text}] if turn.said.text else []
        blocks += [
            {"type": "tool_use", "id": identifier, "name": name, "input": arguments}
            for identifier, name, arguments in turn.said.calls
        ]
        messages.append({"role": "assistant", "content": blocks})
        results = [
            {"type": "tool_result", "tool_use_id": call[0], "content": result}
            for call, result in zip(turn.said.calls, turn.results, strict=True)
        ]
        messages.append({"role": "user", "content": results})
    offered = [{"name": name, "input_schema": COMMAND} for name in tools]
    return {"model": model, "max_tokens": 1000, "messages": messages, "tools": offered, "stream": stream}


def messages_whole(body: Json) -> Said:
    said = Said(usage=body.get("usage"), stop=body["stop_reason"], model=body["model"])
    for block in body["content"]:
        if block["type"] == "text":
            said.text += block["text"]
        elif block["type"] == "thinking":
            said.thought += block["thinking"]
        else:
            said.calls.append((block["id"], block["name"], block["input"]))
    return said


def messages_stream(text: str) -> Said:
    events = sent_events(text)
    assert all(name == data["type"] for name, data in events)
    assert [events[0][0], events[-1][0]] == ["message_start", "message_stop"]
    said = Said()
    blocks: dict[int, Json] = {}
    for _, data in events:
        if data["type"] == "message_start":
            said.model, said.usage = data["message"]["model"], dict(data["message"]["usage"])
        elif data["type"] == "content_block_start":
            assert data["index"] == len(blocks)
            blocks[data["index"]] = {**data["content_block"], "json": ""}
        elif data["type"] == "content_block_delta":
            block, delta = blocks[data["index"]], data["delta"]
            key = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
            if delta["type"] == "signature_delta":
                block["signature"] += delta["signature"]
            elif delta["type"] == "input_json_delta":
                block["json"] += delta["partial_json"]
            else:
                block[key[delta["type"]]] += delta[key[delta["type"]]]
        elif data["type"] == "message_delta":
            said.stop = data["delta"]["stop_reason"]
            said.usage = {**(said.usage or {}), **data["usage"]}
    for block in blocks.values():
        if block["type"] == "tool_use":
            said.calls.append((block["id"], block["name"], json.loads(block["json"])))
        said.text += block.get("text", "")
        said.thought += block.get("thinking", "")
    return said


def messages_classes(usage: Json) -> Mapping[str, int]:
    return {
        "uncached": usage["input_tokens"],
        "cache_read": usage.get("cache_read_input_tokens", 0),
        "cache_write": usage.get("cache_creation_input_tokens", 0),
        "output": usage["output_tokens"],
        "reasoning": (usage.get("output_tokens_details") or {}).get("thinking_tokens", 0),
    }


# Responses


def responses_body(model: str, prompt: str, tools: Sequence[str], done: Sequence[Done], stream: bool) -> Json:
    def message(role: str, text: str) -> Json:
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}

    items = [message("developer", "d"), message("user", "<environment/>"), message("user", prompt)]
    for turn in done:
        for identifier, name, arguments in turn.said.calls:
            call = {"call_id": identifier, "name": name, "arguments": json.dumps(arguments)}
            items.append({"type": "function_call", **call})
        for each, result in zip(turn.said.calls, turn.results, strict=True):
            items.append({"type": "function_call_output", "call_id": each[0], "output": result})
    offered = [{"type": "function", "name": name, "parameters": COMMAND} for name in tools]
    return {"model": model, "input": items, "tools": [*offered, {"type": "web_search"}], "stream": stream}


def responses_whole(body: Json) -> Said:
    assert (body["object"], body["status"], body["error"]) == ("response", "completed", None)
    said = Said(usage=body["usage"], stop=body["status"], model=body["model"])
    for item in body["output"]:
        if item["type"] == "message":
            said.text += "".join(part["text"] for part in item["content"])
        elif item["type"] == "custom_tool_call":
            said.calls.append((item["call_id"], item["name"], item["input"]))
        else:
            said.calls.append((item["call_id"], item["name"], json.loads(item["arguments"])))
    return said


def responses_stream(text: str) -> Said:
    events = sent_events(text)
    assert all(name == data["type"] for name, data in events)
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    assert [events[0][0], events[-1][0]] == ["response.created", "response.completed"]
    items: dict[int, Json] = {}
    for name, data in events:
        if name == "response.output_item.added":
            items[data["output_index"]] = {"streamed": "", **data["item"]}
        elif name is not None and name.endswith(".delta"):
            items[data["output_index"]]["streamed"] += data["delta"]
        elif name == "response.output_item.done":
            item, streamed = data["item"], items[data["output_index"]]["streamed"]
            whole = item.get("arguments", item.get("input"))
            shown = "".join(part["text"] for part in item.get("content", [])) if whole is None else whole
            assert shown == streamed
    said = responses_whole(events[-1][1]["response"])
    assert len(items) == len(events[-1][1]["response"]["output"])
    return said


def responses_classes(usage: Json) -> Mapping[str, int]:
    details, output = usage["input_tokens_details"] or {}, usage["output_tokens_details"] or {}
    cached = details.get("cached_tokens", 0)
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    return {
        "uncached": usage["input_tokens"] - cached,
        "cache_read": cached,
        "cache_write": 0,
        "output": usage["output_tokens"],
        "reasoning": output.get("reasoning_tokens", 0),
    }


# generateContent


def generate_body(
    _model: str, prompt: str, tools: Sequence[str], done: Sequence[Done], _stream: bool
) -> Json:
    contents: list[Json] = [{"role": "user", "parts": [{"text": "<context/>"}, {"text": prompt}]}]
    for turn in done:
        parts = [{"functionCall": {"name": name, "args": given}} for _, name, given in turn.said.calls]
        contents.append({"role": "model", "parts": [{"text": turn.said.text}, *parts]})
        answers = [
            {"functionResponse": {"name": call[1], "response": {"output": result}}}
            for call, result in zip(turn.said.calls, turn.results, strict=True)
        ]
        contents.append({"role": "user", "parts": answers})
    declared = [{"name": name, "parametersJsonSchema": COMMAND} for name in tools]
    return {"contents": contents, "tools": [{"functionDeclarations": declared}]}


def generate_whole(body: Json) -> Said:
    said = Said(usage=body.get("usageMetadata"), model=body["modelVersion"])
    _add_parts(said, body)
    return said


def _add_parts(said: Said, body: Json) -> None:
    candidate = body["candidates"][0]
    said.stop = candidate.get("finishReason", said.stop)
    for part in candidate["content"]["parts"]:
        if "functionCall" in part:
            call = part["functionCall"]
            said.calls.append((call["id"], call["name"], call["args"]))
        elif part.get("thought"):
            said.thought += part["text"]
        else:
            said.text += part["text"]


def generate_stream(text: str) -> Said:
    said = Said()
    for _, body in sent_events(text):
        said.model = body["modelVersion"]
        said.usage = body.get("usageMetadata", said.usage)
        assert said.stop is None
        _add_parts(said, body)
    return said


def generate_classes(usage: Json) -> Mapping[str, int]:
    cached, thoughts = usage.get("cachedContentTokenCount", 0), usage.get("thoughtsTokenCount", 0)
    output = usage["candidatesTokenCount"] + thoughts
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + output
    return {
        "uncached": usage["promptTokenCount"] - cached,
        "cache_read": cached,
        "cache_write": 0,
        "output": output,
        "reasoning": thoughts,
    }


def _generate_path(model: str, stream: bool) -> str:
    return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")


CHAT = Dialect(
    "chat-completions",
    lambda _model, _stream: "/v1/chat/completions",
    chat_body,
    chat_whole,
    chat_stream,
    chat_classes,
)
MESSAGES = Dialect(
    "messages",
    lambda _model, _stream: "/v1/messages?beta=true",
    messages_body,
    messages_whole,
    messages_stream,
    messages_classes,
)
RESPONSES = Dialect(
    "responses",
    lambda _model, _stream: "/v1/responses",
    responses_body,
    responses_whole,
    responses_stream,
    responses_classes,
)
GENERATE = Dialect(
    "generate-content", _generate_path, generate_body, generate_whole, generate_stream, generate_classes
)
DIALECTS = (CHAT, MESSAGES, RESPONSES, GENERATE)
