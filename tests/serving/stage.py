"""Stage of the collector tests: synthetic samples, servers with chosen faults, collectors as processes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from runner.serving.collector import CollectorSettings
from runner.serving.database import Answer, CollectorDatabase, opened
from runner.serving.exposition import Sample
from runner.serving.readings import open_readings

PROJECT = Path(__file__).parent.parent.parent
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
LABELS = '{"engine":"0","model_name":"m"}'
TOKENS, RUNNING = "vllm:prompt_tokens_total", "vllm:num_requests_running"
Serve = Callable[[BaseHTTPRequestHandler], None]


def at(seconds: float) -> datetime:
    """So many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def counted(seconds: float, value: float | None, metric: str = TOKENS, labels: str = LABELS) -> Answer:
    """A scrape of one counter."""
    return Answer(at(seconds), 2.0, [Sample(metric, "counter", labels, value)])


@contextmanager
def collected(path: Path, name: str = "s") -> Iterator[CollectorDatabase]:
    """A database in which a session has begun at noon."""
    with opened(path) as database:
        database.begin(name, NOON, "http://127.0.0.1:1/metrics", 1.0)
        yield database


def page(value: float, **more: float) -> str:
    """A page of metrics with one counter and some gauges."""
    lines = [f'{TOKENS}{{engine="0",model_name="m"}} {value}']
    lines += [f'vllm:{name}{{engine="0",model_name="m"}} {each}' for name, each in more.items()]
    return "# TYPE vllm:prompt_tokens_total counter\n" + "\n".join(lines) + "\n"


@dataclass
class Server:
    """A server of one page; ``serve`` may be changed at any time."""

    serve: Serve
    asked: list[float] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.port}/metrics"


def answer(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    """Send an answer in one go."""
    handler.send_response(status)
    for name, value in {"content-length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def serving(serve: Serve, port: int = 0) -> Iterator[Server]:
    """A running server."""
    told = Server(serve)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.asked.append(time.monotonic())
            try:
                told.serve(self)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.daemon_threads = True
        told.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield told
        finally:
            server.shutdown()
            thread.join()


def counting(value: float = 0.0) -> Serve:
    """Serves a counter that rises from ``value`` by ten with each question."""

    def serve(handler: BaseHTTPRequestHandler) -> None:
        nonlocal value
        value += 10
        answer(handler, page(value, num_requests_running=2, kv_cache_usage_perc=0.5).encode())

    return serve


def settings(database: Path, url: str, **more: object) -> CollectorSettings:
    """Fast settings of a collector."""
    given = {"interval_seconds": 0.05, "timeout_seconds": 60.0, "session_name": "s", **more}
    return CollectorSettings.model_validate({"database": str(database), "metrics_url": url, **given})


def until(ready: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Wait until ``ready``."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.02)


def scrapes(database: Path) -> tuple[int, int]:
    """How many scrapes of the newest session were answered, and how many failed."""
    with open_readings(database) as readings:
        session = readings.sessions()[-1]
    return session.scrapes_ok, session.scrapes_failed


def environment() -> dict[str, str]:
    """What a collector in a process of its own sees."""
    return dict(os.environ)
