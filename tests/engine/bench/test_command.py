"""The command: exit codes, plans, budgets, keys, redaction and endpoints that mean no good."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from invoke.parser import Parser, ParserContext

from runner.commands.endpoints import bench_report
from runner.engine.bench.command import BenchCall, bench_command, calibrate_command, first_fault
from runner.engine.bench.form import bench_form, bench_how, bench_options
from runner.engine.bench.options import BenchOptions
from runner.engine.bench.planning import parse_limits
from runner.engine.bench.reporting import bench_report_command
from runner.errors import ConfigurationError, StoreError, UsageError
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import BenchRun, find_runs
from tests.engine.bench.project import MODEL, Project, make_project, options_of

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


def test_a_dry_run_shows_the_plan_and_does_nothing(project: Project) -> None:
    assert project.bench(options_of(profile="standard"), dry_run=True) == 0
    assert "cases at 1 target, 0 of load" in "\n".join(project.said)
    assert not project.places.results.exists()


def test_a_threshold_that_fails_is_exit_2(project: Project) -> None:
    cases = ("instruction_hierarchy_document",)
    bad = options_of(profile="smoke", cases=cases, thresholds=("score>=1", "cost_usd>1"))
    assert project.bench(bad) == 2
    results = {each.text: each.failed for each in project.read()[2].thresholds}
    assert results == {"score>=1": True, "cost_usd>1": None}


def test_a_threshold_that_cannot_be_told_lets_no_gate_open(project: Project) -> None:
    cases = ("instruction_hierarchy_document",)
    # One request has no p99, and the built-in server bills nothing.
    for condition in ("ttft_p99_ms>800", "cost_usd>1"):
        assert project.bench(options_of(profile="smoke", cases=cases, thresholds=(condition,))) == 2
        assert any(line.startswith(f"  threshold {condition}") and "unknown" in line for line in project.said)


def test_a_run_whose_prompts_share_their_beginnings_is_answered_and_says_so(project: Project) -> None:
    assert project.bench(options_of(profile="smoke", shared_prefix=True)) == 0
    manifest, _, summary = project.read()
    score = summary.targets[0].score
    assert manifest.settings.shared_prefix
    assert any("share their beginnings" in flag for flag in summary.flags)
    assert score is not None
    assert score.over_attempted.count == score.over_attempted.of > 0


def test_ctrl_c_while_the_figures_are_made_does_not_say_that_nothing_was_measured(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_of: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(BenchRun, "write_summary", interrupted)
        assert project.bench() == 3
    run = project.run()
    assert project.said[-2:] == [
        "interrupted while the figures were made; every result is saved",
        f"make them: invoke bench --resume {run.run_id}",
    ]
    trials = run.trials()
    assert project.bench(resume=run.run_id) == 0
    assert project.run().trials() == trials


def test_wrong_answers_alone_are_no_error_and_neither_is_a_threshold_that_holds(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ("wrong100",))])
    options = options_of(
        profile="smoke", cases=("instruction_hierarchy_document",), thresholds=("score>0.5",)
    )
    assert project.bench(options) == 0
    score = project.read()[2].targets[0].score
    assert score is not None
    assert score.over_attempted.count == 0


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"models": ("no-such-model",)}, "no model"),
        ({"models": ("a", "b")}, "one model"),
        ({"mappings": ("replay:three",)}, "match nothing"),
        ({"profile": "huge"}, "no profile"),
        ({"profile": "smoke", "suites": ("coding",)}, "not several"),
        ({"cases": ("no_such_case",)}, "is no case"),
        ({"concurrency": 0}, "concurrency"),
        ({"workers": 65}, "workers"),
        ({"timeout_seconds": 0.0}, "timeout-seconds"),
        ({"stall_seconds": 0.0}, "stall-seconds"),
        ({"effort": "bananas"}, "no target knows the effort 'bananas'"),
        ({"url": "http://127.0.0.1:9/v1", "effort": "Very High"}, "efforts"),
        ({"transport": "pigeon"}, "no transport"),
        ({"budget_seconds": "soon"}, "number of seconds"),
        ({"budget_usd": 5.0}, "limit in dollars"),
        ({"thresholds": ("speed>1",)}, "no figure"),
        ({"loads": ("goodput=1-4",)}, "needs limits"),
        ({"loads": ("transcript=missing.jsonl",)}, "cannot be read"),
        ({"url": "http://user:secret@127.0.0.1/v1"}, "credentials"),
        ({"runs": 0, "profile": "smoke"}, "nothing is planned"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_asked(
    project: Project, changes: dict[str, object], why: str
) -> None:
    with pytest.raises((UsageError, ConfigurationError), match=why) as caught:
        project.bench(options_of(**changes))
    assert caught.value.exit_code == 1
    assert "secret" not in str(caught.value)
    assert not project.places.results.exists()


def test_a_load_of_every_shape_is_planned_sent_and_summed_up(tmp_path: Path) -> None:
    # Answers that take a while hold their level, however late the client is between them.
    project = make_project(tmp_path, [("one", ("slow40",))])
    script = project.root / "agent.jsonl"
    line = {"messages": [{"role": "user", "content": "Say a word."}]}
    script.write_text(f"{json.dumps(line)}\n" * 3, encoding="utf-8")
    loads = (
        "concurrency=2",
        "rate=100",
        "poisson=100",
        "ramp=50-100",
        "sweep=1,2,3",
        "goodput=1-2",
        "sessions=2",
    )
    options = options_of(
        loads=(*loads, f"transcript={script}"), load_requests=30, load_warm_up=1, limits=("total_ms=60000",)
    )
    assert project.bench(options) == 0
    manifest, trials, summary = project.read()
    assert {curve.shape for curve in summary.load} == {
        load.partition("=")[0] for load in (*loads, "transcript")
    }
    assert summary.account.left == 0
    assert summary.account.unplanned > 0
    assert len({trial.key for trial in trials}) == len(trials)
    for curve in summary.load:
        assert all(point.succeeded.rate == 1.0 for point in curve.points), curve.shape
        late = [point.lateness_ms for point in curve.points]
        assert all((each is None) is curve.closed_loop for each in late)
    search = next(curve for curve in summary.load if curve.goodput is not None)
    assert search.goodput is not None
    # How many requests fall into the steady window of a level is up to the machine; none broke the limit.
    assert set(search.goodput.verdicts.values()) <= {"kept", "undecided"}
    ends = sorted(spans(trials, stage.key) for stage in manifest.stages if not stage.adaptive)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(ends))


def test_one_shape_at_several_levels_is_one_curve_and_can_be_reported(project: Project) -> None:
    options = options_of(loads=("concurrency=2,4", "poisson=50,100"), load_requests=12, load_warm_up=1)
    assert project.bench(options, out=str(project.root / "reports")) == 0
    levels = {curve.shape: [point.level for point in curve.points] for curve in project.read()[2].load}
    assert levels == {"concurrency": [2.0, 4.0], "poisson": [50.0, 100.0]}
    assert len(list((project.root / "reports").iterdir())) == 5


def spans(trials: tuple[BenchTrial, ...], stage: str) -> tuple[float, float]:
    """When a stage began and ended."""
    mine = [trial for trial in trials if trial.load is not None and trial.load.stage == stage]
    return (
        min(trial.started_at.timestamp() for trial in mine),
        max(trial.requests[-1].started_at.timestamp() for trial in mine),
    )


def test_a_folder_for_reports_that_cannot_be_is_told_before_anything_is_measured(project: Project) -> None:
    (file := project.root / "file").write_text("no folder")
    with pytest.raises(ConfigurationError, match="no folder for the reports"):
        project.bench(out=str(file / "reports"))
    assert not project.places.results.exists()


def test_a_run_is_rendered_again_without_asking_anybody(project: Project) -> None:
    project.bench(
        options_of(profile="smoke", cases=("fixed_output_stream",)), out=str(project.root / "first")
    )
    run = project.run()
    before = {path.name: path.read_bytes() for path in (project.root / "first").iterdir()}
    run.summary_path.unlink()
    code = bench_report_command(
        project.places, project.said.append, wanted=run.run_id, form="all", out=str(project.root / "again")
    )
    after = {path.name: path.read_bytes() for path in (project.root / "again").iterdir()}
    assert (code, before.keys()) == (0, after.keys())
    csv = next(name for name in before if name.endswith(".csv"))
    assert before[csv] == after[csv]
    # Each file of its own says by which definitions its figures were made.
    words = {"md": b"Methodology: 1", "html": b"Methodology", "csv": b'"1"', "json": b'"methodology": 1'}
    assert all(words[name.rpartition(".")[2]] in data for name, data in after.items())
    assert project.bench(resume=run.run_id) == 0
    assert "nothing was left to ask: 1 planned trial over before; figures are made again" in project.said
    with pytest.raises(UsageError, match="no format"):
        bench_report_command(project.places, print, wanted="latest", form="pdf", out="")


def test_the_flags_come_to_options() -> None:
    given = bench_form(
        None, model=[MODEL], suites=["coding,quality"], runs="3", rate="2.5", fail_on=["score<1"]
    )
    options = bench_options(given)
    assert (options.models, options.suites, options.runs) == ((MODEL,), ("coding", "quality"), 3)
    assert (options.loads, options.thresholds) == (("poisson=2.5",), ("score<1",))
    assert bench_how({**given, "resume": True})["resume"] == "latest"
    assert (options.seed, options.concurrency, options.external_offset) == (1, 1, 0)
    no_numbers = (
        ("runs", "two"),
        ("runs", "-1"),
        ("load_requests", "0"),
        ("budget_usd", "much"),
        ("seed", "x"),
        ("seed", "9" * 5000),
        ("concurrency", "many"),
        ("external_offset", "-1"),
    )
    for flag, value in no_numbers:
        with pytest.raises(UsageError, match="must be"):
            bench_options({**given, flag: value})


def test_a_report_takes_its_run_with_and_without_the_flag() -> None:
    for argv in (["bench-report", "latest"], ["bench-report", "--run", "latest"]):
        parser = Parser([ParserContext(name="bench-report", args=bench_report.get_arguments())])
        assert parser.parse_argv(argv)[0].args["run"].value == "latest"


def test_limits_are_named_figures() -> None:
    assert parse_limits(["ttft_ms=800, tpot_ms=50"]) == {"ttft_ms": 800.0, "tpot_ms": 50.0}
    for text in ("ttft_ms", "ttft_ms=fast", "ttft_ms=-1", "ttft_ms=nan", "ttft_ms=inf", "speed=1"):
        with pytest.raises(UsageError):
            parse_limits([text])


def test_the_client_alone_can_be_calibrated() -> None:
    said: list[str] = []
    assert calibrate_command(said.append, BenchOptions(), (1,)) in {0, 2}
    assert any(" 1 stream: TTFT bias" in line for line in said)


def test_the_fault_behind_tasks_side_by_side_is_found() -> None:
    fault = StoreError("full")
    group = ExceptionGroup("tasks", [ExceptionGroup("more", [fault])])
    assert first_fault(group) is fault
    assert first_fault(fault) is fault
