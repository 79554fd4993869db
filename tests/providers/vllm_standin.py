"""A stand-in for the program ``vllm``: serves what its arguments say, over three APIs, with chosen faults.

Faults come in by the recipe's own ``environment``: ``STANDIN_SLOW`` (seconds before it listens),
``STANDIN_CRASH`` (last words), ``STANDIN_MODEL`` (serves this instead), ``STANDIN_TOOLS`` (how tool calls
come back), ``STANDIN_DIES`` (after so many answers), ``STANDIN_WORKER`` (a second process that is deaf to
polite ends).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

VERSION = "0.29.1"
RAW = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
ARGUMENTS = {"path": "notes/plan.txt"}

Answer = tuple[list[tuple[str, object]], str, bool]


def option(name: str) -> list[str]:
    """What follows ``name`` up to the next option."""
    found: list[str] = []
    for each in sys.argv[sys.argv.index(name) + 1 :] if name in sys.argv else []:
        if each.startswith("--"):
            break
        found.append(each)
    return found


def say(how: str, number: int) -> Answer:
    """Calls, text, and whether the answer was cut off."""
    if how == "raw":
        return [], RAW, False
    if how == "words" or (how == "words-once" and number == 1):
        return [], "The file holds a plan.", False
    if how == "other":
        return [("get_weather", ARGUMENTS)], "", False
    if how == "garbled":
        return [("read_file", '{"path": "a')], "", False
    if how == "cut":
        return [], "Let me think about this at great length", True
    return [("read_file", ARGUMENTS)], "", False


def chat(answer: Answer) -> Mapping[str, Any]:
    """An answer of Chat Completions."""
    calls, text, cut = answer
    shown = [
        {"id": "1", "type": "function", "function": {"name": name, "arguments": as_text(given)}}
        for name, given in calls
    ]
    reason = "length" if cut else "tool_calls" if calls else "stop"
    message = {"role": "assistant", "content": text or None, "tool_calls": shown}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def responses(answer: Answer) -> Mapping[str, Any]:
    """An answer of Responses."""
    calls, text, cut = answer
    items: list[object] = [
        {"type": "function_call", "name": name, "arguments": as_text(given)} for name, given in calls
    ]
    items.append({"type": "message", "content": [{"type": "output_text", "text": text}]})
    return {"status": "incomplete" if cut else "completed", "output": items}


def messages(answer: Answer) -> Mapping[str, Any]:
    """An answer of Messages."""
    calls, text, cut = answer
    blocks: list[object] = [{"type": "text", "text": text}]
    blocks += [{"type": "tool_use", "id": "1", "name": name, "input": given} for name, given in calls]
    return {"content": blocks, "stop_reason": "max_tokens" if cut else "tool_use"}


def as_text(arguments: object) -> str:
    """Arguments as the APIs of OpenAI send them."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def streamed(path: str, body: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """``body``, an answer at ``path``, as the events of a stream; arguments come in two parts."""
    events: list[Mapping[str, object]] = []
    if path.endswith("/completions"):
        choice = body["choices"][0]
        deltas: list[object] = [{"role": "assistant", "content": choice["message"]["content"]}]
        for index, call in enumerate(choice["message"]["tool_calls"]):
            name, given = call["function"]["name"], call["function"]["arguments"]
            deltas.append(
                {"tool_calls": [{"index": index, "function": {"name": name, "arguments": given[:4]}}]}
            )
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": given[4:]}}]})
        events += [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
        events.append({"choices": [{"delta": {}, "finish_reason": choice["finish_reason"]}]})
        events.append({"choices": [], "usage": {"prompt_tokens": 1}})
    elif path.endswith("/responses"):
        events += [{"type": "response.output_item.done", "item": item} for item in body["output"]]
        events.append({"type": f"response.{body['status']}", "response": {}})
    else:
        for index, block in enumerate(body["content"]):
            begun = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
            events.append({"type": "content_block_start", "index": index, "content_block": begun})
            text = block.get("text", "") if block["type"] == "text" else as_text(block["input"])
            kind = "text" if block["type"] == "text" else "partial_json"
            for part in (text[:4], text[4:]):
                events.append({"type": "content_block_delta", "index": index, "delta": {kind: part}})
        events.append({"type": "message_delta", "delta": {"stop_reason": body["stop_reason"]}})
    return events


ROUTES = {"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}


class Handler(BaseHTTPRequestHandler):
    """Answers as vLLM does."""

    answered = 0

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        names = (
            [os.environ["STANDIN_MODEL"]] if "STANDIN_MODEL" in os.environ else option("--served-model-name")
        )
        window = int(option("--max-model-len")[0])
        pages: dict[str, object] = {
            "/health": {},
            "/version": {"version": VERSION},
            "/v1/models": {"data": [{"id": name, "max_model_len": window} for name in names]},
            "/standin": {"arguments": sys.argv[1:], "environment": dict(os.environ)},
        }
        key = os.environ.get("VLLM_API_KEY")
        if key and self.path.startswith("/v1") and self.headers.get("Authorization") != f"Bearer {key}":
            self.answer(401, {"error": "Unauthorized"})
        elif self.path in pages:
            self.answer(200, pages[self.path])
        else:
            self.answer(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not isinstance(body.get("messages", body.get("input")), list):
            self.answer(400, {"error": {"message": "messages must be a list"}})
            return
        Handler.answered += 1
        if Handler.answered > int(os.environ.get("STANDIN_DIES", "1000")):
            sys.stderr.write("torch.OutOfMemoryError: CUDA out of memory\n")
            sys.stderr.flush()
            os._exit(1)
        how = os.environ.get("STANDIN_TOOLS", "")
        if how == "stall":
            time.sleep(30)
        whole = ROUTES[self.path](say(how, Handler.answered))
        if body.get("stream"):
            lines = [f"data: {json.dumps(event)}\n\n" for event in streamed(self.path, whole)]
            self.send("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")
        else:
            self.answer(200, whole)

    def answer(self, status: int, body: object) -> None:
        """Send ``body`` as JSON."""
        self.send(json.dumps(body).encode(), "application/json", status)

    def send(self, data: bytes, kind: str, status: int = 200) -> None:
        """Send ``data``."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main() -> None:
    """Serve until the end."""
    sys.stdout.write("INFO loading the weights\n")
    sys.stdout.flush()
    time.sleep(float(os.environ.get("STANDIN_SLOW", "0")))
    if "STANDIN_CRASH" in os.environ:
        sys.stderr.write(os.environ["STANDIN_CRASH"] + " \x1b[31m\n")
        sys.exit(3)
    if "STANDIN_WORKER" in os.environ:
        subprocess.Popen([sys.executable, "-c", DEAF])
    ThreadingHTTPServer((option("--host")[0], int(option("--port")[0])), Handler).serve_forever()


def install_program(folder: Path) -> Path:
    """Put a program ``vllm`` into ``folder``, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "vllm"
    program.write_text(
        f"#!{sys.executable} -S\n{Path(__file__).read_text(encoding='utf-8')}", encoding="utf-8"
    )
    program.chmod(0o755)
    return folder


if __name__ == "__main__":
    main()
