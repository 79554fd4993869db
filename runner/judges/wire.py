"""Wire: one question with a strict answer form, written and read in three protocols."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runner.harnesses.counts import NOT_A_CLASS, Counts, as_usage
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.stream import Event, count, items, mapping, text
from runner.judges.answer import SCHEMA_NAME
from runner.records import CacheSemantics, Usage

TOOL = "submit_judgement"
MAX_TEXT = 1_000_000
ANTHROPIC_VERSION = "2023-06-01"
Body = dict[str, object]


@dataclass(frozen=True)
class Said:
    """The answer in a response: its text, what it used, and why it ended early, if it did."""

    text: str
    usage: Usage | None
    cut: str | None = None


@dataclass(frozen=True)
class Wire:
    """One protocol."""

    path: str
    """Below the endpoint's base URL."""
    write: Callable[[str, str, Mapping[str, object] | None, int, str | None], Body]
    """From model, prompt, schema, output tokens and effort to the body of a request."""
    read: Callable[[Event], Said]
    headers: Callable[[str], Mapping[str, str]]


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _anthropic(key: str) -> Mapping[str, str]:
    return {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}


def _write_chat(
    model: str, prompt: str, schema: Mapping[str, object] | None, tokens: int, effort: str | None
) -> Body:
    body: Body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "max_completion_tokens": tokens,
    }
    if schema is not None:
        form = {"name": SCHEMA_NAME, "strict": True, "schema": dict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body | ({"reasoning_effort": effort} if effort else {})


def _read_chat(body: Event) -> Said:
    choices = items(body.get("choices"))
    choice = mapping(choices[0]) if choices else {}
    finish = text(choice.get("finish_reason"))
    return Said(
        text=text(mapping(choice.get("message")).get("content"), MAX_TEXT),
        usage=_usage_with_cache_inside(mapping(body.get("usage")), "prompt", "completion"),
        cut=finish if finish in {"length", "content_filter"} else None,
    )


def _write_responses(
    model: str, prompt: str, schema: Mapping[str, object] | None, tokens: int, effort: str | None
) -> Body:
    body: Body = {"model": model, "input": prompt, "max_output_tokens": tokens, "store": False}
    if schema is not None:
        form = {"type": "json_schema", "name": SCHEMA_NAME, "strict": True, "schema": dict(schema)}
        body["text"] = {"format": form}
    return body | ({"reasoning": {"effort": effort}} if effort else {})


def _read_responses(body: Event) -> Said:
    parts = [
        text(mapping(part).get("text"), MAX_TEXT)
        for item in map(mapping, items(body.get("output")))
        if item.get("type") == "message"
        for part in items(item.get("content"))
        if mapping(part).get("type") == "output_text"
    ]
    incomplete = text(mapping(body.get("incomplete_details")).get("reason"))
    cut = incomplete or (text(body.get("status")) if body.get("status") == "incomplete" else None)
    usage = _usage_with_cache_inside(mapping(body.get("usage")), "input", "output")
    return Said(text="".join(parts), usage=usage, cut=cut or None)


def _write_messages(
    model: str, prompt: str, schema: Mapping[str, object] | None, tokens: int, effort: str | None
) -> Body:
    body: Body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": tokens,
    }
    if schema is not None:
        tool = {
            "name": TOOL,
            "description": "Hands in the judgement. The arguments are the answer object.",
            "input_schema": dict(schema),
        }
        body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
    return body | ({"output_config": {"effort": effort}} if effort else {})


def _read_messages(body: Event) -> Said:
    blocks = [mapping(block) for block in items(body.get("content"))]
    handed_in = [block for block in blocks if block.get("type") == "tool_use" and block.get("name") == TOOL]
    if handed_in:
        said = json.dumps(handed_in[-1].get("input"), ensure_ascii=False)
    else:
        said = "".join(text(block.get("text"), MAX_TEXT) for block in blocks if block.get("type") == "text")
    stop = text(body.get("stop_reason"))
    return Said(
        text=said,
        usage=_usage_with_cache_beside(mapping(body.get("usage"))),
        cut=stop if stop in {"max_tokens", "refusal"} else None,
    )


def _usage_with_cache_beside(block: Event) -> Usage | None:
    """Usage of a protocol whose classes overlap nowhere."""
    places = {
        "input_tokens": "usage.input_tokens",
        "output_tokens": "usage.output_tokens",
        "cache_read_tokens": "usage.cache_read_input_tokens",
        "cache_write_tokens": "usage.cache_creation_input_tokens",
        "reasoning_tokens": "usage.output_tokens_details.thinking_tokens",
    }
    counts = Counts(
        fresh=count(block.get("input_tokens")),
        output=count(block.get("output_tokens")),
        read=count(block.get("cache_read_input_tokens")),
        write=count(block.get("cache_creation_input_tokens")),
        reasoning=count(mapping(block.get("output_tokens_details")).get("thinking_tokens")),
    )
    return None if counts.all_zero else as_usage(counts, places)


def _usage_with_cache_inside(block: Event, prompt: str, answer: str) -> Usage | None:
    """Usage of a protocol whose input holds what was read from a cache, and that has no class for writes.

    Where the part from the cache is not told, the input stays whole and that part is unknown.
    """
    whole, output = count(block.get(f"{prompt}_tokens")), count(block.get(f"{answer}_tokens"))
    read = count(mapping(block.get(f"{prompt}_tokens_details")).get("cached_tokens"))
    reasoning = count(mapping(block.get(f"{answer}_tokens_details")).get("reasoning_tokens"))
    if whole is None or output is None or not whole + output:
        return None
    sources = {
        "input_tokens": f"usage.{prompt}_tokens",
        "output_tokens": f"usage.{answer}_tokens",
        "cache_write_tokens": NOT_A_CLASS,
        "reasoning_tokens": f"usage.{answer}_tokens_details.reasoning_tokens",
    }
    if read is not None and read <= whole:
        sources["input_tokens"] += " less cached_tokens"
        sources["cache_read_tokens"] = f"usage.{prompt}_tokens_details.cached_tokens"
        return as_usage(Counts(whole - read, output, read, 0, reasoning), sources)
    told = as_usage(Counts(whole, output, None, 0, reasoning), sources)
    return told.model_copy(update={"cache_semantics": CacheSemantics.PARTITION})


WIRES: Mapping[WireProtocol, Wire] = {
    WireProtocol.CHAT_COMPLETIONS: Wire("/chat/completions", _write_chat, _read_chat, _bearer),
    WireProtocol.RESPONSES: Wire("/responses", _write_responses, _read_responses, _bearer),
    WireProtocol.MESSAGES: Wire("/v1/messages", _write_messages, _read_messages, _anthropic),
}
