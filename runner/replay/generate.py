"""generateContent: reads requests and writes answers in Gemini's protocol, streamed and whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from runner.replay.conversation import (
    Answer,
    Conversation,
    OfferedTool,
    RequestFault,
    objects_in,
    schema_in,
    text_of,
)
from runner.replay.turns import Tokens
from runner.replay.wire import Call, Wire, event, tells_nothing_at_start

STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def read_request(body: Mapping[str, object], call: Call) -> Conversation:
    """The conversation in a request body; model and streaming are parts of the address.

    Raises:
        RequestFault: a field is missing or has the wrong form.
    """
    if not call.model:
        raise RequestFault("the address names no model", code="missing_model")
    contents = objects_in(body, "contents")
    results = [
        json.dumps(part["functionResponse"], ensure_ascii=False)
        for content in contents
        for part in _parts(content)
        if "functionResponse" in part
    ]
    generation = schema_in(body, "generationConfig")
    thoughts = schema_in(generation, "thinkingConfig")
    schema = schema_in(generation, "responseJsonSchema", "responseSchema")
    wants_json = generation.get("responseMimeType") == "application/json"
    return Conversation(
        model=call.model,
        stream=bool(call.stream),
        wants_usage=True,
        tools=_tools(body.get("tools")),
        tool_results=len(results),
        prompt=_prompt(contents),
        results=tuple(results),
        schema=schema if wants_json or schema else None,
        thinking=thoughts.get("includeThoughts") is True,
    )


def _parts(content: Mapping[str, object]) -> list[Mapping[str, object]]:
    parts = content.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _prompt(contents: list[dict[str, object]]) -> str:
    texts = []
    for content in contents:
        if content.get("role") == "model":
            break
        texts.append(text_of(content.get("parts")))
    return "\n".join(texts)


def _tools(offered: object) -> tuple[OfferedTool, ...]:
    tools = []
    for entry in offered if isinstance(offered, list) else []:
        declared = entry.get("functionDeclarations") if isinstance(entry, dict) else None
        for function in declared if isinstance(declared, list) else []:
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                schema = schema_in(function, "parametersJsonSchema", "parameters")
                tools.append(OfferedTool(function["name"], schema))
    return tuple(tools)


def usage_block(tokens: Tokens, *, cache_detail: bool) -> dict[str, object]:
    """``tokens`` under this protocol's names: input with the cache in it, output without the thoughts."""
    block: dict[str, object] = {
        "promptTokenCount": tokens.prompt,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.prompt + tokens.output,
    }
    if cache_detail:
        block["cachedContentTokenCount"] = tokens.cache_read
    return block


def _answer_parts(answer: Answer) -> list[dict[str, object]]:
    parts: list[dict[str, object]] = []
    if answer.thought:
        parts.append({"text": answer.thought, "thought": True})
    if answer.text or not answer.calls:
        parts.append({"text": answer.text})
    for call in answer.calls:
        function = {"id": call.identifier, "name": call.name, "args": _arguments(call.arguments)}
        parts.append({"functionCall": function})
    return parts


def _arguments(text: str) -> dict[str, object]:
    """Arguments as an object; what is no object, as a scripted mistake may be, stands under one key."""
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"arguments": text}


def _response(answer: Answer, parts: list[dict[str, object]], *, last: bool) -> dict[str, object]:
    candidate: dict[str, object] = {"content": {"role": "model", "parts": parts}, "index": 0}
    body: dict[str, object] = {
        "candidates": [candidate],
        "modelVersion": answer.model,
        "responseId": answer.identifier,
    }
    if last:
        candidate["finishReason"] = "STOP"
        if answer.usage is not None:
            body["usageMetadata"] = usage_block(answer.usage, cache_detail=answer.cache_detail)
    return body


def whole_answer(answer: Answer, _created: int) -> dict[str, object]:
    """The response body of a request that does not stream."""
    return _response(answer, _answer_parts(answer), last=True)


def events(answer: Answer, _created: int) -> Iterator[bytes]:
    """The server-sent events of a streamed answer: one for each part, the last with the usage."""
    parts = _answer_parts(answer)
    for number, part in enumerate(parts, start=1):
        yield event(_response(answer, [part], last=number == len(parts)))


def error_body(status: int, message: str, _code: str) -> dict[str, object]:
    """An error in the form that clients of this protocol read."""
    name = STATUS_NAMES.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": name}}


def told(tokens: Tokens, cache_detail: bool) -> Tokens:
    """Cache writes are fresh input here; without cache detail so is all input. Thoughts are always told."""
    read = tokens.cache_read if cache_detail else 0
    return Tokens(
        uncached=tokens.prompt - read, cache_read=read, output=tokens.output, reasoning=tokens.reasoning
    )


GENERATE_CONTENT = Wire(
    name="generate-content",
    read=read_request,
    whole=whole_answer,
    events=events,
    error=error_body,
    told=told,
    told_at_start=tells_nothing_at_start,
)
