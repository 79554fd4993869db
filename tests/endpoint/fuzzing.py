"""Fuzzing: answers of known class in every form and split, and the same with bytes that are broken.

Three promises are tried on each: no input makes the parser crash; no split of the bytes changes a result;
no change that means nothing (line ends, comments, chunk sizes) changes a class, a text or a count.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from runner.endpoint.ask import Outcome, Protocol, StreamResult
from runner.endpoint.exchange import Exchange
from runner.endpoint.framing import FramingError, ResponseFramer
from runner.endpoint.reading import read
from tests.endpoint.exchanges import CHAT, MESSAGES, chunk, exchange

TEXTS = ["a", " b", "ü", "\u2028", "\U0001f600", '"', "\\", "\n", "data: x", "[DONE]", "\x85", "\x00", ""]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass
class FuzzReport:
    """What was tried, and every input that broke a promise."""

    tried: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The report in words."""
        tried = ", ".join(f"{count} {name}" for name, count in sorted(self.tried.items()))
        classes = ", ".join(f"{name} {count}" for name, count in sorted(self.classes.items()))
        return [f"tried: {tried}", f"classes: {classes}", f"faults: {len(self.faults)}", *self.faults[:10]]


def fuzz(seconds: float, seed: int, most: int | None = None) -> FuzzReport:
    """Try random answers for ``seconds``, or ``most`` of them."""
    draw, report = random.Random(seed), FuzzReport()
    until = time.monotonic() + seconds
    while time.monotonic() < until and (most is None or report.tried["answers"] < most):
        state = draw.getrandbits(64)
        try:
            _one(random.Random(state), report)
        except Exception as error:  # noqa: BLE001 - any crash is what is looked for
            report.faults.append(f"seed {state}: {type(error).__name__}: {error}"[:400])
    return report


def fuzz_command(say: Callable[[str], None], minutes: float) -> int:
    """Try random answers for ``minutes`` and show the report; 2 where a promise was broken."""
    seed = random.SystemRandom().getrandbits(32)
    say(f"seed {seed}, {minutes:g} minutes")
    report = fuzz(minutes * 60, seed)
    for line in report.lines():
        say(line)
    return 2 if report.faults else 0


def _one(draw: random.Random, report: FuzzReport) -> None:
    protocol = draw.choice(list(Protocol))
    outcome, text, events = _answer(draw, protocol)
    data = _written(draw, events)
    report.tried["answers"] += 1
    result = read(_received(draw, data, protocol))
    report.classes[str(result.outcome)] += 1
    if (result.outcome, result.text) != (outcome, text):
        report.faults.append(
            f"{outcome} {text!r} was read as {result.outcome} {result.text!r}: {data!r}"[:400]
        )
    broken = _broken(draw, data)
    report.tried["broken answers"] += 1
    once, again = (read(_received(draw, broken, protocol)) for _ in range(2))
    report.classes[f"broken: {once.outcome}"] += 1
    if _without_reads(once) != _without_reads(again):
        report.faults.append(f"the split changes the result: {broken!r}"[:400])
    StreamResult.model_validate_json(once.model_dump_json())
    _frames(draw, broken, report)


def _frames(draw: random.Random, data: bytes, report: FuzzReport) -> None:
    """The same bytes in chunks over HTTP, some of it broken."""
    sent = HEAD + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in _cut(draw, data)) + b"0\r\n\r\n"
    framer, body = ResponseFramer(), b""
    for piece in _cut(draw, sent):
        body += framer.feed(piece)
    report.tried["framed answers"] += 1
    if body != data or not framer.complete:
        report.faults.append(f"framing lost something of {sent!r}"[:400])
    framer = ResponseFramer()
    try:
        for piece in _cut(draw, _broken(draw, sent)):
            framer.feed(piece)
        report.classes["framing: read"] += 1
    except FramingError as error:
        report.classes[f"framing: {error.code}"] += 1


def _answer(draw: random.Random, protocol: Protocol) -> tuple[Outcome, str, list[tuple[str, object]]]:
    """A class, the text it comes with, and named events that say both."""
    pieces = [draw.choice(TEXTS) for _ in range(draw.randrange(6))]
    ending = draw.choice([Outcome.OK, Outcome.LENGTH, Outcome.INCOMPLETE, Outcome.STREAM_ERROR])
    ending = draw.choice([ending, Outcome.RATE_LIMITED, Outcome.PARSE_ERROR, Outcome.REFUSED])
    if protocol is CHAT:
        finishes = {Outcome.OK: "stop", Outcome.LENGTH: "length", Outcome.REFUSED: "content_filter"}
        events: list[tuple[str, object]] = [("", chunk(content=piece)) for piece in pieces]
        last: list[tuple[str, object]] = [("", chunk(finish=finishes.get(ending))), ("", "[DONE]")]
        error: dict[str, object] = {"error": {"code": 429 if ending is Outcome.RATE_LIMITED else "broken"}}
    elif protocol is MESSAGES:
        finishes = {Outcome.OK: "end_turn", Outcome.LENGTH: "max_tokens", Outcome.REFUSED: "refusal"}
        told = [
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": each}} for each in pieces
        ]
        events = [("content_block_delta", each) for each in told]
        stop = {"type": "message_delta", "delta": {"stop_reason": finishes.get(ending)}}
        last = [("message_delta", stop), ("message_stop", {"type": "message_stop"})]
        kind = "rate_limit_error" if ending is Outcome.RATE_LIMITED else "api_error"
        error = {"type": "error", "error": {"type": kind}}
    else:
        events = [("", {"type": "response.output_text.delta", "delta": each}) for each in pieces]
        response: dict[str, object] = {"status": "completed" if ending is Outcome.OK else "incomplete"}
        reason = {Outcome.LENGTH: "max_output_tokens", Outcome.REFUSED: "content_filter"}.get(ending)
        response["incomplete_details"] = {"reason": reason}
        last = [("", {"type": "response.completed", "response": response})]
        error = {"type": "error", "code": "429" if ending is Outcome.RATE_LIMITED else "broken"}
    if ending in {Outcome.STREAM_ERROR, Outcome.RATE_LIMITED}:
        last = [("", error)]
    elif ending is Outcome.PARSE_ERROR:
        last = [("", '{"half": '), *last]
    elif ending is Outcome.INCOMPLETE:
        last = []
    return ending, "".join(pieces), events + last


def _written(draw: random.Random, events: list[tuple[str, object]]) -> bytes:
    """Events in any of the forms that mean the same."""
    end = draw.choice([b"\n", b"\r", b"\r\n"])
    written = [b"\xef\xbb\xbf"] if draw.random() < 0.2 else []
    for name, event in events:
        text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=draw.random() < 0.5)
        if isinstance(event, dict) and draw.random() < 0.2:
            # Line ends between the parts of JSON mean nothing, and lines of data are joined by one.
            text = text.replace(", ", ",\n", 1) if '", "' not in text else text
        if name and draw.random() < 0.7:
            written.append(b"event: " + name.encode() + end)
        if draw.random() < 0.2:
            written.append(draw.choice([b": ping", b":", b"id: 1", b"retry: 9", b"odd"]) + end)
        blank = draw.choice([b"", b" "])
        written += [b"data:" + blank + line.encode() + end for line in text.split("\n")]
        written.append(end * draw.choice([1, 1, 1, 2]))
    return b"".join(written)


def _cut(draw: random.Random, data: bytes) -> list[bytes]:
    if draw.random() < 0.1:
        return [data[place : place + 1] for place in range(len(data))]
    edges = sorted({0, len(data), *(draw.randrange(len(data) + 1) for _ in range(draw.randrange(8)))})
    return [data[begin:end] for begin, end in itertools.pairwise(edges)]


def _received(draw: random.Random, data: bytes, protocol: Protocol) -> Exchange:
    return exchange(*[(10, piece) for piece in _cut(draw, data)], protocol=protocol)


def _broken(draw: random.Random, data: bytes) -> bytes:
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(data) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + draw.randbytes(draw.randrange(1, 4)) + data[at + 1 :]
        elif kind == 2:
            data = (
                data[:at] + draw.choice([b"\r", b"\n", b"{", b'"', b"}", b"\\", b"data:", b":"]) + data[at:]
            )
        else:
            other = draw.randrange(len(data) + 1)
            data = data[:at] + data[min(at, other) : max(at, other)] + data[at:]
    return data


def _without_reads(result: StreamResult) -> StreamResult:
    return result.model_copy(update={"reads": 0})
