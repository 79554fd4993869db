"""Progress: a skipped trial says why, an agent's work how many it solved, a missed threshold its unit."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from runner.endpoint.admission import Admission
from runner.endpoint.preflight import Looked
from runner.endpoint.targets import local_target
from runner.engine.bench.kept_out import Asked, not_to_be_asked
from runner.engine.bench.progress import ending_lines, trial_line
from runner.errors import UsageError
from runner.records.bench_figures import Distribution, Money, RateFigure, Tally
from runner.records.bench_summary import CodingSummary, ThresholdResult
from runner.secrets import Scanner
from runner.store import StoreRoots
from runner.store.bench_run import BenchRun, find_run
from tests import bench_examples as examples


def coding(target: str, case: str | None, solved: int, of: int) -> CodingSummary:
    rate, none = RateFigure(count=solved, of=of), Distribution(tally=Tally(attempted=of, used=0))
    return CodingSummary(
        target=target,
        case=case,
        attempted=of,
        solved=rate,
        graded=rate,
        self_verified=rate,
        turns=none,
        tool_calls=none,
        invalid_calls=rate,
        no_progress_calls=rate,
        wall_seconds=none,
        total_tokens=none,
        first_turn_ttft_ms=none,
        money=Money(requests=of, attempts=of),
    )


def ending(tmp_path: Path, **changes: object) -> list[str]:
    run = BenchRun(tmp_path, "replay-careful", examples.RUN, Scanner())
    summary = examples.summary().model_copy(update=changes)
    return list(ending_lines(run, examples.manifest(), summary))


def test_a_skipped_trial_says_why_on_its_own_line() -> None:
    skipped = examples.trial().model_copy(
        update={
            "skipped": "the endpoint does not know the effort low",
            "requests": (),
            "score": examples.trial().score.model_copy(update={"verdict": "skipped"}),
        }
    )
    assert trial_line(skipped, 7, 70).startswith("[7/70] SKIP")
    assert trial_line(skipped, 7, 70).endswith(": skipped: the endpoint does not know the effort low")


def test_coding_tasks_end_with_how_many_were_solved(tmp_path: Path) -> None:
    rows = (coding(examples.TARGET, None, 9, 14), coding(examples.TARGET, "one", 2, 2))
    shown = ending(tmp_path, coding=rows)
    assert [line for line in shown if "solved" in line] == ["    coding: 9 of 14 tasks solved"]
    assert not any("solved" in line for line in ending(tmp_path))


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [("ttft_p90_ms", 52.334, "52.3 ms"), ("cost_usd", 1.25, "$1.25"), ("score", 0.5, "0.5")],
)
def test_a_missed_threshold_shows_its_figure_with_its_unit(
    tmp_path: Path, metric: str, value: float, shown: str
) -> None:
    missed = ThresholdResult(text="it", target="there", metric=metric, value=value, failed=True)
    assert f"  threshold it at there: FAILED with {shown}" in ending(tmp_path, thresholds=(missed,))


@pytest.mark.parametrize(
    ("admission", "flags"), [(Admission.ADDRESS, "--url and --protocol"), (Admission.UNREACHABLE, "--url")]
)
def test_an_endpoint_of_the_command_line_is_put_right_by_its_flags(admission: Admission, flags: str) -> None:
    target = local_target("http://127.0.0.1:9", "m", model="m", on=date(2026, 11, 30))
    kept = Asked(target, Looked(target, admission), 0.1, None, 0.0)
    remedy = not_to_be_asked([kept], 1, {}, Scanner()).remedy
    assert flags in remedy
    assert "datasets/targets" not in remedy


def test_without_any_benchmark_the_remedy_is_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no endpoint benchmark yet\n.*invoke bench makes one"):
        find_run(StoreRoots(tmp_path), "latest", Scanner())
