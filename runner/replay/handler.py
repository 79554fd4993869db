"""Handler: one HTTP connection to the replay server."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

from runner.replay import chat
from runner.replay.conversation import Answer, Conversation, RequestFault
from runner.replay.desk import Desk
from runner.replay.player import find_turn, play
from runner.replay.scenario import Faults, Scenario, ScenarioError, active_faults, parse_path
from runner.replay.tally import RunCount
from runner.replay.turns import Turn

MAX_BODY_BYTES = 32_000_000
IDLE_SECONDS = 120.0
LOOK_SECONDS = 0.1
STATUS_CODES = {400: "invalid_request", 401: "invalid_api_key", 429: "rate_limit_exceeded"}


class Handler(BaseHTTPRequestHandler):
    """Answers health, models, counts and model requests; every other path is a clear error."""

    protocol_version = "HTTP/1.1"
    server_version = "harnessmark-replay"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = IDLE_SECONDS
    desk: Desk

    def handle(self) -> None:
        """Serve requests until the client leaves; a client that breaks off is nothing unusual."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def finish(self) -> None:
        """Close the streams, also when the client is already gone."""
        try:
            super().finish()
        except (ConnectionError, TimeoutError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Nothing goes to the terminal: the request log is a file."""

    def do_GET(self) -> None:
        """Health, the models of a dataset, and the count of a run."""
        path = self.path.split("?", 1)[0]
        if path == "/health":
            self._send(200, {"status": "ok"})
        elif path == "/v1/models":
            self._send(200, self._models(None))
        elif path.startswith("/count/") and len(path.split("/")) == 3:
            self._send(200, count_document(self.desk.tally.count(unquote(path.split("/")[2]))))
        else:
            try:
                scenario = parse_path(path)
            except ScenarioError as error:
                self._refuse(404, str(error), "unknown_path")
                return
            if scenario.api_path == "/v1/models":
                self._send(200, self._models(scenario.dataset))
            else:
                self._refuse(404, f"nothing to GET at {scenario.api_path!r}", "unknown_path")

    def do_POST(self) -> None:
        """A model request."""
        started = time.monotonic()
        entry: dict[str, object] = {"path": self.path[:500], "agent": self.headers.get("User-Agent")}
        try:
            raw = self._body()
            entry["body_bytes"] = len(raw)
            scenario = parse_path(self.path.split("?", 1)[0])
            if scenario.api_path != chat.API_PATH:
                raise RequestFault(
                    f"{scenario.api_path!r} is not served; this server speaks {chat.API_PATH}",
                    status=404,
                    code="unknown_path",
                )
            entry["run"] = scenario.run
            number = self.desk.tally.begin(scenario.run)
            self._model_request(scenario, number, raw, entry)
        except ScenarioError as error:
            entry["status"] = self._refuse(404, str(error), "unknown_scenario")
        except RequestFault as error:
            if "run" in entry:
                self.desk.tally.error(str(entry["run"]), error.status)
            entry["status"] = self._refuse(error.status, str(error), error.code)
        finally:
            entry["seconds"] = round(time.monotonic() - started, 6)
            self.desk.log.write(entry)

    def _model_request(self, scenario: Scenario, number: int, raw: bytes, entry: dict[str, object]) -> None:
        conversation = chat.read_request(_json_object(raw))
        faults = active_faults((*self.desk.rules, *scenario.rules), number, conversation.tool_results)
        entry |= {
            "protocol": "chat-completions",
            "model": conversation.model,
            "stream": conversation.stream,
            "tool_results": conversation.tool_results,
            "tools": [tool.name for tool in conversation.tools],
        }
        if faults.delay_seconds:
            self.desk.stopping.wait(faults.delay_seconds)
        if faults.hang:
            entry["status"] = None
            self._silence()
            return
        if faults.status is not None:
            self.desk.tally.error(scenario.run, faults.status)
            entry["status"] = self._scripted_error(faults)
            return
        turn = find_turn(self.desk.library, scenario, conversation)
        answer = play(turn, scenario, conversation, faults)
        entry |= {"status": 200, "step": turn.step, "usage": turn.usage.model_dump()}
        entry["calls"] = [call.name for call in answer.calls]
        self._deliver(scenario, conversation, turn, answer, faults, entry)

    def _deliver(
        self,
        scenario: Scenario,
        conversation: Conversation,
        turn: Turn,
        answer: Answer,
        faults: Faults,
        entry: dict[str, object],
    ) -> None:
        whole = not (faults.cut or faults.malformed or faults.stall)
        reported = whole and answer.usage is not None
        entry |= {"whole": whole, "usage_reported": reported}
        self.desk.tally.answer(scenario.run, turn.usage, reported=reported, whole=whole)
        try:
            self._write_answer(answer, stream=conversation.stream, whole=whole, faults=faults)
        except (ConnectionError, TimeoutError):
            entry["client_left"] = True
            if reported:
                self.desk.tally.take_back(scenario.run, turn.usage)
            raise

    def _write_answer(self, answer: Answer, *, stream: bool, whole: bool, faults: Faults) -> None:
        created = int(time.time())
        if stream:
            self._stream(list(chat.events(answer, created)), faults)
        elif whole:
            self._send(200, chat.whole_answer(answer, created))
        else:
            self._half_a_body(json.dumps(chat.whole_answer(answer, created)).encode(), faults)

    def _stream(self, events: list[bytes], faults: Faults) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in _spoiled(events, faults):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        if faults.cut or faults.malformed or faults.stall:
            self.wfile.flush()
            if faults.stall:
                self._silence()
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _half_a_body(self, body: bytes, faults: Faults) -> None:
        half = body[: len(body) // 2]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(half) if faults.malformed else len(body)))
        self.end_headers()
        self.wfile.write(half)
        self.wfile.flush()
        if faults.stall:
            self._silence()
        self.close_connection = True

    def _silence(self) -> None:
        """Say nothing until the client leaves or the server stops."""
        self.close_connection = True
        while not self.desk.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], LOOK_SECONDS)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return
            if readable:
                self.desk.stopping.wait(LOOK_SECONDS)

    def _scripted_error(self, faults: Faults) -> int:
        status = faults.status or 500
        headers = {"Retry-After": str(faults.retry_after)} if status == 429 else {}
        kind = "server_error" if status >= 500 else "invalid_request_error"
        code = STATUS_CODES.get(status, "server_error" if status >= 500 else "refused")
        self._send(status, chat.error_body(f"scripted error {status}", code=code, kind=kind), headers)
        return status

    def _models(self, dataset: str | None) -> dict[str, object]:
        windows = self.desk.library.models(dataset)
        data = [
            {"id": model, "object": "model", "created": 0, "owned_by": "replay", "max_model_len": window}
            for model, window in windows.items()
        ]
        return {"object": "list", "data": data}

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length")
        if length is None or not length.isdigit():
            self.close_connection = True
            raise RequestFault("a Content-Length is needed", status=411, code="length_required")
        if int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            raise RequestFault(
                f"the body is larger than {MAX_BODY_BYTES} bytes", status=413, code="body_too_large"
            )
        return self.rfile.read(int(length))

    def _refuse(self, status: int, message: str, code: str) -> int:
        self._send(status, chat.error_body(message, code=code))
        return status

    def _send(self, status: int, body: dict[str, object], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def count_document(count: RunCount) -> dict[str, object]:
    """A run's count as the server tells it over HTTP."""
    return {
        **asdict(count),
        "errors": {str(status): number for status, number in count.errors.items()},
        "reported": count.reported.model_dump(),
        "unreported": count.unreported.model_dump(),
    }


def _spoiled(events: list[bytes], faults: Faults) -> Iterator[bytes]:
    if faults.stall:
        yield events[0]
    elif faults.cut or faults.malformed:
        yield from events[: max(1, len(events) // 2)]
        if faults.malformed:
            yield b'data: {"id": "replay", "choices": [{"delta": {"content": "half of\n\n'
    else:
        yield from events


def _json_object(raw: bytes) -> dict[str, object]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RequestFault(f"the body is no JSON: {str(error)[:200]}", code="invalid_json") from None
    if not isinstance(body, dict):
        raise RequestFault("the body is no JSON object", code="invalid_json")
    return body
