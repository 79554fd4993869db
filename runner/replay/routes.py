"""Routes: which protocol, and which of its calls, an API path stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from runner.replay.chat import CHAT
from runner.replay.conversation import RequestFault
from runner.replay.converse import CONVERSE
from runner.replay.generate import GENERATE_CONTENT
from runner.replay.invoke import INVOKE
from runner.replay.messages import MESSAGES
from runner.replay.responses import RESPONSES
from runner.replay.wire import Call, Wire

PATHS = {"/v1/chat/completions": CHAT, "/v1/messages": MESSAGES, "/v1/responses": RESPONSES}
COUNT_PATH = "/v1/messages/count_tokens"
GENERATE = re.compile(
    r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):(?P<what>generateContent|streamGenerateContent|countTokens)"
)
BEDROCK = re.compile(r"/model/(?P<model>.+)/(?P<what>invoke(?:-with-response-stream)?|converse(?:-stream)?)")
KNOWN = (
    *PATHS,
    COUNT_PATH,
    "/v1beta/models/<model>:generateContent and :streamGenerateContent",
    "/model/<model>/invoke, /converse and their streams",
)


@dataclass(frozen=True)
class Route:
    """A protocol and what is asked of it."""

    wire: Wire
    call: Call
    task: Literal["answer", "count"] = "answer"
    """``count`` asks how many tokens a request would take."""


def find_route(api_path: str, query: str) -> Route:
    """The route of a POST to ``api_path`` (without the scenario before it).

    Raises:
        RequestFault: nothing is served there; the message says what is.
    """
    if api_path in PATHS:
        return Route(PATHS[api_path], Call())
    if api_path == COUNT_PATH:
        return Route(MESSAGES, Call(), "count")
    if bedrock := BEDROCK.fullmatch(api_path):
        what = bedrock["what"]
        wire = INVOKE if what.startswith("invoke") else CONVERSE
        call = Call(bedrock["model"], what.endswith("stream"), server_sent=False, framed=True)
        return Route(wire, call)
    match = GENERATE.fullmatch(api_path)
    if match is None:
        raise RequestFault(
            f"{api_path!r} is not served; this server speaks {', '.join(KNOWN)}",
            status=404,
            code="unknown_path",
        )
    stream = match["what"] == "streamGenerateContent"
    call = Call(match["model"], stream, server_sent="alt=sse" in query.split("&"))
    return Route(GENERATE_CONTENT, call, "count" if match["what"] == "countTokens" else "answer")
