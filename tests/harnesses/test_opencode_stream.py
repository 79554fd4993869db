"""Reading opencode: the database has every answer, the stream the end, and a killed run keeps both."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.harnesses.base import Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.opencode import OpenCode
from runner.harnesses.opencode_state import counts_of, read_state
from runner.harnesses.opencode_stream import read_run
from runner.records import CacheSemantics, Limits
from tests.harnesses.opencode_home import data_folder, insert, put_database, put_log
from tests.harnesses.samples import assignment, case, classes, lines, rows

HARNESS = OpenCode()
MAIN = (3961, 12047, 0, 335, 22)
ALL = (6614, 20094, 0, 550, 35)


def read(folder: Path, output: list[bytes], *, limits: Limits | None = None) -> Reading:
    (folder / "stdout").write_bytes(b"".join(output))
    return HARNESS.read(folder / "stdout", assignment(folder, WireProtocol.CHAT_COMPLETIONS, limits=limits))


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def log_of(name: str) -> list[object]:
    return [json.loads(line) for line in case("opencode-errors.jsonl", f"{name}, log")]


def database_of(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in case("opencode-errors.jsonl", f"{name}, database")]


def finish(reason: str = "stop", **tokens: object) -> bytes:
    part = {"type": "step-finish", "reason": reason, "tokens": tokens}
    return json.dumps({"type": "step_finish", "part": part}).encode() + b"\n"


def test_reasoning_is_added_to_the_output_that_leaves_it_out(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("opencode.jsonl"))
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)
    assert reading.usage is not None
    assert reading.usage.cache_semantics is CacheSemantics.DISJOINT
    assert (reading.turns, reading.retries) == (4, 0)
    assert (reading.stop_reason, reading.is_error, reading.error) == ("stop", False, None)
    assert reading.costs == ()
    assert reading.warnings == ()


def test_an_answer_whose_reasoning_is_not_told_has_no_known_output() -> None:
    assert counts_of({"input": 1, "output": 2, "cache": {"read": 3}}).output is None


def test_subagents_are_counted_from_the_database(tmp_path: Path) -> None:
    put_database(tmp_path / "home", rows("opencode-database.jsonl"))
    reading = read(tmp_path, lines("opencode-subagent.jsonl"))
    assert classes(reading.usage) == ALL
    assert reading.turns == 3
    assert reading.usage_by_model == {"ledger-1": reading.usage}
    assert reading.warnings == ()


def test_without_its_database_a_run_with_a_subagent_is_a_lower_bound(tmp_path: Path) -> None:
    reading = read(tmp_path, lines("opencode-subagent.jsonl"))
    assert classes(reading.usage) == MAIN
    assert codes(reading) == {"usage-is-lower-bound"}
    assert reading.usage is not None
    assert "subagents" in reading.usage.sources["input_tokens"]


def test_a_stream_that_is_gone_leaves_the_database(tmp_path: Path) -> None:
    put_database(tmp_path / "home", rows("opencode-database.jsonl"))
    reading = read(tmp_path, [])
    assert (classes(reading.usage), reading.turns) == (ALL, 3)
    assert (reading.stop_reason, reading.is_error) == ("no-end", True)
    assert "usage-is-lower-bound" in codes(reading)


def test_an_answer_that_is_in_both_counts_once_and_one_in_either_counts_too(tmp_path: Path) -> None:
    kept = [row for row in rows("opencode-database.jsonl") if row["id"] != "<PRT-8>"]
    put_database(tmp_path / "home", kept)
    assert classes(read(tmp_path, lines("opencode-subagent.jsonl")).usage) == ALL


def test_what_a_killed_agent_left_in_its_write_ahead_log_is_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = put_database(home, [])
    fill = (
        "import json, os, sqlite3, sys; from tests.harnesses.opencode_home import insert\n"
        "from tests.harnesses.samples import rows\n"
        "database = sqlite3.connect(sys.argv[1]); database.execute('PRAGMA wal_autocheckpoint = 0')\n"
        "for number, row in enumerate(rows('opencode-database.jsonl')):\n"
        "    insert(database, {'time_created': number, **row}); database.commit()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", fill, str(path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    assert len(before["opencode.db-wal"]) > 10_000
    assert classes(read(tmp_path, lines("opencode-subagent.jsonl")[:4]).usage) == ALL
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before
    wal = path.with_name("opencode.db-wal")
    wal.write_bytes(wal.read_bytes()[: len(before["opencode.db-wal"]) * 4 // 5])
    half = read_state(path.parent)
    assert half.found
    assert 0 < len(half.answers) < 5


def test_a_database_that_another_process_has_locked_is_read(tmp_path: Path) -> None:
    path = put_database(tmp_path / "home", rows("opencode-database.jsonl"))
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("DELETE FROM part")
        assert classes(read(tmp_path, lines("opencode-subagent.jsonl")).usage) == ALL
        other.rollback()


@pytest.mark.parametrize(
    "damage", ["cut", "noise", "empty", "folder", "link", "pipe", "other tables", "no rows"]
)
def test_a_database_of_any_other_kind_leaves_what_the_stream_says(damage: str, tmp_path: Path) -> None:
    path = put_database(tmp_path / "home", rows("opencode-database.jsonl"))
    whole = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 3])
    elif damage == "noise":
        path.write_bytes(whole[:100] + bytes(range(256)) * 80)
    elif damage == "empty":
        path.touch()
    elif damage == "folder":
        path.mkdir()
    elif damage == "link":
        elsewhere = tmp_path / "elsewhere.db"
        elsewhere.write_bytes(whole)
        path.symlink_to(elsewhere)
    elif damage == "pipe":
        os.mkfifo(path)
    elif damage == "other tables":
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE part (id blob)")
    else:
        put_database(tmp_path / "home", [])
    reading = read(tmp_path, lines("opencode-subagent.jsonl"))
    assert classes(reading.usage) == MAIN
    assert (reading.turns, reading.is_error) == (3, False)
    assert ("usage-is-lower-bound" in codes(reading)) is (damage != "no rows")


def test_a_query_that_would_never_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.harnesses.opencode_state.QUERY_SECONDS", 0.2)
    path = put_database(tmp_path / "home", rows("opencode-database.jsonl"))
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS message_id,"
    )
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE part")
        database.execute(
            f"CREATE VIEW part AS {endless} i AS session_id, i AS time_created, '' AS data FROM n"
        )
        database.commit()
    assert classes(read(tmp_path, lines("opencode-subagent.jsonl")).usage) == MAIN


def test_a_refused_request_is_an_error_that_used_nothing(tmp_path: Path) -> None:
    put_database(tmp_path / "home", database_of("refused"))
    reading = read(tmp_path, case("opencode-errors.jsonl", "refused"))
    assert (reading.stop_reason, reading.is_error, reading.error) == ("error", True, "scripted error 400")
    assert classes(reading.usage) == (0, 0, 0, 0, 0)
    assert (reading.turns, reading.warnings) == (0, ())


def test_a_stopped_run_keeps_its_answers_and_counts_the_one_under_way_as_lost(tmp_path: Path) -> None:
    put_database(tmp_path / "home", database_of("stopped"))
    reading = read(tmp_path, case("opencode-errors.jsonl", "stopped"))
    assert classes(reading.usage) == (1304, 4002, 0, 105, 6)
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("no-end", True, 1)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_a_run_that_asked_for_ever_shows_its_retries_from_the_log(tmp_path: Path) -> None:
    put_database(tmp_path / "home", database_of("asks-for-ever"))
    put_log(tmp_path / "home", log_of("asks-for-ever"))
    reading = read(tmp_path, [])
    assert (reading.retries, reading.turns, reading.usage) == (2, 0, None)
    assert (reading.stop_reason, reading.is_error) == ("no-end", True)


@pytest.mark.parametrize(("name", "marked"), [("broken-off", True), ("failed-once", False)])
def test_an_answer_that_broke_off_marks_a_lower_bound_and_a_refused_one_does_not(
    name: str, marked: bool, tmp_path: Path
) -> None:
    put_log(tmp_path / "home", ["level=INFO message=loop", *log_of(name)])
    reading = read(tmp_path, lines("opencode.jsonl"))
    assert (reading.retries, reading.is_error) == (1, False)
    assert ("usage-is-lower-bound" in codes(reading)) is marked
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)


def test_zeros_beside_an_answer_are_not_zero_tokens(tmp_path: Path) -> None:
    zeros: dict[str, object] = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    reading = read(tmp_path, [*lines("opencode.jsonl")[:4], finish("stop", **zeros)])
    assert (reading.usage, reading.usage_by_model, reading.turns) == (None, {}, 2)
    assert "usage-not-reported" in codes(reading)


@pytest.mark.parametrize("reason", ["unknown", "tool-calls"])
def test_a_run_that_was_still_asking_has_no_end(reason: str, tmp_path: Path) -> None:
    reading = read(tmp_path, [finish(reason, input=1, output=1, reasoning=0, cache={"read": 0, "write": 0})])
    assert (reading.stop_reason, reading.is_error) == ("no-end", True)


def test_an_answer_cut_at_its_length_is_no_success(tmp_path: Path) -> None:
    reading = read(
        tmp_path, [finish("length", input=1, output=1, reasoning=0, cache={"read": 0, "write": 0})]
    )
    assert (reading.stop_reason, reading.is_error) == ("length", True)
    assert reading.error == "the last answer ended by length"


def test_limits_that_it_cannot_keep_are_named(tmp_path: Path) -> None:
    limits = Limits(max_turns=3, max_cost_usd=1, max_output_tokens=5, timeout_seconds=9)
    reading = read(tmp_path, lines("opencode.jsonl"), limits=limits)
    assert [warning.code for warning in reading.warnings] == ["limit-not-enforced"] * 2


@given(share=st.floats(0, 1), cut=st.integers(0, 400))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_beginning_of_a_run_reads_and_never_counts_more_than_the_whole(
    share: float, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "opencode-prefix"
    data = b"".join(lines("opencode-subagent.jsonl"))
    path.write_bytes(data[: max(int(len(data) * share) - cut, 0)])
    reading = read_run(path, path.parent / "no-data", "m")
    for count, most in zip(classes(reading.usage) or (), MAIN, strict=False):
        assert (count or 0) <= most
    assert (reading.turns or 0) <= 3


ANYTHING = st.none() | st.integers() | st.floats() | st.text(max_size=30) | st.binary(max_size=30)


@given(cells=st.lists(st.tuples(ANYTHING, ANYTHING, ANYTHING, ANYTHING), max_size=4))
@settings(max_examples=40, deadline=None)
def test_cells_of_any_kind_bring_no_reader_down(
    cells: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("any-cells")
    path = put_database(home, rows("opencode-database.jsonl"))
    with closing(sqlite3.connect(path)) as database:
        for number, (one, two, three, four) in enumerate(cells):
            row = (f"odd-{number}", _storable(one), _storable(two), _storable(three), _storable(four))
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row[:4])
        database.commit()
    reading = read_run(home / "none", data_folder(home), "m")
    assert classes(reading.usage) == ALL


def _storable(value: object) -> object:
    fits = not isinstance(value, int) or -(2**63) <= value < 2**63
    return value if fits and not _is_surrogate(value) else None


def _is_surrogate(value: object) -> bool:
    return isinstance(value, str) and any(0xD800 <= ord(each) <= 0xDFFF for each in value)


def test_a_part_that_only_mentions_counts_is_no_answer(tmp_path: Path) -> None:
    path = put_database(tmp_path / "home", rows("opencode-database.jsonl"))
    said = {"type": "text", "text": '{"type": "step-finish", "tokens": {"input": 999}}'}
    with closing(sqlite3.connect(path)) as database:
        insert(
            database,
            {"table": "part", "id": "x", "message_id": "<MSG-1>", "session_id": "<SES-1>", "data": said},
        )
        database.commit()
    assert classes(read(tmp_path, lines("opencode-subagent.jsonl")).usage) == ALL


WORDS = (
    "type",
    "part",
    "id",
    "tokens",
    "input",
    "output",
    "reasoning",
    "cache",
    "read",
    "write",
    "reason",
    "error",
)
VALUES = st.recursive(
    ANYTHING.filter(lambda value: not isinstance(value, bytes)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=12,
)
KINDS = st.sampled_from(("step_start", "step_finish", "tool_use", "text", "error"))


@given(found=st.lists(st.tuples(KINDS, VALUES, VALUES), max_size=6))
def test_no_event_of_any_shape_brings_the_reader_down(
    found: list[tuple[str, object, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "opencode-any-shape"
    said = [json.dumps({"type": kind, "part": part, "error": error}) + "\n" for kind, part, error in found]
    path.write_text("".join(said), encoding="utf-8")
    reading = read_run(path, path.parent / "no-data", "m")
    assert all(each is None or each >= 0 for each in classes(reading.usage) or ())
    assert reading.turns is None or 0 <= reading.turns <= len(found)
    assert reading.stop_reason
    assert reading.error is None or len(reading.error) <= 1000
