"""Direct: a judge that is one request to a model, with everything it needs to know in the prompt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.harnesses.stream import Event, mapping, parsed, text
from runner.judges.base import DIRECT, Question, Reply, Start
from runner.judges.wire import WIRES, Body, Said, Wire
from runner.records import DataWarning

VERSION = "1"
"""Of the way the question is put. A change of it makes another judge."""
OUTPUT_TOKENS = 16_000
TIMEOUT_SECONDS = 900.0
CONNECT_SECONDS = 30.0
MAX_BYTES = 20_000_000
TRIES = 5
LONGEST_WAIT = 60.0
READY = "Answer with one word: ready"
READY_TOKENS = 200
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""What may be otherwise a moment later."""
BROKEN_OFF = (httpx.ReadError, httpx.RemoteProtocolError, httpx.DecodingError)
"""After these the model may have worked."""


@dataclass(frozen=True)
class Direct:
    """The judge ``direct``. It sees the submission and not the repository: never grounded.

    Args:
        transport: carries the requests; None for the real network.
        wait: sleeps between tries.
    """

    name: str = "direct"
    title: str = "One strict question to a model"
    method: str = DIRECT
    protocols: tuple[WireProtocol, ...] = tuple(WIRES)
    demonstration: bool = False
    transport: httpx.BaseTransport | None = None
    wait: Callable[[float], None] = time.sleep

    def version(self, installed: Path) -> str:  # noqa: ARG002 - nothing is installed
        """Version of the way the question is put."""
        return VERSION

    def ask(self, question: Question, start: Start) -> Reply:  # noqa: ARG002 - there is no program to start
        """Put the question; what may pass is tried again, what the server refuses is an error."""
        endpoint, wire = question.endpoint, WIRES[question.endpoint.protocol]
        tokens = question.limits.max_output_tokens or OUTPUT_TOKENS
        body = wire.write(endpoint.model, question.prompt, question.schema, tokens, question.effort)
        seconds = question.limits.timeout_seconds or TIMEOUT_SECONDS
        with self._client(endpoint, wire, seconds) as client:
            said, lost, requests, error = self._answer(client, wire, body, seconds)
        warnings = (_lower_bound(lost),) if lost else ()
        if said is None:
            return Reply(None, error=error, requests_seen=requests, warnings=warnings)
        return Reply(said.text, said.usage, cut=said.cut, requests_seen=requests, warnings=warnings)

    def ready(self, endpoint: Endpoint, seconds: float) -> str | None:
        """Ask for one word; why no answer came, or None. Costs a handful of tokens."""
        wire = WIRES[endpoint.protocol]
        body = wire.write(endpoint.model, READY, None, READY_TOKENS, None)
        with self._client(endpoint, wire, seconds) as client:
            said, _, _, error = self._answer(client, wire, body, seconds, tries=1)
        return error if said is None else None

    def left_behind(self, question: Question) -> Reply:  # noqa: ARG002 - a request leaves nothing here
        """Nothing: what a request had used is only in its answer."""
        return Reply(None, error="the runner was killed while the judge answered")

    def _client(self, endpoint: Endpoint, wire: Wire, seconds: float) -> httpx.Client:
        return httpx.Client(
            base_url=endpoint.base_url.rstrip("/"),
            headers=dict(wire.headers(endpoint.api_key)),
            timeout=httpx.Timeout(seconds, connect=CONNECT_SECONDS),
            transport=self.transport,
            # Certificates take longer to load than a server on this machine to answer; http uses none.
            verify=not endpoint.base_url.startswith("http://"),
            follow_redirects=False,
            trust_env=self.transport is None and not _is_local(endpoint.base_url),
        )

    def _answer(
        self, client: httpx.Client, wire: Wire, body: Body, seconds: float, tries: int = TRIES
    ) -> tuple[Said | None, int, int, str | None]:
        """What was said, answers that broke off, requests made, and the last error."""
        lost, error = 0, "nothing was asked"
        for number in range(1, tries + 1):
            pause = min(2.0 ** (number - 1), LONGEST_WAIT)
            try:
                response, data = _posted(client, wire.path, body, seconds)
            except httpx.TimeoutException:
                return None, lost + 1, number, "the model did not answer in time"
            except httpx.RequestError as failure:
                error = f"the model cannot be reached: {type(failure).__name__}"
                lost += isinstance(failure, BROKEN_OFF)
            else:
                found = parsed(data)
                if response.status_code == 200 and found is not None:
                    return wire.read(found), lost, number, None
                error = _refusal(response.status_code, found)
                pause = _retry_after(response) or pause
                if response.status_code == 400 and _respell(body, error):
                    continue
                if response.status_code not in PASSING and response.status_code != 200:
                    return None, lost, number, error
                lost += response.status_code == 200
            if number < tries:
                self.wait(pause)
        return None, lost, tries, error


def _posted(client: httpx.Client, path: str, body: Body, seconds: float) -> tuple[httpx.Response, bytes]:
    """An answer and what was read of it: of one above ``MAX_BYTES``, nothing.

    Raises:
        RequestError: none came, or none that can be read; a timeout also where it has no end in time.
    """
    ends, data = time.monotonic() + seconds, b""
    with client.stream("POST", path, json=body) as response:
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > MAX_BYTES:
                return response, b""
            if time.monotonic() > ends:
                raise httpx.ReadTimeout("it has no end")
    return response, data


def _refusal(status: int, body: Event | None) -> str:
    if status == 200:
        return "the model's server answered something that is no JSON object"
    said = text(mapping((body or {}).get("error")).get("message"), 300) or text(
        (body or {}).get("message"), 300
    )
    return f"the model's server refused with status {status}" + (f": {said}" if said else "")


def _respell(body: Body, error: str) -> bool:
    """Write the answer's limit as older servers know it, where the refusal names the newer spelling."""
    if "max_completion_tokens" in error and "max_completion_tokens" in body:
        body["max_tokens"] = body.pop("max_completion_tokens")
        return True
    return False


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    return min(float(value), LONGEST_WAIT) if value.isdecimal() and len(value) < 7 else None


def _is_local(base_url: str) -> bool:
    return httpx.URL(base_url).host in {"127.0.0.1", "localhost", "::1"}


def _lower_bound(lost: int) -> DataWarning:
    return DataWarning(
        code="usage-is-lower-bound",
        text=f"{lost} answers of the judge's model broke off before their token counts arrived",
    )
