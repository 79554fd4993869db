"""What the site says of harnesses is what the code says today."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.engine.accounting import merged, read_report, write_report
from runner.engine.flags import RUN_HELP
from runner.engine.reference import reference_files, write_reference
from runner.errors import ConfigurationError
from runner.harnesses.accounting import CASES, CLASSES, Account, Row
from runner.harnesses.base import Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import HARNESSES
from runner.providers.registry import PROVIDERS, provider
from tests.generators.pages.reference import NOON, accounting_row, report_of

ROOT = Path(__file__).parents[2]
ZERO = dict.fromkeys(CLASSES, 0)


def ran(name: str) -> Account:
    row = Row(
        name,
        WireProtocol.MESSAGES,
        CASES[0],
        4,
        4,
        dict(ZERO),
        ZERO,
        ZERO,
        ZERO,
        Reading(stop_reason="end", is_error=False),
    )
    return Account((row,), {name: "2.0"}, {})


def test_the_committed_reference_is_what_the_code_says_today() -> None:
    for name, content in reference_files().items():
        committed = (ROOT / "site_src" / "reference" / name).read_bytes()
        assert committed == content, f"site_src/reference/{name} is out of date: invoke reference"


def test_every_harness_is_described(tmp_path: Path) -> None:
    assert write_reference(tmp_path) == ["harnesses.json", "endpoint.json", "providers.json"]
    assert write_reference(tmp_path) == []
    text = (tmp_path / "harnesses.json").read_text(encoding="utf-8")
    assert all(f'"name": "{name}"' in text for name in HARNESSES)
    text = (tmp_path / "providers.json").read_text(encoding="utf-8")
    assert all(f'"name": "{name}"' in text for name in PROVIDERS)


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_the_flags_that_a_hosting_path_names_are_flags_of_a_run(name: str) -> None:
    words = provider(name).about.flags.split()
    assert words
    for flag in words:
        if flag.startswith("--"):
            assert flag.removeprefix("--") in RUN_HELP, flag


def test_new_rows_of_a_harness_replace_its_older_ones_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "reference" / "accounting.json"
    assert read_report(path).rows == ()
    kept = report_of(accounting_row("pi"), accounting_row("pi"), accounting_row("codex"))
    write_report(path, merged(kept, ran("pi"), NOON.date()))
    rows = read_report(path).rows
    assert [(row.harness, row.version) for row in rows] == [("codex", "1.6.0"), ("pi", "2.0")]


def test_accounting_data_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "accounting.json"
    path.write_text('{"rows": [{}]}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="no accounting data"):
        read_report(path)
