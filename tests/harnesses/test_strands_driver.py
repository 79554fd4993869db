"""The driver of Strands: every request told, what may be tried again, and no key left for tools."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from runner.harnesses import strands_driver as driver
from runner.harnesses.endpoint import WireProtocol

CHAT, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES


class Told:
    """A teller that keeps what it is told."""

    def __init__(self) -> None:
        self.calls = 0
        self.events: list[dict[str, object]] = []

    def tell(self, event: str, **fields: object) -> None:
        self.events.append({"type": event, **fields})

    def request(self) -> int:
        self.calls += 1
        self.tell("request", index=self.calls - 1)
        return self.calls - 1


class Model:
    """A model that streams what it was given, and raises what is an error."""

    def __init__(self, *events: object) -> None:
        self.events = events

    def format_chunk(self, event: object) -> object:
        return event

    async def stream(self, *_messages: object) -> AsyncIterator[object]:
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            yield event


class ServerError(Exception):
    """As a client raises it."""

    status_code = 503


METADATA = {"metadata": {"usage": {"inputTokens": 5, "outputTokens": 2}}}
STOP = {"messageStop": {"stopReason": "tool_use"}}


def drained(told: Any, *events: object) -> str:
    """What became of one request whose answer is these events."""
    model = driver.tell_calls(Model(*events), told)

    async def drain() -> None:
        async for _ in model.stream([]):
            pass

    try:
        asyncio.run(drain())
    except Exception as error:  # noqa: BLE001 - it is what is asked for
        return type(error).__name__
    return ""


def test_every_request_has_a_line_with_its_counts() -> None:
    told = Told()
    assert drained(told, STOP, METADATA) == ""
    assert told.events == [
        {"type": "request", "index": 0},
        {
            "type": "model_call",
            "index": 0,
            "stop_reason": "tool_use",
            "error": None,
            "refused": False,
            "usage": {"inputTokens": 5, "outputTokens": 2},
        },
    ]


@pytest.mark.parametrize(
    ("events", "kind", "refused"),
    [
        ((ServerError("down"),), "ServerError", True),
        ((STOP, OSError("gone")), "OSError", False),
        ((METADATA,), "BrokenAnswer", False),
        ((), "BrokenAnswer", False),
    ],
)
def test_a_request_that_failed_says_whether_the_server_turned_it_away(
    events: tuple[object, ...], kind: str, refused: bool
) -> None:
    told = Told()
    assert drained(told, *events) == kind
    assert str(told.events[-1]["error"]).startswith(f"{kind}: ")
    assert told.events[-1]["refused"] is refused


def test_an_end_without_a_reason_is_an_answer_that_broke_off_and_reasoning_is_kept() -> None:
    model, details = Model(), dict[str, Any]()
    driver.remember_details(model, details)
    usage = SimpleNamespace(completion_tokens_details=SimpleNamespace(reasoning_tokens=6))
    told: Any = model
    told.format_chunk({"chunk_type": "metadata", "data": usage})
    assert details == {"reasoningTokens": 6}
    assert told.format_chunk({"chunk_type": "message_stop", "data": "stop"})
    with pytest.raises(driver.BrokenAnswer):
        told.format_chunk({"chunk_type": "message_stop", "data": "end_turn"})


class APIConnectionError(Exception):
    """As a client raises it."""


@pytest.mark.parametrize(
    ("error", "passing"),
    [
        (ServerError(), True),
        (APIConnectionError(), True),
        (driver.BrokenAnswer(), True),
        (ValueError(), False),
        (type("Refused", (Exception,), {"status_code": 400})(), False),
        (type("Slow", (Exception,), {"status_code": 429})(), True),
    ],
)
def test_what_may_go_well_later_is_tried_again_and_nothing_else(error: Exception, passing: bool) -> None:
    assert driver.passes(error) is passing


class Agent:
    """An agent of a library that is not here."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.callbacks: dict[object, Any] = {}
        self.hooks = SimpleNamespace(add_callback=self.callbacks.__setitem__)
        self.event_loop_metrics = SimpleNamespace(accumulated_usage={"inputTokens": 1}, cycle_count=2)

    def __call__(self, prompt: str, limits: object) -> object:
        if prompt == "fail":
            raise ValueError("no such thing")
        failed = SimpleNamespace(exception=driver.BrokenAnswer("cut"), retry=False)
        asyncio.run(self.callbacks["AfterModelCallEvent"](failed))
        assert failed.retry
        use = {"name": "shell", "input": {"command": "x" * 500}}
        result = {"status": "success"}
        self.callbacks["AfterToolCallEvent"](SimpleNamespace(tool_use=use, result=result, duration=1.23456))
        message = {"role": "assistant", "content": [{"text": f"{prompt} {limits}"}]}
        self.callbacks["MessageAddedEvent"](SimpleNamespace(message=message))
        return SimpleNamespace(stop_reason="end_turn", message=message)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for what the driver uses of the library."""
    names = ("AfterModelCallEvent", "AfterToolCallEvent", "MessageAddedEvent")
    modules: dict[str, dict[str, object]] = {
        "strands": {"Agent": Agent},
        "strands.vended_tools": {"shell": "shell", "file_editor": "editor"},
        "strands.hooks": {},
        "strands.hooks.events": {each: each for each in names},
        "strands.agent": {},
        "strands.agent.conversation_manager": {"SummarizingConversationManager": dict},
        "strands.models": {},
        "strands.models.openai": {"OpenAIModel": lambda **_: Model()},
        "strands.models.anthropic": {"AnthropicModel": lambda **_: Model()},
    }
    for name, members in modules.items():
        made = ModuleType(name)
        made.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, made)
    monkeypatch.setattr(driver, "FIRST_PAUSE_SECONDS", 0.0)


@pytest.mark.parametrize("protocol", ["messages", "chat-completions"])
@pytest.mark.parametrize(("prompt", "code"), [("do it", 0), ("fail", 1)])
def test_the_driver_does_the_task_and_its_last_line_says_how_it_went(
    protocol: str, prompt: str, code: int, library: None
) -> None:
    told: Any = Told()
    settings = {
        "protocol": protocol,
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
        "window": 1000,
        "answer": 100,
        "fraction": 0.7,
        "max_turns": 5,
    }
    assert driver.work(settings, prompt, "key", told) == code
    last = told.events[-1]
    assert (last["type"], last["is_error"], last["cycle_count"]) == ("result", bool(code), 2)
    assert "key" not in json.dumps(told.events)
    if code:
        assert last["error"] == "ValueError: no such thing"
    else:
        assert [event["type"] for event in told.events[:3]] == ["retry", "tool_call", "answer"]
        assert told.events[1]["input"] == {"command": "x" * driver.PREVIEW}
        assert last["final_message"] == "do it {'turns': 5}"


def test_the_key_is_taken_out_of_the_environment_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.json").write_text("{}")
    monkeypatch.setenv(driver.KEY_VARIABLE, "secret")
    monkeypatch.setattr(sys, "argv", ["driver.py", str(tmp_path / "settings.json")])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("größer".encode())))
    monkeypatch.setattr(driver, "Teller", Told)
    seen: list[object] = []

    def work(settings: object, prompt: str, key: str, teller: object) -> int:
        seen.append((settings, prompt, key, driver.KEY_VARIABLE in os.environ))
        return 3

    monkeypatch.setattr(driver, "work", work)
    assert driver.main() == 3
    assert seen == [({}, "größer", "secret", False)]
