"""Responses: reads requests and writes answers in OpenAI's newer protocol, streamed and whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner.replay.chat import told
from runner.replay.conversation import (
    Answer,
    Conversation,
    OfferedTool,
    RequestFault,
    ToolCall,
    description_in,
    model_in,
    pieces,
    schema_in,
    text_of,
)
from runner.replay.turns import Tokens
from runner.replay.wire import Call, Wire, error_kind, event, tells_nothing_at_start

CALLS = {"function_call", "custom_tool_call", "local_shell_call"}
RESULTS = {f"{kind}_output" for kind in CALLS}


def read_request(body: Mapping[str, object], _call: Call) -> Conversation:
    """The conversation in a request body.

    Raises:
        RequestFault: a field is missing or has the wrong form, or the request builds on a stored response.
    """
    model, items = model_in(body), _items(body)
    if body.get("previous_response_id") is not None:
        raise RequestFault(
            "'previous_response_id' is set, but no response is stored: send the whole conversation",
            code="previous_response_not_found",
        )
    results = [text_of(item.get("output")) for item in items if item.get("type") in RESULTS]
    text = schema_in(body, "text")
    form = schema_in(text, "format")
    return Conversation(
        model=model,
        stream=body.get("stream") is True,
        wants_usage=True,
        tools=_tools(body.get("tools"), None),
        tool_results=len(results),
        prompt=_prompt(items),
        results=tuple(results),
        schema=schema_in(form, "schema") if form.get("type") in {"json_schema", "json_object"} else None,
    )


def _items(body: Mapping[str, object]) -> list[dict[str, object]]:
    found = body.get("input")
    if isinstance(found, str):
        return [{"type": "message", "role": "user", "content": found}]
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise RequestFault("'input' is missing, or neither text nor a list of objects", code="missing_input")
    return found


def _prompt(items: list[dict[str, object]]) -> str:
    texts = []
    for item in items:
        if item.get("role") == "assistant" or item.get("type") in CALLS:
            break
        if item.get("role") == "user":
            texts.append(text_of(item.get("content")))
    return "\n".join(texts)


def _tools(offered: object, namespace: str | None) -> tuple[OfferedTool, ...]:
    """Functions, tools of plain text, and the functions inside a namespace; built-in tools are left out."""
    tools: list[OfferedTool] = []
    for entry in offered if isinstance(offered, list) else []:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            continue
        if entry.get("type") == "namespace" and namespace is None:
            tools += _tools(entry.get("tools"), name)
        elif entry.get("type") in {"function", "custom"}:
            freeform = entry["type"] == "custom"
            schema, said = schema_in(entry, "parameters"), description_in(entry)
            tools.append(OfferedTool(name, schema, namespace, freeform, said))
    return tuple(tools)


def usage_block(tokens: Tokens, *, cache_detail: bool) -> dict[str, object]:
    """``tokens`` under this protocol's names. It has no class for cache writes: they are plain input."""
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cache_read} if cache_detail else None,
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning} if cache_detail else None,
        "total_tokens": tokens.prompt + tokens.output,
    }


def _message(answer: Answer, text: str, status: str) -> dict[str, object]:
    content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
    identifier = f"msg_{answer.identifier}"
    return {
        "id": identifier,
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _call_item(call: ToolCall, arguments: str, status: str) -> dict[str, object]:
    kind, key = ("custom_tool_call", "input") if call.freeform else ("function_call", "arguments")
    item: dict[str, object] = {
        "id": f"{'ctc' if call.freeform else 'fc'}_{call.identifier}",
        "type": kind,
        "status": status,
        "call_id": call.identifier,
        "name": call.name,
        key: arguments,
    }
    if call.namespace is not None:
        item["namespace"] = call.namespace
    return item


def _output(answer: Answer) -> list[dict[str, object]]:
    said = [_message(answer, answer.text, "completed")] if answer.text or not answer.calls else []
    return said + [_call_item(call, call.arguments, "completed") for call in answer.calls]


def _response(answer: Answer, created: int, status: str) -> dict[str, object]:
    done = status == "completed"
    body: dict[str, object] = {
        "id": f"resp_{answer.identifier}",
        "object": "response",
        "created_at": created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": answer.model,
        "output": _output(answer) if done else [],
        "usage": None,
    }
    if done and answer.usage is not None:
        body["usage"] = usage_block(answer.usage, cache_detail=answer.cache_detail)
    return body


def whole_answer(answer: Answer, created: int) -> dict[str, object]:
    """The response body of a request that does not stream."""
    return _response(answer, created, "completed")


def events(answer: Answer, created: int) -> Iterator[bytes]:
    """The server-sent events of a streamed answer."""
    for number, (kind, more) in enumerate(_steps(answer, created)):
        yield event({"type": kind, "sequence_number": number, **more}, kind)


Step = tuple[str, dict[str, object]]


def _steps(answer: Answer, created: int) -> Iterator[Step]:
    begun = _response(answer, created, "in_progress")
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    position = 0
    if answer.text or not answer.calls:
        yield from _text_steps(answer, position)
        position += 1
    for call in answer.calls:
        yield from _call_steps(call, position)
        position += 1
    yield "response.completed", {"response": whole_answer(answer, created)}


def _text_steps(answer: Answer, position: int) -> Iterator[Step]:
    where: dict[str, object] = {"item_id": f"msg_{answer.identifier}", "output_index": position}
    part = {**where, "content_index": 0}
    yield (
        "response.output_item.added",
        {"output_index": position, "item": _message(answer, "", "in_progress")},
    )
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield "response.content_part.added", {**part, "part": empty}
    for piece in pieces(answer.text):
        yield "response.output_text.delta", {**part, "delta": piece}
    yield "response.output_text.done", {**part, "text": answer.text}
    yield "response.content_part.done", {**part, "part": {**empty, "text": answer.text}}
    done = _message(answer, answer.text, "completed")
    yield "response.output_item.done", {"output_index": position, "item": done}


def _call_steps(call: ToolCall, position: int) -> Iterator[Step]:
    begun = _call_item(call, "", "in_progress")
    where: dict[str, object] = {"item_id": begun["id"], "output_index": position}
    name, key = (
        ("custom_tool_call_input", "input") if call.freeform else ("function_call_arguments", "arguments")
    )
    yield "response.output_item.added", {"output_index": position, "item": begun}
    for piece in pieces(call.arguments, 400):
        yield f"response.{name}.delta", {**where, "delta": piece}
    yield f"response.{name}.done", {**where, key: call.arguments}
    done = _call_item(call, call.arguments, "completed")
    yield "response.output_item.done", {"output_index": position, "item": done}


def error_body(status: int, message: str, code: str) -> dict[str, object]:
    """An error in the form that clients of this protocol read."""
    return {"error": {"message": message, "type": error_kind(status), "code": code, "param": None}}


RESPONSES = Wire(
    name="responses",
    read=read_request,
    whole=whole_answer,
    events=events,
    error=error_body,
    told=told,
    told_at_start=tells_nothing_at_start,
)
