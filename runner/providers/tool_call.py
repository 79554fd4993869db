"""Tool call: one real request with one tool, and whether the answer calls it as an agent can read it.

A server whose tool-call parser does not fit its model answers well-formed nonsense: the call stands in the
text, and an agent takes that for its last word. Some parsers fail only where an answer is streamed, as it is
for agents, so it is streamed here.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.tool_call_answer import UNREADABLE, Answer, read_answer

SECONDS = 180.0
OUTPUT_TOKENS = 4096
"""Room for a model that reasons first."""
ATTEMPTS = 2
MAX_BYTES = 5_000_000
TOOL = "read_file"
PATH = "notes/plan.txt"
PROMPT = f"Read the file {PATH} with the tool {TOOL} now. Do not answer in words and do not ask."
ABOUT = "Reads a file of the project and returns its text."
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "path of the file"}},
    "required": ["path"],
}
RAW = re.compile(
    r"<tool_call|<\|?tool|<function[=\s]|\[TOOL_CALLS\]|<\|python_tag\|>|<minimax:tool|<\|channel\|>|"
    r"```tool|<invoke|<parameter|\{\s*\"name\"\s*:\s*\"" + TOOL
)
"""How models of several families begin a call in their own tokens."""
SHOWN = 120

ToolBody = Callable[[str], dict[str, object]]


@dataclass(frozen=True)
class ToolCallFault:
    """Why an agent could do nothing with the answer."""

    what: str
    fix: str


def tool_call_fault(
    endpoint: Endpoint, transport: httpx.BaseTransport | None = None, *, seconds: float = SECONDS
) -> ToolCallFault | None:
    """None where the model calls the tool as it should; else what is wrong and what to do.

    Words instead of a call are given a second chance, because a model may choose them; a call in raw tokens
    is not. This asks the model for an answer, so it costs what an answer costs.
    """
    fault: ToolCallFault | None = None
    for _ in range(ATTEMPTS):
        fault = _one_try(endpoint, transport, seconds)
        if fault is None or fault.fix != WORDS_FIX:
            return fault
    return fault


PARSER_FIX = "choose the tool_call_parser of the model's family in its recipe and start the server again"
WORDS_FIX = "see that the server was started with a tool-call parser that fits the model"
STALL_FIX = "see the server's log; a parser that waits for the end of a call that never comes looks like this"


def _one_try(
    endpoint: Endpoint, transport: httpx.BaseTransport | None, seconds: float
) -> ToolCallFault | None:
    path, body = REQUESTS[endpoint.protocol]
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    if endpoint.protocol is WireProtocol.MESSAGES:
        headers |= {"anthropic-version": "2023-06-01"}
        headers |= {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
    ends = time.monotonic() + seconds
    try:
        with (
            httpx.Client(
                transport=transport,
                # Certificates take longer to load than a local server to answer; http uses none.
                verify=not endpoint.base_url.startswith("http://"),
                timeout=seconds,
                trust_env=False,
            ) as client,
            client.stream(
                "POST", endpoint.base_url + path, json=body(endpoint.model), headers=headers
            ) as answer,
        ):
            data = b""
            for chunk in answer.iter_bytes():
                data += chunk
                if time.monotonic() > ends or len(data) > MAX_BYTES:
                    return ToolCallFault(
                        f"an answer to a request with a tool had no end within {seconds:.0f} s", STALL_FIX
                    )
    except httpx.TimeoutException:
        return ToolCallFault(f"a request with a tool had no answer within {seconds:.0f} s", STALL_FIX)
    except httpx.HTTPError as error:
        return ToolCallFault(
            f"the server broke a request with a tool off: {type(error).__name__}", "see the server's log"
        )
    said = data.decode(errors="replace")
    if answer.status_code != 200:
        return ToolCallFault(
            f"the server refuses a request with a tool ({answer.status_code}): {_one_line(said)}",
            "see the server's log; agents send such requests all the time",
        )
    try:
        found = read_answer(endpoint.protocol, said)
    except UNREADABLE:
        return ToolCallFault(f"the answer is none of the API: {_one_line(said)}", "choose another --protocol")
    return _judged(found)


def _judged(found: Answer) -> ToolCallFault | None:
    for name, arguments in found.calls:
        if name != TOOL:
            return ToolCallFault(f"the call is of {name!r}, not of the tool on offer ({TOOL})", PARSER_FIX)
        if not _holds_path(arguments):
            shown = _one_line(str(arguments))
            return ToolCallFault(f"the call's arguments cannot be read: {shown}", PARSER_FIX)
    if found.calls:
        return None
    if RAW.search(found.text):
        return ToolCallFault(
            f"the tool call comes back as text, in the model's own tokens: {_one_line(found.text)}",
            PARSER_FIX,
        )
    if found.cut_off:
        return ToolCallFault(
            f"the answer was cut off after {OUTPUT_TOKENS} tokens without a tool call",
            "give the model a reasoning parser, or see what it writes so much of",
        )
    return ToolCallFault(
        f"the model answers in words, without a tool call: {_one_line(found.text)}", WORDS_FIX
    )


def _holds_path(arguments: object) -> bool:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return False
    return isinstance(arguments, dict) and isinstance(arguments.get("path"), str)


def _chat(model: str) -> dict[str, object]:
    function = {"name": TOOL, "description": ABOUT, "parameters": SCHEMA}
    return {
        "model": model,
        "messages": [{"role": "user", "content": PROMPT}],
        "tools": [{"type": "function", "function": function}],
        "max_tokens": OUTPUT_TOKENS,
        "stream": True,
    }


def _responses(model: str) -> dict[str, object]:
    return {
        "model": model,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}],
        "tools": [{"type": "function", "name": TOOL, "description": ABOUT, "parameters": SCHEMA}],
        "max_output_tokens": OUTPUT_TOKENS,
        "store": False,
        "stream": True,
    }


def _messages(model: str) -> dict[str, object]:
    return {
        "model": model,
        "messages": [{"role": "user", "content": PROMPT}],
        "tools": [{"name": TOOL, "description": ABOUT, "input_schema": SCHEMA}],
        "max_tokens": OUTPUT_TOKENS,
        "stream": True,
    }


REQUESTS: Mapping[WireProtocol, tuple[str, ToolBody]] = {
    WireProtocol.CHAT_COMPLETIONS: ("/chat/completions", _chat),
    WireProtocol.RESPONSES: ("/responses", _responses),
    WireProtocol.MESSAGES: ("/v1/messages", _messages),
}


def _one_line(text: str) -> str:
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."
