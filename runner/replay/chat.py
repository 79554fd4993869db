"""Chat Completions: reads requests and writes answers in OpenAI's protocol, streamed and whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from runner.replay.conversation import Answer, Conversation, OfferedTool, RequestFault
from runner.replay.turns import Tokens

API_PATH = "/v1/chat/completions"
PIECE = 24


def read_request(body: Mapping[str, object]) -> Conversation:
    """The conversation in a request body.

    Raises:
        RequestFault: a field is missing or has the wrong form.
    """
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        raise RequestFault("'model' is missing or no string", code="missing_model")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise RequestFault("'messages' is missing or no list of objects", code="missing_messages")
    options = body.get("stream_options")
    stream = body.get("stream") is True
    wants_usage = not stream or (isinstance(options, dict) and options.get("include_usage") is True)
    prompts = [_text(message.get("content")) for message in messages if message.get("role") == "user"]
    return Conversation(
        model=model,
        stream=stream,
        wants_usage=wants_usage,
        tools=_tools(body.get("tools")),
        tool_results=sum(message.get("role") == "tool" for message in messages),
        prompt=prompts[0] if prompts else "",
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _tools(offered: object) -> tuple[OfferedTool, ...]:
    tools = []
    for entry in offered if isinstance(offered, list) else []:
        function = entry.get("function") if isinstance(entry, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            schema = function.get("parameters")
            tools.append(OfferedTool(function["name"], schema if isinstance(schema, dict) else {}))
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
        body = {
            "id": answer.identifier,
            "object": "chat.completion.chunk",
            "created": created,
            "model": answer.model,
            "choices": choices,
            **more,
        }
        return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"

    def delta(content: Mapping[str, object], finish: str | None = None) -> bytes:
        return chunk([{"index": 0, "delta": content, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": ""})
    for piece in _pieces(answer.text):
        yield delta({"content": piece})
    for index, call in enumerate(answer.calls):
        head = {"name": call.name, "arguments": ""}
        entry = {"index": index, "id": call.identifier, "type": "function", "function": head}
        yield delta({"tool_calls": [entry]})
        for piece in _pieces(call.arguments, 400):
            yield delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield delta({}, _finish(answer))
    if answer.usage is not None:
        yield chunk([], usage=usage_block(answer.usage, cache_detail=answer.cache_detail))
    yield b"data: [DONE]\n\n"


def _pieces(text: str, size: int = PIECE) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def error_body(message: str, *, code: str, kind: str = "invalid_request_error") -> dict[str, object]:
    """An error in the form that clients of this protocol read."""
    return {"error": {"message": message, "type": kind, "code": code, "param": None}}
