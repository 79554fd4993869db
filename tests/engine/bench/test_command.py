"""The command: exit codes, plans, loads, thresholds and reports."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from runner.engine.bench import command
from runner.engine.bench.command import calibrate_command, first_fault
from runner.engine.bench.options import BenchOptions
from runner.engine.bench.reporting import bench_report_command
from runner.errors import ConfigurationError, StoreError, UsageError
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import BenchRun
from tests.engine.bench.project import Project, make_project, options_of


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One mapping that is quick and right."""
    return make_project(tmp_path, [("one", ())])


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


def test_ctrl_c_while_the_figures_are_shown_says_that_they_are_saved(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_of: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(command, "ending_lines", interrupted)
        assert project.bench() == 0
    assert project.said[-2:] == [
        "interrupted while the figures were shown; they are saved",
        f"show them: invoke bench --resume {project.run().run_id}",
    ]
    assert project.read()[2].ended == "complete"


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


def test_the_client_alone_can_be_calibrated() -> None:
    said: list[str] = []
    assert calibrate_command(said.append, BenchOptions(), (1,)) in {0, 2}
    assert any(" 1 stream: TTFT bias" in line for line in said)


def test_the_fault_behind_tasks_side_by_side_is_found() -> None:
    fault = StoreError("full")
    group = ExceptionGroup("tasks", [ExceptionGroup("more", [fault])])
    assert first_fault(group) is fault
    assert first_fault(fault) is fault
