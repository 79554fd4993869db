"""Transcript: requests that an agent once made, as JSON lines, asked again as they were."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from runner.endpoint.request import Message, Tool
from runner.endpoint.result import StreamResult
from runner.endpoint.suites.case import Case, Kind, Puzzle
from runner.endpoint.suites.score import CaseScore, invalid, passed
from runner.errors import ConfigurationError
from runner.records.base import Part
from runner.records.plain_words import in_plain_words

MAX_BYTES = 64 * 1024 * 1024
MAX_LINES = 10_000
PREFIX = "transcript"


class RecordedRequest(Part):
    """One line: what was sent, and when, from the beginning: all lines have ``at_ms`` or none."""

    messages: tuple[Message, ...] = Field(strict=False, min_length=1)
    system: str | None = None
    tools: tuple[Tool, ...] = Field(default=(), strict=False)
    max_output_tokens: int | None = Field(default=None, ge=1)
    at_ms: float | None = Field(default=None, ge=0)


@dataclass(frozen=True)
class Transcript:
    """A file of recorded requests."""

    path: str
    sha256: str
    requests: tuple[RecordedRequest, ...]

    @property
    def timed(self) -> bool:
        """Whether it says when each request was sent."""
        return all(request.at_ms is not None for request in self.requests)

    def cases(self) -> tuple[Case, ...]:
        """Its requests as cases; their ids hold the file's digest, so that no other file passes for it."""
        return tuple(self._case(number, request) for number, request in enumerate(self.requests, 1))

    def _case(self, number: int, request: RecordedRequest) -> Case:
        def make(_seed: int) -> Puzzle:
            """The recorded request; it is the same for every seed."""
            return Puzzle(
                request.messages, _answered, "an answer", system=request.system, tools=request.tools
            )

        return Case(
            identifier=f"{PREFIX}-{self.sha256[:12]}-{number}",
            title=f"Request {number} of a recorded agent",
            kind=Kind.PERFORMANCE,
            category="load",
            dimension="transcript",
            description="A request as an agent made it; only whether it is answered is checked.",
            make=make,
            max_output_tokens=request.max_output_tokens or 1024,
            temperature=None,
            parameters={"transcript": self.path, "line": number},
        )


def _answered(result: StreamResult) -> CaseScore:
    if result.text or result.tool_calls:
        return passed("answered", "an answer")
    return invalid("nothing was said", "an answer")


def read_transcript(path: Path, shown: str | None = None) -> Transcript:
    """The transcript in the file at ``path``.

    Args:
        shown: what records call it, so that no folder of this machine stands in them.

    Raises:
        ConfigurationError: it cannot be read, is too large, or has lines that are no requests.
    """
    name = shown or path.name
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"the transcript cannot be read: {error.strerror}", where=name) from None
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"the transcript is larger than {MAX_BYTES} bytes", where=name)
    requests, faults = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            requests.append(RecordedRequest.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            faults.append(f"  line {number}: {place + ': ' if place else ''}{in_plain_words(first)}")
    if not requests and not faults:
        faults.append("  it has no requests")
    if len(requests) > MAX_LINES:
        faults.append(f"  it has more than {MAX_LINES} requests")
    times = [request.at_ms for request in requests]
    if any(time is None for time in times) and any(time is not None for time in times):
        faults.append("  some lines say at_ms and some do not")
    elif [time or 0.0 for time in times] != sorted(time or 0.0 for time in times):
        faults.append("  at_ms goes back from one line to the next")
    if faults:
        raise ConfigurationError(
            "the transcript has faults:\n" + "\n".join(faults[:20]),
            where=name,
            remedy='write one request on a line: {"messages": [{"role": "user", "content": "..."}]}',
        )
    return Transcript(name, hashlib.sha256(data).hexdigest(), tuple(requests))
