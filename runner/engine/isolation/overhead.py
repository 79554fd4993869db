"""Overhead: what an isolation adds to a start and to each model request, measured in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from runner.engine.isolation.choosing import choose
from runner.engine.isolation.level import Isolation, IsolationLevel
from runner.engine.supervision import supervise
from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint, WireProtocol

BODY = b'{"messages": "' + b"x" * 50_000 + b'"}'
# Answers every request at once with a short stream.
SERVER = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    def do_POST(self):
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        else:
            self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for _ in range(5):
            self.wfile.write(b"9\\r\\ndata: x\\n\\n\\r\\n")
        self.wfile.write(b"0\\r\\n\\r\\n")
    def log_message(self, *arguments):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
# Runs as the agent: one connection, one request after the other; times in milliseconds.
CLIENT = """
import http.client, json, os, sys, time
host, path, key, count, body = *sys.argv[1:4], int(sys.argv[4]), sys.stdin.buffer.read()
connection, whole, first = http.client.HTTPConnection(host), [], []
for number in range(count + 10):
    begun = time.perf_counter()
    connection.request("POST", path, body, {"authorization": "Bearer " + key})
    response = connection.getresponse()
    response.read1(1)
    first.append((time.perf_counter() - begun) * 1000)
    response.read()
    whole.append((time.perf_counter() - begun) * 1000)
print(json.dumps({"whole": whole[10:], "first": first[10:]}))
"""


@dataclass(frozen=True)
class Overhead:
    """Medians in milliseconds: without and with the isolation."""

    level: str
    requests: int
    request_ms: tuple[float, float]
    first_byte_ms: tuple[float, float]
    start_ms: tuple[float, float]

    def lines(self) -> list[str]:
        """The figures in words."""
        named = (
            ("a request", self.request_ms),
            ("first byte", self.first_byte_ms),
            ("a start", self.start_ms),
        )
        return [
            f"{self.level}: {name} takes {direct:.2f} ms without and {inside:.2f} ms with it "
            f"(+{inside - direct:.2f} ms)"
            for name, (direct, inside) in named
        ]


def measure_overhead(isolation: Isolation, *, requests: int = 200, starts: int = 10) -> Overhead:
    """Ask a local server directly and through ``isolation``, and start an empty program both ways.

    Requests have a body of 50 KB, as a coding agent's, and are answered at once by a stream of few events.
    """
    with _server() as base, tempfile.TemporaryDirectory(prefix="harnessmark-") as name:
        folder = Path(name)
        for part in ("workspace", "artifacts", "home"):
            (folder / part).mkdir()
        target = Endpoint(base, WireProtocol.CHAT_COMPLETIONS, "m", "sk-measured-0123456789")
        direct = _ask(_client(target, folder, requests), folder)
        with isolation.gateway(target) as gateway:
            launch = _client(gateway.endpoint, folder, requests)
            inside = _ask(
                isolation.wrap(
                    launch,
                    workspace=folder / "workspace",
                    artifacts=folder / "artifacts",
                    home=folder / "home",
                    gateway=gateway,
                ),
                folder,
            )
        return Overhead(
            isolation.level,
            requests,
            (median(direct["whole"]), median(inside["whole"])),
            (median(direct["first"]), median(inside["first"])),
            _starts(isolation, folder, starts),
        )


def isolation_command(
    say: Callable[[str], None],
    level: str = IsolationLevel.SANDBOX,
    *,
    requests: int = 200,
    starts: int = 10,
) -> int:
    """Measure what ``level`` adds on this machine and say it; 0, for the figures depend on the machine.

    Raises:
        ConfigurationError: the level is not to be had here.
    """
    for line in measure_overhead(choose(level, private=()), requests=requests, starts=starts).lines():
        say(line)
    return 0


def _starts(isolation: Isolation, folder: Path, count: int) -> tuple[float, float]:
    empty = Launch(("/bin/true",), {"PATH": os.defpath}, folder / "workspace")
    places = {part: folder / part for part in ("workspace", "artifacts", "home")}
    direct, inside = [], []
    for _ in range(count):
        direct.append(_run(empty, folder) * 1000)
        inside.append(_run(isolation.wrap(empty, **places, gateway=None), folder) * 1000)
    return median(direct), median(inside)


def _client(endpoint: Endpoint, folder: Path, requests: int) -> Launch:
    host, _, path = endpoint.base_url.removeprefix("http://").partition("/")
    words = (host, f"/{path}/chat/completions", endpoint.api_key, str(requests))
    return Launch(
        (sys.executable, "-I", "-c", CLIENT, *words), {"PATH": os.defpath}, folder / "workspace", BODY
    )


def _ask(launch: Launch, folder: Path) -> dict[str, list[float]]:
    _run(launch, folder)
    times: dict[str, list[float]] = json.loads((folder / "stdout").read_text(encoding="utf-8"))
    return times


def _run(launch: Launch, folder: Path) -> float:
    begun = time.perf_counter()
    supervise(launch, stdout=folder / "stdout", timeout_seconds=120, cancelled=threading.Event())
    return time.perf_counter() - begun


@contextmanager
def _server() -> Iterator[str]:
    """A process of its own: a real endpoint does not wait for our interpreter either."""
    with subprocess.Popen([sys.executable, "-I", "-c", SERVER], stdout=subprocess.PIPE) as process:
        if process.stdout is None:
            raise AssertionError("the process was started with a pipe")
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()
