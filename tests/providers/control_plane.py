"""A stand-in for the part of Amazon Bedrock that tells about models, as its own client asks it over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

REGION = "us-east-1"
PROFILED = "anthropic.claude-sonnet-4-5-20250929-v1:0"
"""Only invocable through a profile."""
PLAIN = "openai.gpt-oss-120b-1:0"


@dataclass
class ControlPlane:
    """What it knows, and what it was asked."""

    models: dict[str, list[str]] = field(
        default_factory=lambda: {PROFILED: ["INFERENCE_PROFILE"], PLAIN: ["ON_DEMAND"]}
    )
    profiles: list[str] = field(default_factory=lambda: [f"global.{PROFILED}", f"us.{PROFILED}"])
    lacking: dict[str, Any] = field(default_factory=dict)
    refusal: tuple[int, str] | None = None
    """Status and code of every answer, where it refuses all."""
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        """Status and body for a GET of ``path``."""
        self.asked.append(path)
        if self.refusal is not None:
            return self.refusal[0], {"__type": self.refusal[1], "message": "refused for the test"}
        kind, _, rest = unquote(path).lstrip("/").partition("/")
        if kind.startswith("inference-profiles"):
            return 200, {"inferenceProfileSummaries": [self._profile(each) for each in self.profiles]}
        if rest not in self.models:
            return 404, {"__type": "ResourceNotFoundException", "message": "no such model"}
        if kind == "foundation-models":
            details = {"modelArn": _arn(rest), "modelId": rest, "inferenceTypesSupported": self.models[rest]}
            return 200, {"modelDetails": details}
        return 200, {
            "modelId": rest,
            "agreementAvailability": {"status": "AVAILABLE"},
            "authorizationStatus": "AUTHORIZED",
            "entitlementAvailability": "AVAILABLE",
            "regionAvailability": "AVAILABLE",
            **self.lacking,
        }

    def _profile(self, name: str) -> dict[str, Any]:
        model = name.partition(".")[2]
        return {
            "inferenceProfileId": name,
            "inferenceProfileName": name,
            "inferenceProfileArn": f"arn:aws:bedrock:{REGION}:123456789012:inference-profile/{name}",
            "models": [{"modelArn": _arn(model)}],
            "status": "ACTIVE",
            "type": "SYSTEM_DEFINED",
        }


def _arn(model: str) -> str:
    return f"arn:aws:bedrock:{REGION}::foundation-model/{model}"


@contextmanager
def control_plane() -> Iterator[ControlPlane]:
    """One that listens on loopback while the context is open."""
    plane = ControlPlane()

    def answer(path: str) -> tuple[int, bytes]:
        status, body = plane.answer(path)
        return status, json.dumps(body).encode()

    with _listening(answer, "application/json") as plane.url:
        yield plane


@contextmanager
def refusing_tokens(code: str) -> Iterator[str]:
    """The address of a token service that refuses everybody with ``code``."""
    body = (
        f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>no</Message></Error>"
        "<RequestId>1</RequestId></ErrorResponse>"
    ).encode()
    with _listening(lambda _: (403, body), "text/xml") as address:
        yield address


@contextmanager
def _listening(answer: Callable[[str], tuple[int, bytes]], content_type: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, data = answer(self.path.partition("?")[0])
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815 - the base class looks for it

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            """Nothing goes to the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
