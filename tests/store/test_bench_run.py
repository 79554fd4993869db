"""The folder of an endpoint benchmark: what is written stays, what is torn or changed is found."""

from __future__ import annotations

import resource
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.statistics.summary import Ending, summarise
from runner.errors import OverwriteError, PathEscapeError, RecordError, SecretFound, StoreError, UsageError
from runner.records.bench_trial import BenchTrial
from runner.secrets import Scanner
from runner.store.bench_run import BenchRun, TrialLog, find_run, find_runs, newest
from runner.store.integrity import verify
from runner.store.layout import StoreRoots
from tests import bench_examples
from tests.kill_points import killed_at

MANIFEST = bench_examples.manifest()


def begun(root: Path, scanner: Scanner | None = None) -> BenchRun:
    run = BenchRun(root, MANIFEST.model, MANIFEST.run_id, scanner or Scanner())
    run.begin(MANIFEST)
    return run


def finished(root: Path) -> BenchRun:
    run = begun(root)
    log = TrialLog(run)
    log.append(bench_examples.trial())
    log.close()
    run.write_summary(summarise(MANIFEST, run.trials(), Ending("complete"), run.trials_sha256()))
    return run


def test_what_is_written_is_read(tmp_path: Path) -> None:
    run = finished(tmp_path)
    assert run.manifest() == MANIFEST
    assert run.trials() == (bench_examples.trial(),)
    assert run.summary() is not None
    assert [found.folder for found in find_runs(tmp_path)] == [run.folder]


def test_a_whole_run_has_nothing_wrong(tmp_path: Path) -> None:
    finished(tmp_path)
    assert verify(tmp_path) == []


def test_a_plan_is_never_overwritten(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.begin(MANIFEST)
    with pytest.raises(OverwriteError):
        run.begin(MANIFEST.model_copy(update={"reference": "other"}))


def test_a_kill_while_a_run_is_begun_leaves_a_whole_run_or_none(tmp_path: Path) -> None:
    """A plan without a file of trials could neither be read nor be gone on with."""

    def begin(root: Path) -> int:
        begun(root)
        return 0

    at, seen = 0, set[int]()
    while True:
        at += 1
        root = tmp_path / str(at)
        if killed_at(root, at, partial(begin, root)) == 0:
            break
        seen.add(len(find_runs(root)))
        assert [run.trials() for run in find_runs(root)] in ([], [()])
        other = MANIFEST.model_copy(update={"run_id": f"{MANIFEST.run_id}-other"})
        BenchRun(root, other.model, other.run_id).begin(other)
        assert {found.problem for found in verify(root) if "has no figures" not in found.line()} == set()
    assert (at > 10, seen) == (True, {0, 1})


@given(cut=st.integers(1, 200))
def test_a_torn_line_is_left_out_and_can_be_taken_away(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    run = finished(tmp_path_factory.mktemp("torn"))
    line = bench_examples.trial().model_copy(update={"key": "other"}).to_line()
    whole = run.trials_path.read_bytes()
    run.trials_path.write_bytes(whole + line[:cut])
    assert len(run.trials()) == 1
    assert run.repair() == cut
    assert run.trials_path.read_bytes() == whole
    assert run.repair() == 0


def test_a_trial_that_was_skipped_may_be_made_up_for_and_one_that_was_made_not(tmp_path: Path) -> None:
    run, made = begun(tmp_path), bench_examples.trial()
    skipped = made.model_copy(update={"skipped": "the budget of time was spent", "requests": ()})
    log = TrialLog(run)
    log.append(skipped)
    log.append(made)
    assert run.trials() == (made,)
    log.append(made)
    log.close()
    with pytest.raises(RecordError, match="stands there twice"):
        run.trials()


def test_a_line_of_another_run_is_refused(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.trials_path.write_bytes(bench_examples.trial().model_copy(update={"run_id": "other"}).to_line())
    with pytest.raises(RecordError, match="another run"):
        run.trials()


def test_a_known_secret_in_an_answer_is_masked_and_the_trial_is_kept(tmp_path: Path) -> None:
    secret = "correct-horse-battery-staple"
    run = begun(tmp_path, Scanner({"KEY": secret}))
    made = bench_examples.trial()
    spoken = made.requests[0].model_copy(update={"text": f"your key is {secret}"})
    log = TrialLog(run)
    log.append(made.model_copy(update={"requests": (spoken,)}))
    log.close()
    assert secret.encode() not in run.trials_path.read_bytes()
    assert run.trials()[0].requests[0].text == "your key is <secret>"


def test_a_secret_where_nothing_can_be_masked_is_refused(tmp_path: Path) -> None:
    begun(tmp_path)
    knowing = Scanner({"KEY": bench_examples.KEY})
    run = BenchRun(tmp_path, MANIFEST.model, MANIFEST.run_id, knowing)
    log = TrialLog(run)
    with pytest.raises(SecretFound):
        log.append(bench_examples.trial())
    log.close()
    assert run.trials_path.read_bytes() == b""


def test_a_disk_that_is_full_for_a_moment_does_not_spoil_the_trial_that_is_written_next(
    tmp_path: Path,
) -> None:
    run, made = begun(tmp_path), bench_examples.trial()
    log, limits = TrialLog(run), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, limits[1]))
    try:
        with pytest.raises(StoreError, match="File too large"):
            log.append(made)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    log.append(made)
    log.close()
    assert run.trials() == (made,)


def test_figures_can_be_made_where_the_clock_was_set_back_within_a_trial() -> None:
    made = bench_examples.trial()
    back = made.model_copy(update={"finished_at": made.started_at - timedelta(hours=1)})
    summary = summarise(MANIFEST, (back,), Ending("complete"), "0" * 64)
    assert [target.seconds for target in summary.targets] == [0.0]


@pytest.mark.parametrize("name", ["../up", "a/b", "..", "UPPER", ""])
def test_nothing_leaves_the_store(tmp_path: Path, name: str) -> None:
    with pytest.raises(PathEscapeError):
        _ = BenchRun(tmp_path, name, "run").folder


def changed(trial: BenchTrial) -> BenchTrial:
    return trial.model_copy(update={"score": trial.score.model_copy(update={"verdict": "failed"})})


def test_a_changed_trial_figure_or_plan_is_found(tmp_path: Path) -> None:
    run = finished(tmp_path)
    whole = run.trials_path.read_bytes()
    run.trials_path.write_bytes(changed(bench_examples.trial()).to_line())
    assert [finding.detail for finding in verify(tmp_path)] == ["it was made of other trials"]
    run.trials_path.write_bytes(whole)
    run.manifest_path.write_bytes(MANIFEST.model_copy(update={"reference": "other"}).to_bytes())
    assert [finding.detail for finding in verify(tmp_path)] == ["it was made for another plan"]


def test_missing_and_strange_files_are_found(tmp_path: Path) -> None:
    run = finished(tmp_path)
    (run.folder / "notes.txt").write_text("mine", encoding="utf-8")
    run.summary_path.unlink()
    problems = {finding.problem for finding in verify(tmp_path)}
    assert problems == {"misplaced", "unfinished"}
    run.manifest_path.unlink()
    assert "missing" in {finding.problem for finding in verify(tmp_path)}


def test_a_run_is_found_by_its_id_or_as_the_newest(tmp_path: Path) -> None:
    finished(tmp_path / "results")
    roots = StoreRoots(tmp_path / "results")
    assert find_run(roots, "latest", Scanner()).run_id == MANIFEST.run_id
    assert find_run(roots, MANIFEST.run_id, Scanner()).model == MANIFEST.model
    with pytest.raises(UsageError, match=r"no endpoint benchmark 'other'"):
        find_run(roots, "other", Scanner())


def test_the_newest_of_two_runs_of_one_second_is_the_one_begun_last(tmp_path: Path) -> None:
    first, then = MANIFEST.created_at, MANIFEST.created_at + timedelta(milliseconds=3)
    for run_id, moment in (("20260102t030405-one-ffffff", first), ("20260102t030405-one-000000", then)):
        manifest = MANIFEST.model_copy(update={"run_id": run_id, "created_at": moment})
        BenchRun(tmp_path, manifest.model, run_id, Scanner()).begin(manifest)
    assert newest(()) is None
    for found in (newest(find_runs(tmp_path)), find_run(StoreRoots(tmp_path), "latest", Scanner())):
        assert found is not None
        assert found.run_id == "20260102t030405-one-000000"
