"""Converse: reads requests and writes answers in the one form that Amazon Bedrock has for all models."""

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
    text_of,
)
from runner.replay.event_stream import frame
from runner.replay.invoke import error_body
from runner.replay.turns import Tokens
from runner.replay.wire import Call, Wire, tells_nothing_at_start


def read_request(body: Mapping[str, object], call: Call) -> Conversation:
    """The conversation in a request body; model and streaming are in the address.

    Raises:
        RequestFault: a field is missing or has the wrong form.
    """
    found = objects_in(body, "messages")
    results = [
        text_of(result.get("content"))
        for message in found
        if message.get("role") == "user"
        for block in _blocks(message)
        if isinstance(result := block.get("toolResult"), dict)
    ]
    extra = body.get("additionalModelRequestFields")
    thinking = extra.get("thinking") if isinstance(extra, dict) else None
    return Conversation(
        model=model_in({"model": call.model}),
        stream=call.stream is True,
        wants_usage=True,
        tools=_tools(body),
        tool_results=len(results),
        prompt=_prompt(found),
        results=tuple(results),
        thinking=isinstance(thinking, dict) and thinking.get("type") in {"enabled", "adaptive"},
    )


def _blocks(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _prompt(found: list[dict[str, object]]) -> str:
    texts = []
    for message in found:
        if message.get("role") == "assistant":
            break
        texts.append(text_of(message.get("content")))
    return "\n".join(texts)


def _tools(body: Mapping[str, object]) -> tuple[OfferedTool, ...]:
    offered = schema_in(body, "toolConfig").get("tools")
    entries = offered if isinstance(offered, list) else []
    specs = [schema_in(entry, "toolSpec") for entry in entries if isinstance(entry, dict)]
    return tuple(
        OfferedTool(
            str(spec["name"]),
            schema_in(schema_in(spec, "inputSchema"), "json"),
            description=description_in(spec),
        )
        for spec in specs
        if isinstance(spec.get("name"), str)
    )


def usage_block(tokens: Tokens, *, cache_detail: bool) -> dict[str, object]:
    """``tokens`` under this protocol's names, whose classes overlap nowhere; it has none for reasoning."""
    total = tokens.prompt + tokens.output
    if not cache_detail:
        return {"inputTokens": tokens.prompt, "outputTokens": tokens.output, "totalTokens": total}
    return {
        "inputTokens": tokens.uncached,
        "outputTokens": tokens.output,
        "totalTokens": total,
        "cacheReadInputTokens": tokens.cache_read,
        "cacheWriteInputTokens": tokens.cache_write,
    }


def _content(answer: Answer) -> list[dict[str, object]]:
    blocks: list[dict[str, object]] = []
    if answer.thought:
        text = {"text": answer.thought, "signature": _signature(answer)}
        blocks.append({"reasoningContent": {"reasoningText": text}})
    if answer.text or not answer.calls:
        blocks.append({"text": answer.text})
    for call in answer.calls:
        use = {"toolUseId": call.identifier, "name": call.name, "input": _input(call.arguments)}
        blocks.append({"toolUse": use})
    return blocks


def _signature(answer: Answer) -> str:
    return base64.b64encode(answer.identifier.encode()).decode()


def _input(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return {"arguments": arguments}


def _stop_reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def whole_answer(answer: Answer, _created: int) -> dict[str, object]:
    """The response body of a request that does not stream."""
    body: dict[str, object] = {
        "output": {"message": {"role": "assistant", "content": _content(answer)}},
        "stopReason": _stop_reason(answer),
        "metrics": {"latencyMs": 1},
    }
    if answer.usage is not None:
        body["usage"] = usage_block(answer.usage, cache_detail=answer.cache_detail)
    return body


def events(answer: Answer, _created: int) -> Iterator[bytes]:
    """The frames of a streamed answer."""
    yield frame("messageStart", {"role": "assistant"})
    arguments = iter([call.arguments for call in answer.calls])
    for index, block in enumerate(_content(answer)):
        yield from _streamed(block, index, arguments)
        yield frame("contentBlockStop", {"contentBlockIndex": index})
    yield frame("messageStop", {"stopReason": _stop_reason(answer)})
    if answer.usage is not None:
        usage = usage_block(answer.usage, cache_detail=answer.cache_detail)
        yield frame("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})


def _streamed(block: Mapping[str, object], index: int, arguments: Iterator[str]) -> Iterator[bytes]:
    """The frames that fill one block; only those of tool calls have a start."""

    def delta(**content: object) -> bytes:
        """One frame with a part of the block."""
        return frame("contentBlockDelta", {"contentBlockIndex": index, "delta": content})

    if "reasoningContent" in block:
        text = schema_in(schema_in(block, "reasoningContent"), "reasoningText")
        for part in pieces(str(text["text"])):
            yield delta(reasoningContent={"text": part})
        yield delta(reasoningContent={"signature": text["signature"]})
    elif "text" in block:
        for part in pieces(str(block["text"])):
            yield delta(text=part)
    else:
        use = schema_in(block, "toolUse")
        start = {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}
        yield frame("contentBlockStart", {"contentBlockIndex": index, "start": start})
        for part in pieces(next(arguments), 400):
            yield delta(toolUse={"input": part})


def told(tokens: Tokens, cache_detail: bool) -> Tokens:
    """Reasoning has no field of its own; without cache detail all input is fresh."""
    if not cache_detail:
        return Tokens(uncached=tokens.prompt, output=tokens.output)
    return tokens.model_copy(update={"reasoning": 0})


CONVERSE = Wire(
    name="bedrock-converse",
    read=read_request,
    whole=whole_answer,
    events=events,
    error=error_body,
    told=told,
    told_at_start=tells_nothing_at_start,
)
