"""Invoke: Messages inside the InvokeModel requests of Amazon Bedrock, streamed in its binary frames."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping

from runner.replay import messages
from runner.replay.conversation import Answer, Conversation
from runner.replay.event_stream import frame
from runner.replay.wire import Call, Wire

ERROR_TYPES = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


def read_request(body: Mapping[str, object], call: Call) -> Conversation:
    """The conversation in a request body; model and streaming are in the address.

    Raises:
        RequestFault: a field is missing or has the wrong form.
    """
    return messages.read_request({**body, "model": call.model, "stream": call.stream}, call)


def events(answer: Answer, created: int) -> Iterator[bytes]:
    """The frames of a streamed answer: each holds one event of Messages, the last one measurements too."""
    told = [json.loads(each.partition(b"data: ")[2]) for each in messages.events(answer, created)]
    if answer.usage is not None:
        told[-1]["amazon-bedrock-invocationMetrics"] = {
            "inputTokenCount": answer.usage.uncached,
            "outputTokenCount": answer.usage.output,
            "invocationLatency": 1,
            "firstByteLatency": 1,
        }
    for each in told:
        yield frame("chunk", {"bytes": base64.b64encode(json.dumps(each).encode()).decode()})


def error_body(status: int, message: str, _code: str) -> dict[str, object]:
    """An error in the form of Amazon's services."""
    kind = ERROR_TYPES.get(status, "InternalServerException" if status >= 500 else "ValidationException")
    return {"__type": kind, "message": message}


INVOKE = Wire(
    name="bedrock-invoke",
    read=read_request,
    whole=messages.whole_answer,
    events=events,
    error=error_body,
    told=messages.told,
    told_at_start=messages.told_at_start,
)
