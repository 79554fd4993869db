"""Messages: reads requests and writes answers in Anthropic's protocol, streamed and whole."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping

from runner.replay.conversation import (
    Answer,
    Conversation,
    OfferedTool,
    description_in,
    model_in,
    objects_in,
    pieces,
    schema_in,
    talk_in,
    text_of,
)
from runner.replay.turns import Tokens
from runner.replay.wire import Call, Wire, event

FORM_TOOL = "StructuredOutput"
OUTPUT_AT_START = 1
"""Output tokens in the first event of a stream: a placeholder until the last event, as vendors send it."""
ERROR_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def read_request(body: Mapping[str, object], _call: Call) -> Conversation:
    """The conversation in a request body. Messages of the role ``system`` between the others are accepted.

    Raises:
        RequestFault: a field is missing or has the wrong form.
    """
    model, messages = model_in(body), objects_in(body, "messages")
    said = [(str(message.get("role")), text_of(message.get("content"))) for message in messages]
    talk = talk_in(said, text_of(body.get("system")))
    results = [
        text_of(block.get("content"))
        for message in messages
        if message.get("role") == "user"
        for block in _blocks(message.get("content"))
        if block.get("type") == "tool_result"
    ]
    thinking = body.get("thinking")
    return Conversation(
        model=model,
        stream=body.get("stream") is True,
        wants_usage=True,
        tools=_tools(body.get("tools")),
        tool_results=len(results),
        prompt=talk.prompt,
        results=tuple(results),
        schema=_output_schema(body),
        thinking=isinstance(thinking, dict) and thinking.get("type") in {"enabled", "adaptive"},
        answer_tool=_answer_tool(body),
        heard=talk.heard,
        answers=talk.answers,
    )


def _answer_tool(body: Mapping[str, object]) -> str | None:
    """The tool that has to be called, or the one that an agent adds for answers in a given form."""
    choice = schema_in(body, "tool_choice")
    forced = choice.get("name") if choice.get("type") == "tool" else None
    if isinstance(forced, str):
        return forced
    return next((tool.name for tool in _tools(body.get("tools")) if tool.name == FORM_TOOL), None)


def _blocks(content: object) -> list[Mapping[str, object]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _tools(offered: object) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(entry["name"], schema_in(entry, "input_schema"), description=description_in(entry))
        for entry in (offered if isinstance(offered, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    )


def _output_schema(body: Mapping[str, object]) -> Mapping[str, object] | None:
    form = schema_in(schema_in(body, "output_config"), "format") or schema_in(body, "output_format")
    return schema_in(form, "schema") if form.get("type") == "json_schema" else None


def usage_block(tokens: Tokens, *, cache_detail: bool) -> dict[str, object]:
    """``tokens`` under this protocol's names, whose classes overlap nowhere."""
    if not cache_detail:
        return {"input_tokens": tokens.prompt, "output_tokens": tokens.output}
    return {
        "input_tokens": tokens.uncached,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
        "output_tokens_details": {"thinking_tokens": tokens.reasoning},
    }


def _content(answer: Answer) -> list[dict[str, object]]:
    blocks: list[dict[str, object]] = []
    if answer.thought:
        blocks.append({"type": "thinking", "thinking": answer.thought, "signature": _signature(answer)})
    if answer.text or not answer.calls:
        blocks.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        blocks.append(
            {"type": "tool_use", "id": call.identifier, "name": call.name, "input": _input(call.arguments)}
        )
    return blocks


def _signature(answer: Answer) -> str:
    return base64.b64encode(answer.identifier.encode()).decode()


def _input(arguments: str) -> dict[str, object]:
    """Arguments as an object; what is no object, as a scripted mistake may be, stands under one key."""
    try:
        parsed = json.loads(arguments)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"arguments": arguments}


def _head(answer: Answer) -> dict[str, object]:
    return {
        "id": answer.identifier,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }


def _stop_reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def whole_answer(answer: Answer, _created: int) -> dict[str, object]:
    """The response body of a request that does not stream."""
    body = _head(answer) | {"content": _content(answer), "stop_reason": _stop_reason(answer)}
    if answer.usage is not None:
        body["usage"] = usage_block(answer.usage, cache_detail=answer.cache_detail)
    return body


def events(answer: Answer, _created: int) -> Iterator[bytes]:
    """The server-sent events of a streamed answer."""
    start = _head(answer) | {"content": [], "stop_reason": None}
    final: dict[str, object] = {"output_tokens": 0}
    if answer.usage is not None:
        final = usage_block(answer.usage, cache_detail=answer.cache_detail)
        first = usage_block(told_at_start(answer.usage, True), cache_detail=answer.cache_detail)
        first.pop("output_tokens_details", None)
        start["usage"] = first
    else:
        start["usage"] = {"input_tokens": 0, "output_tokens": 0}
    yield event({"type": "message_start", "message": start}, "message_start")
    yield event({"type": "ping"}, "ping")
    arguments = iter([call.arguments for call in answer.calls])
    for index, block in enumerate(_content(answer)):
        empty, deltas = _streamed(block, arguments)
        yield _block_event("start", index, content_block=empty)
        for delta in deltas:
            yield _block_event("delta", index, delta=delta)
        yield _block_event("stop", index)
    stop = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
    yield event({"type": "message_delta", "delta": stop, "usage": final}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _block_event(kind: str, index: int, **more: object) -> bytes:
    name = f"content_block_{kind}"
    return event({"type": name, "index": index, **more}, name)


def _streamed(
    block: Mapping[str, object], arguments: Iterator[str]
) -> tuple[dict[str, object], list[dict[str, object]]]:
    """A block as it starts, and the deltas that fill it."""
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces(str(block["thinking"]))]
        deltas.append({"type": "signature_delta", "signature": str(block["signature"])})
        return {"type": "thinking", "thinking": "", "signature": ""}, [dict(delta) for delta in deltas]
    if block["type"] == "text":
        texts = pieces(str(block["text"]))
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in texts]
    parts = pieces(next(arguments), 400)
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]


def error_body(status: int, message: str, _code: str) -> dict[str, object]:
    """An error in the form that clients of this protocol read."""
    kind = ERROR_KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def told(tokens: Tokens, cache_detail: bool) -> Tokens:
    """Every class has its field; without cache detail all input is fresh, and reasoning is not known."""
    return tokens if cache_detail else Tokens(uncached=tokens.prompt, output=tokens.output)


def told_at_start(tokens: Tokens, cache_detail: bool) -> Tokens:
    """The whole input and a placeholder for the output."""
    known = told(tokens, cache_detail)
    return Tokens(
        uncached=known.uncached,
        cache_read=known.cache_read,
        cache_write=known.cache_write,
        output=min(OUTPUT_AT_START, known.output),
    )


MESSAGES = Wire(
    name="messages",
    read=read_request,
    whole=whole_answer,
    events=events,
    error=error_body,
    told=told,
    told_at_start=told_at_start,
)
