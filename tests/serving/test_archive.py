"""Archives: names that stay inside their folder, everything kept, smaller, and never over another."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import PathEscapeError, StoreError, UsageError
from runner.serving.archive import archive, archive_name
from runner.serving.database import Answer, lock_of
from runner.serving.exposition import Sample
from runner.serving.readings import open_readings
from runner.serving.spool import spool_of
from tests.serving.stage import NOON, TOKENS, at, collected


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of two models, of which the second had more traffic; the last scrapes are in the spool."""
    database_path = tmp_path / "m.duckdb"
    with collected(database_path, "night run") as database:
        for second in range(40):
            samples = [
                Sample(TOKENS, "counter", f'{{"model_name":"{model}"}}', float(second * speed))
                for model, speed in (("quiet", 1), ("Vendor/Busy-2[1m]", 9))
            ]
            database.append(Answer(at(second), 1.0, samples))
            if second == 20:
                database.fold()
    return database_path


def test_an_archive_is_named_after_the_busiest_model_and_holds_everything(path: Path, tmp_path: Path) -> None:
    kept = archive(path, tmp_path / "kept", NOON)
    assert kept.path.name == "vendor-busy-2_night-run_20260131t120000z.duckdb"
    assert (kept.scrapes, kept.points) == (40, 80)
    assert kept.size_bytes == kept.path.stat().st_size
    with open_readings(kept.path) as readings:
        assert readings.counter(TOKENS, at(0), at(39)) == 390
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kept"]
    assert [each.name for each in (tmp_path / "kept").iterdir()] == [kept.path.name]


def test_a_database_in_use_is_not_archived(path: Path, tmp_path: Path) -> None:
    with collected(path), pytest.raises(UsageError, match="collects into this database already"):
        archive(path, tmp_path / "kept", NOON)
    assert path.exists()


def test_no_archive_takes_the_place_of_another(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "m_s_20260131t120000z.duckdb").write_text("older")
    with pytest.raises(UsageError, match="of that name"):
        archive(path, folder, NOON, model="m", scope="s")
    assert (folder / "m_s_20260131t120000z.duckdb").read_text() == "older"
    assert path.exists()


def test_what_is_not_there_or_cannot_be_written_leaves_everything(path: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such collector database"):
        archive(tmp_path / "none.duckdb", tmp_path, NOON)
    assert not lock_of(tmp_path / "none.duckdb").exists()
    assert not spool_of(tmp_path / "none.duckdb").exists()


@pytest.mark.parametrize(
    ("model", "scope"), [("../../etc", "s"), ("m", "///"), ("", "s"), ("/etc/passwd", "s")]
)
def test_no_name_leads_out_of_the_folder(model: str, scope: str) -> None:
    with pytest.raises(PathEscapeError):
        archive_name(model, scope, NOON)


@pytest.mark.parametrize("scope", ["a/../b", "..\\x", "a_b c", "Ünï"])
def test_whatever_is_in_a_name_becomes_dashes(scope: str) -> None:
    name = archive_name("m", scope, NOON)
    assert "/" not in name
    assert "\\" not in name
    assert name.count("_") == 2
