"""Handler: one HTTP connection to the replay server."""

from __future__ import annotations

import json
import select
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

from runner.replay.chat import CHAT
from runner.replay.conversation import Answer, Conversation, RequestFault
from runner.replay.desk import Desk
from runner.replay.event_stream import CONTENT_TYPE as EVENT_STREAM
from runner.replay.improvising import answer_of, turn_of
from runner.replay.meter import CONTENT_TYPE, Ticket
from runner.replay.player import find_turn, play
from runner.replay.routes import Route, find_route
from runner.replay.scenario import Faults, Scenario, ScenarioError, active_faults, parse_path
from runner.replay.service import Delivery
from runner.replay.spoiling import json_list, reason, spoiled_answer, spoiled_events
from runner.replay.stand_in import CONTEXT_WINDOW, NOWHERE, STAND_IN, Ask, read_ask, say
from runner.replay.tally import Part, Served
from runner.replay.turns import MAIN_THREAD, Tokens, Turn
from runner.replay.wire import Wire

MAX_BODY_BYTES = 32_000_000
IDLE_SECONDS = 120.0
LOOK_SECONDS = 0.1
STATUS_CODES = {400: "invalid_request", 401: "invalid_api_key", 429: "rate_limit_exceeded"}


@dataclass(frozen=True)
class Exchange:
    """One request that a tally and a meter know of: what it belongs to and what goes wrong with it."""

    part: Part
    faults: Faults
    ticket: Ticket
    entry: dict[str, object]
    """What the request log will say."""
    number: int = 0
    """Of the request in its run, from 0."""
    delivery: Delivery | None = None
    """When each part of the answer is due; None: at once."""


class Handler(BaseHTTPRequestHandler):
    """Answers health, models, counts, metrics and model requests; every other path is a clear error."""

    protocol_version = "HTTP/1.1"
    server_version = "harnessmark-replay"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = IDLE_SECONDS
    desk: Desk
    identifier = ""
    """Of the request that is being answered."""

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
        """Health, metrics, the models of a dataset, and the count of a run."""
        self.identifier = ""
        path = self.path.split("?", 1)[0]
        dataset = None
        if path.startswith("/count/") and len(path.split("/")) == 3:
            self._send(200, self._count(unquote(path.split("/")[2])))
            return
        if path.startswith("/r/"):
            try:
                scenario = parse_path(path)
            except ScenarioError as error:
                self._refuse(CHAT, 404, str(error), "unknown_path")
                return
            path, dataset = scenario.api_path, scenario.dataset
        if path == "/health":
            self._send(200, {"status": "ok"})
        elif path == "/metrics":
            self._send_bytes(200, self.desk.meter.page().encode(), CONTENT_TYPE)
        elif path in {"/v1/models", "/v1beta/models"}:
            self._send(200, self._models(dataset))
        else:
            self._refuse(CHAT, 404, f"nothing to GET at {path[:200]!r}", "unknown_path")

    def do_POST(self) -> None:
        """A model request."""
        started = time.monotonic()
        self.identifier = f"replay-{next(self.desk.numbers)}"
        entry: dict[str, object] = {"path": self.path[:500], "agent": self.headers.get("User-Agent")}
        entry["id"] = self.identifier
        wire = CHAT
        try:
            raw = self._body()
            entry |= {"body_bytes": len(raw), "received_ns": time.perf_counter_ns()}
            path, _, query = self.path.partition("?")
            scenario = self._scenario(path)
            route = find_route(scenario.api_path, query)
            wire = route.wire
            entry |= {"run": scenario.run, "protocol": wire.name}
            self._model_request(scenario, route, raw, entry)
        except ScenarioError as error:
            entry["status"] = self._refuse(wire, 404, str(error), "unknown_scenario")
        except RequestFault as error:
            entry["status"] = self._refuse(wire, error.status, str(error), error.code)
        finally:
            entry["seconds"] = round(time.monotonic() - started, 6)
            self.desk.log.write(entry)

    def _scenario(self, path: str) -> Scenario:
        """Where a request belongs. A server that keeps to service times takes load from anywhere."""
        anywhere = self.desk.service is not None and path == NOWHERE.api_path
        return NOWHERE if anywhere else parse_path(path)

    def _model_request(self, scenario: Scenario, route: Route, raw: bytes, entry: dict[str, object]) -> None:
        part = Part(scenario.run, route.wire.name, MAIN_THREAD)
        ask = None
        try:
            body = _json_object(raw)
            conversation = route.wire.read(body, route.call)
            if self.desk.service is not None and conversation.model == STAND_IN and route.wire is CHAT:
                ask = read_ask(body)
        except RequestFault as error:
            self.desk.tally.begin(part)
            self.desk.tally.error(part, error.status)
            raise
        part = part._replace(thread=conversation.thread)
        entry |= {
            "model": conversation.model,
            "stream": conversation.stream,
            "thread": conversation.thread,
            "tool_results": conversation.tool_results,
            "tools": [tool.name for tool in conversation.tools],
        }
        if route.task == "count":
            turn = find_turn(self.desk.library, scenario, conversation)
            entry |= {"status": 200, "counted_only": True}
            name = "totalTokens" if route.wire.name == "generate-content" else "input_tokens"
            self._send(200, {name: turn.usage.prompt})
            return
        number = self.desk.tally.begin(part)
        ticket = self.desk.meter.arrive(conversation.model)
        try:
            rules = (*self.desk.rules, *scenario.rules)
            faults = active_faults(rules, number, conversation.tool_results)
            entry["faults"] = [rule.name for rule in rules if rule.applies(number, conversation.tool_results)]
            self._answer(scenario, route, conversation, Exchange(part, faults, ticket, entry, number), ask)
        except RequestFault as error:
            self.desk.tally.error(part, error.status)
            raise
        finally:
            ticket.end()

    def _answer(
        self,
        scenario: Scenario,
        route: Route,
        conversation: Conversation,
        exchange: Exchange,
        ask: Ask | None,
    ) -> None:
        faults, entry = exchange.faults, exchange.entry
        if faults.delay_seconds:
            self.desk.stopping.wait(faults.delay_seconds)
        if faults.hang:
            entry["status"] = None
            self._silence()
            return
        if faults.status is not None:
            self.desk.tally.error(exchange.part, faults.status)
            entry["status"] = self._scripted_error(route.wire, faults)
            return
        improviser = self.desk.improviser
        said = None if improviser is None else improviser(scenario, conversation, faults)
        if said is not None:
            turn = turn_of(said, conversation, faults)
        else:
            turn = find_turn(self.desk.library, scenario, conversation) if ask is None else ask.turn(0)
        service = self.desk.service
        with ExitStack() as stack:
            if service is not None:
                stack.enter_context(service.place(turn.usage.prompt + turn.usage.output, self._client_left))
                if ask is not None:
                    turn = ask.turn(service.prefixes.look_up(ask.tokens))
                    service.prefixes.remember(ask.tokens)
                    stack.callback(service.prefixes.remember, ask.kept)
                exchange = replace(exchange, delivery=service.delivery(turn.usage, self._client_left))
            exchange.ticket.begin(turn.usage)
            if said is not None:
                answer = answer_of(said, turn, conversation, faults, exchange.number)
            elif ask is None:
                answer = play(turn, scenario, conversation, faults)
            else:
                answer = say(ask, turn, conversation, exchange.number)
            answer = spoiled_answer(answer, faults)
            entry |= {"status": 200, "step": turn.step, "usage": turn.usage.model_dump()}
            entry["calls"] = [call.name for call in answer.calls]
            self._deliver(route, turn, answer, exchange, stream=conversation.stream)

    def _deliver(self, route: Route, turn: Turn, answer: Answer, exchange: Exchange, *, stream: bool) -> None:
        whole = not exchange.faults.breaks_off
        reported = whole and answer.usage is not None
        begins = stream and answer.usage is not None
        served = Served(
            tokens=turn.usage,
            told=route.wire.told(turn.usage, answer.cache_detail),
            told_at_start=route.wire.told_at_start(turn.usage, answer.cache_detail) if begins else Tokens(),
        )
        exchange.entry.update(whole=whole, usage_reported=reported)
        self.desk.tally.answer(exchange.part, served, reported=reported, whole=whole)
        try:
            self._write_answer(route, answer, exchange, stream=stream)
        except (ConnectionError, TimeoutError):
            exchange.entry["client_left"] = True
            if reported:
                self.desk.tally.take_back(exchange.part, served)
            raise

    def _write_answer(self, route: Route, answer: Answer, exchange: Exchange, *, stream: bool) -> None:
        created = int(time.time())
        if stream:
            events = list(route.wire.events(answer, created))
            kind = "text/event-stream; charset=utf-8"
            if route.call.framed:
                kind = EVENT_STREAM
            elif not route.call.server_sent:
                events, kind = json_list(events), "application/json"
            self._stream(events, exchange, kind, reason(answer))
            return
        body = route.wire.whole(answer, created)
        self._begins_to_flow(exchange)
        if exchange.faults.breaks_off:
            self._half_a_body(json.dumps(body).encode(), exchange.faults)
        else:
            if exchange.delivery is not None:
                exchange.delivery.wait(1.0)
            exchange.ticket.end(reason(answer))
            self._send(200, body)

    def _begins_to_flow(self, exchange: Exchange) -> None:
        delivery = exchange.delivery
        if delivery is not None:
            delivery.wait()
        exchange.ticket.first_byte(None if delivery is None else delivery.pace)

    def _stream(self, events: list[bytes], exchange: Exchange, kind: str, reason: str) -> None:
        faults, delivery = exchange.faults, exchange.delivery
        self._begins_to_flow(exchange)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("X-Request-Id", self.identifier)
        self.end_headers()
        flowing = list(spoiled_events(events, faults))
        for number, event in enumerate(flowing, start=1):
            if faults.lump and number == 2:
                self.wfile.flush()
                self.desk.stopping.wait(faults.pace_seconds * (len(flowing) - 1))
            elif faults.pace_seconds and number > 1 and not faults.lump:
                self.wfile.flush()
                self.desk.stopping.wait(faults.pace_seconds)
            if delivery is not None and number > 1:
                self.wfile.flush()
                delivery.wait((number - 1) / (len(flowing) - 1))
            if number == len(flowing) and not faults.breaks_off:
                # As with the tally: no reader can be faster than the count.
                exchange.ticket.end(reason)
            if number <= 2:
                exchange.entry["first_write_ns"] = time.perf_counter_ns()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        if faults.breaks_off:
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

    def _client_left(self) -> bool:
        return self._readable(0) and not self.connection.recv(1, socket.MSG_PEEK)

    def _readable(self, seconds: float) -> bool:
        # Not select.select: it fails where a thousand descriptors are open.
        looking = select.poll()
        looking.register(self.connection, select.POLLIN)
        return bool(looking.poll(seconds * 1000))

    def _silence(self) -> None:
        """Say nothing until the client leaves or the server stops."""
        self.close_connection = True
        while not self.desk.stopping.is_set():
            readable = self._readable(LOOK_SECONDS)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return
            if readable:
                self.desk.stopping.wait(LOOK_SECONDS)

    def _scripted_error(self, wire: Wire, faults: Faults) -> int:
        status = faults.status or 500
        headers = {"Retry-After": str(faults.retry_after)} if status == 429 else {}
        code = STATUS_CODES.get(status, "server_error" if status >= 500 else "refused")
        self._send(status, wire.error(status, f"scripted error {status}", code), headers)
        return status

    def _models(self, dataset: str | None) -> dict[str, object]:
        windows = self.desk.library.models(dataset)
        if self.desk.service is not None:
            windows[STAND_IN] = CONTEXT_WINDOW
        data = [
            {"id": model, "object": "model", "created": 0, "owned_by": "replay", "max_model_len": window}
            for model, window in windows.items()
        ]
        return {"object": "list", "data": data}

    def _count(self, run: str) -> dict[str, object]:
        parts = [
            {"protocol": part.protocol, "thread": part.thread, **count.document()}
            for part, count in self.desk.tally.parts(run).items()
        ]
        return {**self.desk.tally.count(run).document(), "parts": parts}

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

    def _refuse(self, wire: Wire, status: int, message: str, code: str) -> int:
        self._send(status, wire.error(status, message, code))
        return status

    def _send(self, status: int, body: dict[str, object], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self._send_bytes(status, data, "application/json", headers)

    def _send_bytes(
        self, status: int, data: bytes, content_type: str, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        if self.identifier:
            self.send_header("X-Request-Id", self.identifier)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def _json_object(raw: bytes) -> dict[str, object]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RequestFault(f"the body is no JSON: {str(error)[:200]}", code="invalid_json") from None
    if not isinstance(body, dict):
        raise RequestFault("the body is no JSON object", code="invalid_json")
    return body
