"""Chat Completions: reads requests and writes answers in OpenAI's protocol, streamed and whole."""

from __future__ import annotations

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
from runner.replay.wire import Call, Wire, error_kind, event, tells_nothing_at_start

TEXT_PIECE, ARGUMENT_PIECE = 24, 400
"""Characters of each piece of a stream."""


def read_request(body: Mapping[str, object], _call: Call) -> Conversation:
    """The conversation in a request body.

    Raises:
        RequestFault: a field is missing or has the wrong form.
    """
    model, messages = model_in(body), objects_in(body, "messages")
    options = body.get("stream_options")
    stream = body.get("stream") is True
    wants_usage = not stream or (isinstance(options, dict) and options.get("include_usage") is True)
    talk = talk_in([(str(message.get("role")), text_of(message.get("content"))) for message in messages])
    results = [text_of(message.get("content")) for message in messages if message.get("role") == "tool"]
    return Conversation(
        model=model,
        stream=stream,
        wants_usage=wants_usage,
        tools=_tools(body.get("tools")),
        tool_results=len(results),
        prompt=talk.prompt,
        results=tuple(results),
        schema=_output_schema(body.get("response_format")),
        heard=talk.heard,
        answers=talk.answers,
    )


def _output_schema(form: object) -> Mapping[str, object] | None:
    if not isinstance(form, dict) or form.get("type") not in {"json_schema", "json_object"}:
        return None
    return schema_in(schema_in(form, "json_schema"), "schema")


def _tools(offered: object) -> tuple[OfferedTool, ...]:
    tools = []
    for entry in offered if isinstance(offered, list) else []:
        function = entry.get("function") if isinstance(entry, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            schema, said = schema_in(function, "parameters"), description_in(function)
            tools.append(OfferedTool(function["name"], schema, description=said))
    return tuple(tools)


def usage_block(tokens: Tokens, *, cache_detail: bool) -> dict[str, object]:
    """``tokens`` under this protocol's names. It has no class for cache writes: they are plain input."""
    block: dict[str, object] = {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt + tokens.output,
    }
    if cache_detail:
        block["prompt_tokens_details"] = {"cached_tokens": tokens.cache_read}
        block["completion_tokens_details"] = {"reasoning_tokens": tokens.reasoning}
    return block


def whole_answer(answer: Answer, created: int) -> dict[str, object]:
    """The response body of a request that does not stream."""
    message: dict[str, object] = {"role": "assistant", "content": answer.text or None}
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.identifier,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in answer.calls
        ]
    body: dict[str, object] = {
        "id": answer.identifier,
        "object": "chat.completion",
        "created": created,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(answer), "logprobs": None}],
    }
    if answer.usage is not None:
        body["usage"] = usage_block(answer.usage, cache_detail=answer.cache_detail)
    return body


def events(answer: Answer, created: int) -> Iterator[bytes]:
    """The server-sent events of a streamed answer, the closing ``[DONE]`` included."""

    def chunk(choices: list[object], **more: object) -> bytes:
        """One event of the stream."""
        body = {
            "id": answer.identifier,
            "object": "chat.completion.chunk",
            "created": created,
            "model": answer.model,
            "choices": choices,
            **more,
        }
        return event(body)

    def delta(content: Mapping[str, object], finish: str | None = None) -> bytes:
        """One event with a part of the only choice."""
        return chunk([{"index": 0, "delta": content, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": ""})
    for piece in pieces(answer.thought):
        yield delta({"reasoning_content": piece})
    for piece in pieces(answer.text, answer.piece or TEXT_PIECE):
        yield delta({"content": piece})
    for index, call in enumerate(answer.calls):
        head = {"name": call.name, "arguments": ""}
        entry = {"index": index, "id": call.identifier, "type": "function", "function": head}
        yield delta({"tool_calls": [entry]})
        again = {"id": call.identifier} if answer.piece else {}
        for piece in pieces(call.arguments, answer.piece or ARGUMENT_PIECE):
            yield delta({"tool_calls": [{"index": index, **again, "function": {"arguments": piece}}]})
    yield delta({}, _finish(answer))
    if answer.usage is not None:
        yield chunk([], usage=usage_block(answer.usage, cache_detail=answer.cache_detail))
    yield b"data: [DONE]\n\n"


def _finish(answer: Answer) -> str:
    if answer.calls:
        return "tool_calls"
    return "length" if answer.at_limit else "stop"


def error_body(status: int, message: str, code: str) -> dict[str, object]:
    """An error in the form that clients of this protocol read."""
    return {"error": {"message": message, "type": error_kind(status), "code": code, "param": None}}


def told(tokens: Tokens, cache_detail: bool) -> Tokens:
    """Cache writes are fresh input here; without details so is all input, and reasoning is not known."""
    if not cache_detail:
        return Tokens(uncached=tokens.prompt, output=tokens.output)
    return Tokens(
        uncached=tokens.uncached + tokens.cache_write,
        cache_read=tokens.cache_read,
        output=tokens.output,
        reasoning=tokens.reasoning,
    )


CHAT = Wire(
    name="chat-completions",
    read=read_request,
    whole=whole_answer,
    events=events,
    error=error_body,
    told=told,
    told_at_start=tells_nothing_at_start,
)
