"""Importing published files: everything once, nothing twice, and a broken file keeps no other out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from runner.errors import ImportFailure
from runner.importers.published import import_published
from runner.importers.report import FileStatus, ImportReport
from runner.records import JudgementRecord, LedgerEntry, PlanRecord, ThroughputRecord, TrialRecord
from runner.store import ResultsStore, verify
from tests.importers import figures
from tests.importers.documents import METERED, OWN_MACHINE, SWEEP, changed, copied, listing, written

SOURCES = [figures.DATA / folder for folder in figures.FOLDERS]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ImportReport]:
    """A store with everything in it, and the report of the import."""
    root = tmp_path_factory.mktemp("store")
    return root, import_published(SOURCES, ResultsStore(root))


def test_the_committed_records_are_the_import_of_the_published_files(
    imported: tuple[Path, ImportReport],
) -> None:
    fresh = listing(imported[0])
    committed = {
        name: data for name, data in listing(figures.RESULTS).items() if name in fresh or _is_imported(name)
    }
    assert sorted(committed) == sorted(fresh)
    assert [name for name, data in fresh.items() if committed[name] != data] == []


def _is_imported(name: str) -> bool:
    """Whether a committed file belongs to an import by its plan's name or by its record."""
    top, _, rest = name.partition("/")
    if top in {"plans", "ledger"}:
        return rest.startswith("published-")
    if top == "throughput":
        return rest.split("/")[1].startswith("published-")
    if top != "swe":
        return False
    trial = figures.RESULTS.joinpath(*name.split("/")[:7], "trial.json")
    plan: str = json.loads(trial.read_bytes())["plan_id"]
    return plan.startswith("published-")


def test_the_committed_store_is_whole() -> None:
    assert verify(figures.RESULTS) == []


def test_everything_is_imported_or_skipped_with_a_reason(imported: tuple[Path, ImportReport]) -> None:
    root, report = imported
    assert report.ok
    assert len(report.with_status(FileStatus.IMPORTED)) == 65 + 3 + 27
    assert {file.path.name: file.reason for file in report.with_status(FileStatus.SKIPPED)} == {
        "published-pareto__pi__swe3__mcp-gateway-registry.json": "a published frontier, not a run",
        "published-table__pi__swe3__mcp-gateway-registry.json": "a published table, not a run",
        "published-table__pi__swe3__mcp-gateway-registry-v2.json": "a published table, not a run",
        "pricing.json": "a price list, not a sweep: prices live in datasets/prices",
    }
    assert report.summary() == "95 imported, 4 skipped: 418 trials, 412 judgements, 27 sweeps"
    assert verify(root) == []


def test_each_file_has_a_plan_of_its_own_that_lists_its_tasks_in_order(
    imported: tuple[Path, ImportReport],
) -> None:
    store = ResultsStore(imported[0])
    plans = {plan.plan_id: plan for plan in store.plans()}
    assert len(plans) == 95
    plan = plans["published-pi-claude-opus-5-swe3-mcp-gateway-registry"]
    assert [entry.identity.task for entry in plan.trials] == [
        row["task"] for row in figures.read(METERED)["tasks"]
    ]
    assert (plan.purpose, plan.created_at, plan.seed) == ("import", None, None)
    assert plan.source is not None
    assert plan.source.license == "MIT-0"
    assert "published-pi-claude-opus-5-swe3-mcp-gateway-registry-superseded" in plans
    assert "published-throughput-gemma-4-31b.rev-100bfce" in plans


def test_importing_twice_changes_nothing(imported: tuple[Path, ImportReport], tmp_path: Path) -> None:
    root = tmp_path / "store"
    shutil.copytree(imported[0], root)
    before = listing(root)
    times = {path: path.stat().st_mtime_ns for path in root.rglob("*.json")}
    report = import_published(SOURCES, ResultsStore(root))
    assert report.with_status(FileStatus.IMPORTED) == ()
    assert len(report.with_status(FileStatus.UNCHANGED)) == 95
    assert listing(root) == before
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*.json")} == times


def test_a_copy_elsewhere_in_another_order_gives_the_same_bytes(
    imported: tuple[Path, ImportReport], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "some where" / "else"
    shutil.copytree(figures.DATA, elsewhere)
    folders = [elsewhere / folder for folder in reversed(figures.FOLDERS)]
    report = import_published(folders, ResultsStore(tmp_path / "store"))
    assert report.ok
    assert listing(tmp_path / "store") == listing(imported[0])


def test_a_parent_folder_may_be_named_and_a_file_is_read_once(tmp_path: Path) -> None:
    parent = copied(tmp_path / "in", figures.DATA / "tables.json")
    copied(parent / "pi", METERED)
    (parent / "INDEX.md").write_text("not JSON", encoding="utf-8")
    report = import_published([parent, parent / "pi"], ResultsStore(tmp_path / "store"))
    assert report.ok
    assert {file.path.name: file.status for file in report.files} == {
        "tables.json": FileStatus.SKIPPED,
        METERED.name: FileStatus.IMPORTED,
    }
    assert len(report.files) == 2


def test_the_superseded_run_alone_keeps_its_number(tmp_path: Path) -> None:
    path = figures.DATA / "pi" / "extra" / "claude-opus-5__swe3__mcp-gateway-registry__superseded.json"
    store = ResultsStore(tmp_path)
    assert import_published([path], store).ok
    assert {stored.record.identity.trial for stored in store.trials()} == {2}
    assert import_published([METERED], store).ok
    assert sorted(stored.record.identity.trial for stored in store.trials()) == [1] * 5 + [2] * 5
    assert verify(tmp_path) == []


def test_progress_is_told_after_every_file(tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    folder = copied(tmp_path / "in", METERED, SWEEP)
    import_published([folder], ResultsStore(tmp_path / "store"), progress=lambda *now: seen.append(now))
    assert seen == [(1, 2, METERED.name), (2, 2, SWEEP.name)]


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_nothing_to_import_is_a_clear_failure(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImportFailure) as caught:
        import_published([tmp_path / name], ResultsStore(tmp_path / "store"))
    assert name in caught.value.message()


ROW = ("tasks", 0)
BROKEN: list[tuple[str, Path, tuple[tuple[Any, ...], Any], str]] = [
    ("an unknown key", METERED, (("judge_notes",), "prose"), "judge_notes: is no key here"),
    ("an unknown key in a row", METERED, ((*ROW, "vibes"), 1), "tasks.0.vibes: is no key here"),
    ("a missing key", METERED, ((*ROW, "is_error"), ...), "tasks.0.is_error: is missing"),
    ("a count in words", METERED, ((*ROW, "num_turns"), "many"), "tasks.0.num_turns"),
    ("a count as text", METERED, ((*ROW, "num_turns"), "64"), "tasks.0.num_turns"),
    ("a negative count", METERED, ((*ROW, "output_tokens"), -1), "tasks.0.output_tokens"),
    ("a truth as a number", METERED, ((*ROW, "failed"), 0), "tasks.0.failed"),
    ("a score above 100", METERED, ((*ROW, "task_score"), 101.0), "tasks.0.task_score"),
    ("a criterion above 25", METERED, ((*ROW, "scores", "lld", "correctness"), 26), "tasks.0.scores.lld"),
    ("criteria that do not add up", METERED, ((*ROW, "scores", "lld", "total"), 1), "add up to"),
    ("a score that is no mean", METERED, ((*ROW, "task_score"), 12.0), "tasks.0.task_score: 12.0"),
    ("tokens that do not add up", METERED, ((*ROW, "total_tokens"), 7), "tasks.0.total_tokens: 7 is neither"),
    ("a summary of other tasks", METERED, (("published_summary", "num_tasks"), 6), "num_tasks: 6, but"),
    (
        "a mean of other scores",
        METERED,
        (("published_summary", "mean_task_score_excl_failed"), 75.74),
        "published_summary.mean_task_score_excl_failed: 75.74",
    ),
    (
        "a mean of no costs",
        OWN_MACHINE,
        (("published_summary", "mean_cost_usd_excl_failed"), 1.0),
        "published_summary.mean_cost_usd_excl_failed: 1.0, but the task rows give None",
    ),
    ("a failed task that did not", METERED, (("published_summary", "failed_tasks"), ["x"]), "failed_tasks"),
    (
        "more artifacts than expected",
        METERED,
        ((*ROW, "artifacts_produced"), 7),
        "artifacts_produced: 7 of 6",
    ),
    ("no summary", METERED, (("published_summary",), ...), "published_summary: missing"),
    ("no tasks", METERED, (("tasks",), []), "tasks"),
    ("an unknown provider", METERED, (("provider",), "somewhere"), "provider"),
    (
        "an unknown schema",
        METERED,
        (("schema",), "published-run/2"),
        "schema: 'published-run/2' is not known",
    ),
    ("a short commit", METERED, (("source", "commit"), "abc"), "source.commit"),
    ("a task like a path", METERED, ((*ROW, "task"), "../../x"), "tasks.0.task"),
    ("a model like a path", METERED, (("model",), "../../x"), "is written like a path"),
    ("a harness like a path", METERED, (("harness",), "../x"), "harness"),
    ("an endless word", METERED, ((*ROW, "result_subtype"), "x" * 5000), "tasks.0.result_subtype"),
    ("a sweep without levels", SWEEP, (("levels",), []), "levels"),
    (
        "a peak that is none",
        SWEEP,
        (("peak_output_tokens_per_second",), 1.0),
        "peak_output_tokens_per_second",
    ),
    ("a peak elsewhere", SWEEP, (("peak_at_concurrency",), 2), "peak_at_concurrency: 2"),
    ("a level twice", SWEEP, (("levels", 1, "concurrency"), 1), "levels.1.concurrency: 1 stands"),
]


@pytest.mark.parametrize(("what", "path", "change", "expected"), BROKEN, ids=[entry[0] for entry in BROKEN])
def test_a_broken_file_is_named_with_its_key_and_the_others_are_imported(
    tmp_path: Path, what: str, path: Path, change: tuple[tuple[Any, ...], Any], expected: str
) -> None:
    folder = copied(tmp_path / "in", figures.DATA / "pi" / "grok-4.6__swe3__mcp-gateway-registry.json")
    broken = written(folder, "aaa__swe3__x.json", changed(path, change))
    store = ResultsStore(tmp_path / "store")
    report = import_published([folder], store)
    assert [file.path for file in report.failed] == [broken]
    assert any(expected in fault for fault in report.failed[0].faults), report.failed[0].faults
    assert str(broken) in report.failed[0].line()
    assert not report.ok
    assert {plan.plan_id for plan in store.plans()} == {"published-pi-grok-4.6-swe3-mcp-gateway-registry"}
    assert verify(store.root) == []


RAW = [
    (b"", "not readable as JSON"),
    (b"{", "not readable as JSON"),
    (b"\xff\xfe", "not readable as JSON"),
    (b"[1, 2]", "schema: None is not known"),
    (b"[" * 100_000, "not readable as JSON"),
    (b'{"schema": "published-run/1", "schema": "published-run/1"}', "'schema' is given twice"),
    (b'{"schema": ["published-run/1"]}', "is not known"),
    (b'{"schema": "published-run/1", "tasks": NaN}', "tasks"),
]


@pytest.mark.parametrize(("data", "expected"), RAW, ids=[str(data[:20]) for data, _ in RAW])
def test_bytes_that_are_no_document_are_named(tmp_path: Path, data: bytes, expected: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(data)
    report = import_published([path], ResultsStore(tmp_path / "store"))
    assert len(report.failed) == 1
    assert any(expected in fault for fault in report.failed[0].faults)


def test_all_faults_of_a_file_are_reported_together(tmp_path: Path) -> None:
    document = changed(
        METERED,
        (("tasks", 0, "total_tokens"), 1),
        (("tasks", 3, "total_tokens"), 2),
        (("published_summary", "num_failed"), 9),
    )
    report = import_published([written(tmp_path, "x.json", document)], ResultsStore(tmp_path / "store"))
    keys = [fault.partition(":")[0] for fault in report.failed[0].faults]
    assert keys == ["tasks.0.total_tokens", "tasks.3.total_tokens", "published_summary.num_failed"]


def test_a_word_that_is_no_role_is_not_taken_for_the_run_that_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "claude-opus-5__swe3__mcp-gateway-registry__draft.json", figures.read(METERED))
    report = import_published([path], ResultsStore(tmp_path / "store"))
    assert report.failed[0].faults == ("file name: 'draft' is no known kind of run",)


@pytest.mark.parametrize(
    "change",
    [
        (("tasks", 0, "latency_seconds"), 1.0),
        (("source", "commit"), "f" * 40),
        (("serving", "instance_type"), "other.large"),
    ],
)
def test_another_version_of_a_file_never_replaces_records(
    tmp_path: Path, change: tuple[tuple[Any, ...], Any]
) -> None:
    store = ResultsStore(tmp_path / "store")
    assert import_published([METERED], store).ok
    before = listing(store.root)
    path = written(tmp_path / "in", METERED.name, changed(METERED, change))
    report = import_published([path], ResultsStore(store.root))
    assert len(report.failed) == 1
    assert "exists" in report.failed[0].line() or "never overwritten" in report.failed[0].line()
    assert listing(store.root) == before


def test_an_interrupted_import_is_completed_by_the_next(tmp_path: Path) -> None:
    whole = ResultsStore(tmp_path / "whole")
    assert import_published([METERED], whole).ok
    plan_id = "published-pi-claude-opus-5-swe3-mcp-gateway-registry"
    torn = tmp_path / "torn"
    shutil.copytree(whole.root, torn)
    ledger = torn / "ledger" / f"{plan_id}.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    kept, cut = lines[:5], [LedgerEntry.model_validate_json(line) for line in lines[5:]]
    ledger.write_bytes(b"".join(kept) + lines[5][:20])
    for entry in cut[2:]:
        (torn / entry.path).unlink()
    for folder in sorted(torn.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    assert verify(torn) != []
    report = import_published([METERED], ResultsStore(torn))
    assert report.files[0].status is FileStatus.IMPORTED
    assert listing(torn) == listing(whole.root)
    assert verify(torn) == []


def test_records_say_where_their_figures_were_read(imported: tuple[Path, ImportReport]) -> None:
    store = ResultsStore(imported[0])
    named = {
        (source["repo"], source["commit"], source["path"], source["license"])
        for folder in SOURCES
        for path in folder.rglob("*.json")
        for source in [figures.read(path).get("source")]
        if source
    }
    records: list[TrialRecord | JudgementRecord | ThroughputRecord | PlanRecord] = [
        *(stored.record for stored in store.trials()),
        *(judgement for stored in store.trials() for judgement in stored.judgements),
        *store.sweeps(),
        *store.plans(),
    ]
    for record in records:
        assert record.source is not None
        assert tuple(record.source.model_dump().values()) in named
        assert record.source.license == "MIT-0"
    assert sum(isinstance(record, PlanRecord) for record in records) == 95
