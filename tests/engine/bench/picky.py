"""A server of this machine that refuses what a test tells it to refuse, in the words that a test gives it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Refusal = tuple[int, object]
Rule = Callable[[Body], Refusal | None]
"""Status and body of an error, or None: the request is answered."""

SERVED = ("some-model-1.5", "another")
STREAM: tuple[Body, ...] = (
    {"choices": [{"index": 0, "delta": {"content": "FINAL: ready"}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}},
)


@dataclass
class Picky:
    """Its address, and every body that it was sent, with its headers in lower case."""

    url: str = ""
    heard: list[Body] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def picky(rule: Rule, stream: Sequence[Body] = STREAM) -> Iterator[Picky]:
    """A server of Chat Completions that asks ``rule`` about each request, and answers with ``stream``."""
    found = Picky()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            """Nothing to the terminal."""

        def do_GET(self) -> None:
            body = {"data": [{"id": name} for name in SERVED]}
            self._send(200 if self.path == "/v1/models" else 404, json.dumps(body), "application/json")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.heard.append(body)
            found.heads.append({name.lower(): value for name, value in self.headers.items()})
            refusal = rule(body)
            if refusal is not None:
                self._send(refusal[0], json.dumps(refusal[1]), "application/json")
                return
            events = [f"data: {json.dumps(event)}\n\n" for event in stream]
            self._send(200, "".join([*events, "data: [DONE]\n\n"]), "text/event-stream")

        def _send(self, status: int, text: str, kind: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refused(message: str, **more: object) -> Refusal:
    """A refusal as OpenAI's own API words it."""
    return 400, {"error": {"message": message, "type": "invalid_request_error", "param": None, **more}}
