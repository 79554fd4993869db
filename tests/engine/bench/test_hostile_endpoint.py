"""The command against endpoints that mean no good, that nobody serves, or that do not know the key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runner.engine.bench.command import BenchCall, bench_command
from runner.engine.bench.options import BenchOptions
from runner.engine.bench.reporting import bench_report_command
from runner.errors import ConfigurationError
from runner.store.bench_run import find_runs
from tests.engine.bench.project import Project, make_project, options_of

KEY = "sk-correct-horse-battery-staple-0123456789"
VARIABLE = "LOCAL_GATEWAY_KEY"
SECRET_WORD = "xylophone-answer"


class Hostile(BaseHTTPRequestHandler):
    """Answers by the number of the request: the key, markup, garbage, a stream that never says it ended."""

    protocol_version = "HTTP/1.1"
    count = 0

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Nothing to the terminal."""

    def do_POST(self) -> None:
        """One of several evils."""
        self.rfile.read(int(self.headers["Content-Length"]))
        kind = Hostile.count % 4
        Hostile.count += 1
        sent = self.headers.get("Authorization", "")
        if "/closed/" in self.path:
            self._send(401, json.dumps({"error": {"code": "invalid_api_key", "message": f"bad key {sent}"}}))
        elif kind == 0:
            self._send(500, json.dumps({"error": {"message": f"<script>bad key {sent}</script>"}}))
        elif kind == 1:
            self._send(200, "data: {\x00\xff not json\n\n", "text/event-stream")
        elif kind == 2:
            chunk = {"choices": [{"delta": {"content": f"=CMD({SECRET_WORD}) {sent}"}}]}
            self._send(200, f"data: {json.dumps(chunk)}\n\n", "text/event-stream")
        else:
            body = {"error": {"code": f"<b>{SECRET_WORD}</b>", "message": SECRET_WORD}}
            self._send(200, f"data: {json.dumps(body)}\n\n", "text/event-stream")

    def _send(self, status: int, body: str, kind: str = "application/json") -> None:
        data = body.encode("utf-8", "surrogatepass")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def hostile() -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One mapping that is quick and right."""
    return make_project(tmp_path, [("one", ())])


def everything(project: Project) -> bytes:
    files = [path for path in project.places.results.rglob("*") if path.is_file()]
    return b"\n".join(path.read_bytes() for path in files)


def gateway(url: str, **changes: object) -> BenchOptions:
    usual: dict[str, object] = {"models": ("some-model",), "url": url, "api_key_env": VARIABLE}
    cases = ("instruction_hierarchy_document", "seeded_grounded_unknown")
    return options_of(**{**usual, "profile": "smoke", "cases": cases, "runs": 2, **changes})


def test_what_a_hostile_endpoint_says_is_classed_kept_and_harmless(project: Project, hostile: str) -> None:
    call = BenchCall(gateway(hostile))
    # Nothing was answered: that is no run that is done.
    assert bench_command(project.places, project.said.append, call, {VARIABLE: KEY}) == 3
    (run,) = find_runs(project.places.results)
    outcomes = [request.outcome for trial in run.trials() for request in trial.requests]
    assert sorted(outcomes) == ["http_error", "incomplete", "parse_error", "stream_error"]
    assert KEY.encode() not in everything(project)
    assert KEY not in "\n".join(project.said)
    summary = run.summary()
    assert summary is not None
    assert summary.targets[0].reliability.succeeded.count == 0
    assert not summary.demonstration
    page = project.root / "report.html"
    bench_report_command(project.places, project.said.append, wanted="latest", form="html", out=str(page))
    assert "<script" not in page.read_text(encoding="utf-8")


def test_without_responses_no_file_has_a_word_of_what_was_said(project: Project, hostile: str) -> None:
    call = BenchCall(gateway(hostile, keep_responses=False))
    bench_command(project.places, project.said.append, call, {VARIABLE: KEY})
    bench_report_command(
        project.places, project.said.append, wanted="latest", form="all", out=str(project.root / "reports")
    )
    reports = b"".join(path.read_bytes() for path in (project.root / "reports").iterdir())
    assert SECRET_WORD.encode() not in everything(project) + reports


def test_a_missing_key_is_told_before_anything_is_asked_or_written(project: Project) -> None:
    with pytest.raises(ConfigurationError, match=VARIABLE):
        project.bench(gateway("http://127.0.0.1:9/v1"))
    assert not project.places.results.exists()


def test_a_gateway_that_is_not_there_opens_the_circuit_and_leaves_the_rest(project: Project) -> None:
    options = gateway("http://127.0.0.1:9/v1", runs=9, preflight=False)
    code = bench_command(project.places, project.said.append, BenchCall(options), {VARIABLE: KEY})
    (run,) = find_runs(project.places.results)
    summary = run.summary()
    assert (code, len(run.trials())) == (3, 5)
    assert summary is not None
    assert "nobody is there" in summary.ended_reason
    assert summary.account.left == summary.account.planned - 5


def test_a_key_that_is_not_accepted_is_named_and_not_tried_to_the_end(project: Project, hostile: str) -> None:
    options = gateway(hostile.replace("/v1", "/closed/v1"), runs=9, preflight=False)
    code = bench_command(project.places, project.said.append, BenchCall(options), {VARIABLE: KEY})
    (run,) = find_runs(project.places.results)
    assert (code, len(run.trials())) == (3, 5)
    said = "\n".join(project.said)
    assert "http_error 401" in said
    assert "5 answers in a row were 401 Unauthorized: check the key and the address" in said
    assert KEY not in said
    assert KEY.encode() not in everything(project)


def test_without_responses_right_answers_are_gone_and_still_compared(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ("think4",)), ("two", ("wrong100",))])
    project.bench(options_of(profile="smoke", keep_responses=False))
    _, trials, summary = project.read()
    for trial in trials:
        assert (trial.score.answer, trial.score.reason) == (None, "")
        assert all(
            (request.text, request.reasoning, request.refusal, request.tool_calls) == ("", "", "", ())
            for request in trial.requests
        )
    assert b"something else" not in everything(project)
    assert b"I worked it out" not in everything(project)
    (agreement,) = summary.agreements
    assert agreement.same.of > 0
    assert agreement.same.count == 0


def test_an_effort_that_is_asked_for_reaches_an_endpoint_that_no_file_describes(tmp_path: Path) -> None:
    heard: list[str] = []

    class Listening(Hostile):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self._send(500, "{}")

    project = make_project(tmp_path / "project", [("one", ())])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Listening)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        call = BenchCall(gateway(url, effort="high", runs=1))
        bench_command(project.places, project.said.append, call, {VARIABLE: KEY})
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert heard
    assert {json.loads(body)["reasoning_effort"] for body in heard} == {"high"}
