"""Strands driver: a coding agent built of the Strands library, run in the library's own environment.

Reads the prompt from standard input, settings from the file named first, the key from ``KEY_VARIABLE``, and
writes one JSON object a line. Imports nothing of Harnessmark, which is not there.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

KEY_VARIABLE = "STRANDS_API_KEY"
ATTEMPTS = 5
FIRST_PAUSE_SECONDS = 1.0
LAST_PAUSE_SECONDS = 30.0
SILENCE_SECONDS = 600.0
PASSING = frozenset({408, 409, 429})
CONNECTION_ERRORS = frozenset(
    {"APIConnectionError", "APITimeoutError", "ModelThrottledException", "BrokenAnswer"}
)
PREVIEW = 300
MAX_ERROR = 1000
MAX_MESSAGE = 4000
DONE = "end_turn"
SYSTEM = """\
You are a coding agent. You work in the folder {folder}, which is the current folder of every shell command;
the file editor takes absolute paths. Nobody can answer questions: do the whole task with your tools, and
check what you did. Your last message, one without a tool call, ends the work.
"""


class BrokenAnswer(Exception):
    """An answer ended before its model said that it was done."""


class Teller:
    """Writes events; what libraries print goes to standard error instead."""

    def __init__(self) -> None:
        self.calls = 0
        self._events: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        os.dup2(2, 1)

    def tell(self, event: str, **fields: object) -> None:
        """One line, at once."""
        line = json.dumps({"type": event, **fields}, ensure_ascii=True, default=str)
        self._events.write(f"{line}\n")
        self._events.flush()

    def request(self) -> int:
        """A request to the model begins, summaries included; its index."""
        self.calls += 1
        self.tell("request", index=self.calls - 1)
        return self.calls - 1


def shown(error: BaseException) -> str:
    """An error with its kind."""
    return f"{type(error).__name__}: {error}"[:MAX_ERROR]


def passes(error: BaseException) -> bool:
    """Whether the same request may go well later."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status in PASSING or status >= 500
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & CONNECTION_ERRORS) or "TransportError" in kinds


def was_refused(error: BaseException) -> bool:
    """Whether the server turned the request away, also where the library wrapped that into its own error."""
    return any(isinstance(getattr(each, "status_code", None), int) for each in (error, error.__cause__))


def remember_details(model: Any, told: dict[str, Any]) -> None:
    """Keep what the library leaves out of its counts: reasoning, and whether an answer came to its end."""
    formatted = model.format_chunk

    def keeping(event: dict[str, Any], **kwargs: Any) -> Any:
        """Format one part of an answer, keeping the details that it carries."""
        data = event.get("data")
        if event.get("chunk_type") == "message_stop" and data == DONE:
            # The protocol knows no such reason: the library puts it where none came.
            raise BrokenAnswer("the answer ended without a reason")
        details = getattr(data, "completion_tokens_details", None)
        reasoning = getattr(details, "reasoning_tokens", None)
        if isinstance(reasoning, int):
            told["reasoningTokens"] = reasoning
        return formatted(event, **kwargs)

    model.format_chunk = keeping


def remember_thinking(client: Any, told: dict[str, Any]) -> None:
    """The same for Messages, where the library passes on whole numbers only and reasoning lies deeper."""
    streamed = client.messages.stream

    @asynccontextmanager
    async def stream(**request: Any) -> AsyncIterator[Any]:
        """Stream one answer, keeping the details of its last message."""
        async with streamed(**request) as answer:
            yield answer
            message = await answer.get_final_message()
        details = getattr(message.usage, "output_tokens_details", None)
        thinking = getattr(details, "thinking_tokens", None)
        if isinstance(thinking, int):
            told["reasoningTokens"] = thinking

    client.messages.stream = stream


def tell_calls(model: Any, teller: Teller) -> Any:
    """``model`` with events for each of its requests, which only the model itself sees all of."""
    details: dict[str, Any] = {}
    remember_details(model, details)
    if hasattr(getattr(model, "client", None), "messages"):
        remember_thinking(model.client, details)
    unmetered = model.stream

    async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Stream one answer and tell how it ended, also where it did not."""
        details.clear()
        index = teller.request()
        stop_reason: str | None = None
        usage: dict[str, Any] | None = None
        failure: BaseException | None = BrokenAnswer("nobody waited for the rest of the answer")
        try:
            async for event in unmetered(*args, **kwargs):
                stop_reason = event.get("messageStop", {}).get("stopReason", stop_reason)
                usage = event.get("metadata", {}).get("usage", usage)
                yield event
            if stop_reason is None:
                raise BrokenAnswer("the answer ended without a reason")
            failure = None
        except Exception as caught:
            # Whatever it is, the line below says it; the agent decides what becomes of it.
            failure = caught
            raise
        finally:
            teller.tell(
                "model_call",
                index=index,
                stop_reason=stop_reason,
                error=None if failure is None else shown(failure),
                refused=failure is not None and was_refused(failure),
                usage=None if usage is None else {**usage, **details},
            )

    model.stream = stream
    return model


def open_model(settings: dict[str, Any], key: str) -> Any:
    """The client of the API that the settings name; it tries nothing twice by itself."""
    client = {
        "base_url": settings["base_url"],
        "api_key": key,
        "max_retries": 0,
        "timeout": SILENCE_SECONDS,
    }
    shared = {"model_id": settings["model"], "context_window_limit": settings["window"]}
    if settings["protocol"] == "messages":
        anthropic: Any = import_module("strands.models.anthropic")
        return anthropic.AnthropicModel(client_args=client, max_tokens=settings["answer"], **shared)
    openai: Any = import_module("strands.models.openai")
    return openai.OpenAIModel(client_args=client, params={"max_tokens": settings["answer"]}, **shared)


def build(settings: dict[str, Any], key: str, teller: Teller) -> Any:
    """The agent: a shell, a file editor, and summaries of what no longer fits."""
    library, tools, events = (
        import_module(name) for name in ("strands", "strands.vended_tools", "strands.hooks.events")
    )
    managers: Any = import_module("strands.agent.conversation_manager")
    agent: Any = library.Agent(
        model=tell_calls(open_model(settings, key), teller),
        tools=[tools.shell, tools.file_editor],
        system_prompt=SYSTEM.format(folder=Path.cwd()),
        callback_handler=None,
        conversation_manager=managers.SummarizingConversationManager(
            pin_first=1,
            preserve_recent_messages=6,
            proactive_compression={"compression_threshold": settings["fraction"]},
        ),
        retry_strategy=None,
        load_tools_from_directory=False,
    )
    failures = 0

    async def try_again(event: Any) -> None:
        """After a failure that passes, wait and have the request sent again."""
        nonlocal failures
        failures = failures + 1 if event.exception is not None else 0
        if event.exception is None or failures >= ATTEMPTS or not passes(event.exception):
            return
        pause = min(FIRST_PAUSE_SECONDS * 2 ** (failures - 1), LAST_PAUSE_SECONDS)
        teller.tell("retry", attempt=failures, pause_seconds=pause, error=shown(event.exception))
        await asyncio.sleep(pause)
        event.retry = True

    def tool_call(event: Any) -> None:
        """Tell one call of a tool and how it ended."""
        arguments = event.tool_use.get("input")
        teller.tell(
            "tool_call",
            name=event.tool_use.get("name"),
            input={key: str(value)[:PREVIEW] for key, value in arguments.items()}
            if isinstance(arguments, dict)
            else None,
            status=event.result.get("status") if isinstance(event.result, dict) else None,
            duration_s=None if event.duration is None else round(event.duration, 3),
        )

    def answer(event: Any) -> None:
        """Tell the text of one answer."""
        if event.message.get("role") == "assistant":
            teller.tell("answer", text=said(event.message))

    agent.hooks.add_callback(events.MessageAddedEvent, answer)
    agent.hooks.add_callback(events.AfterModelCallEvent, try_again)
    agent.hooks.add_callback(events.AfterToolCallEvent, tool_call)
    return agent


def said(message: Any) -> str:
    """The text of the last message."""
    parts = message.get("content", []) if isinstance(message, dict) else []
    return "".join(part.get("text", "") for part in parts)[:MAX_MESSAGE]


def work(settings: dict[str, Any], prompt: str, key: str, teller: Teller) -> int:
    """Do the task; the exit code."""
    begun = time.monotonic()
    agent = build(settings, key, teller)
    turns = settings.get("max_turns")
    stop_reason, error, message = "error", None, ""
    try:
        result = agent(prompt, limits={"turns": turns} if turns else None)
    except Exception as caught:  # noqa: BLE001 - whatever a library raises, the last line says it
        error = shown(caught)
    else:
        stop_reason, message = str(result.stop_reason), said(result.message)
    metrics = agent.event_loop_metrics
    failed = error is not None or stop_reason != DONE
    teller.tell(
        "result",
        is_error=failed,
        stop_reason=stop_reason,
        error=error,
        final_message=message,
        usage=dict(metrics.accumulated_usage),
        cycle_count=metrics.cycle_count,
        model_calls=teller.calls,
        duration_s=round(time.monotonic() - begun, 3),
    )
    return int(failed)


def main() -> int:
    """Read what to do and do it."""
    teller = Teller()
    settings = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    # Taken out of the environment, so that no command of the model finds it there.
    key = os.environ.pop(KEY_VARIABLE)
    return work(settings, sys.stdin.buffer.read().decode("utf-8"), key, teller)


if __name__ == "__main__":
    sys.exit(main())
