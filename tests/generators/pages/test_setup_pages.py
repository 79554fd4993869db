"""Set-up pages and the accounting page say what the code says, and escape it like any other text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generators.pages.registry import PAGE_KINDS
from generators.pages.rendering import Renderer
from generators.reference import HARNESSES, Reference, load_reference
from runner.errors import ConfigurationError
from runner.records import AccountingRow, HarnessReference, ProviderReference
from tests.generators.committed import committed_sources, committed_world
from tests.generators.pages.reference import (
    TRUE,
    accounting_row,
    harness_reference,
    provider_reference,
    report_of,
)
from tests.generators.pages.shown import Shown

KINDS = {"set-up", "accounting"}


def shown(
    harnesses: tuple[HarnessReference, ...],
    rows: tuple[AccountingRow, ...],
    providers: tuple[ProviderReference, ...] = (),
) -> dict[str, Shown]:
    """The pages made from this reference, by path."""
    world = replace(committed_world(), reference=Reference(harnesses, rows, providers))
    renderer = Renderer()
    return {
        page.path: Shown(page, renderer.render(page))
        for kind in PAGE_KINDS
        if kind.name in KINDS
        for page in kind.make(world, None)
    }


def test_the_index_lists_every_harness_and_leads_to_its_page_and_results() -> None:
    pages = shown((harness_reference("pi"), harness_reference("brand-new", delegates=True)), ())
    rows = {
        row["Harness"].split()[0]: row for row in pages["setup/index.md"].table("Harnesses that can be run")
    }
    assert set(rows) == {"pi", "brand-new"}
    assert (rows["pi"]["Measured"], rows["brand-new"]["Measured"]) == ("results", "none yet")
    assert (rows["pi"]["Subagents"], rows["brand-new"]["Subagents"]) == ("no", "yes")
    assert rows["pi"]["Memory in MB"] == "1,300"
    assert pages["setup/index.md"].links()["pi"] == "pi/"


def test_a_page_holds_what_to_type_for_each_provider_and_why_not_for_the_others() -> None:
    replay = provider_reference("replay", credentials="none")
    page = shown((harness_reference("pi"),), (), (replay,))["setup/pi.md"]
    commands = {row["Provider"]: row["Command"] for row in page.table("Commands by provider")}
    assert commands["replay"] == "invoke run --harness pi --provider replay"
    assert commands["anthropic"].endswith("--provider anthropic --model MODEL")
    assert page.table("Providers it cannot use") == [
        {"Provider": "kiro", "Why": "it speaks another language"}
    ]
    assert "invoke harness-install pi" in page.source
    assert page.facts()["Installed from"] == "npm, runs on node"
    assert "never set beside a server" in page.source


def test_every_hosting_path_is_described_with_the_agents_that_can_use_it() -> None:
    paths = (provider_reference("replay"), provider_reference("kiro", notes=()))
    pages = shown((harness_reference("pi"), harness_reference("omp")), (), paths)
    page = pages["setup/providers/index.md"]
    assert page.headings[1:] == ["replay", "kiro"]
    assert "invoke run --harness HARNESS --provider replay" in page.source
    assert "pi, omp" in page.source
    assert pages["setup/index.md"].links()["Hosting paths"] == "providers/"
    assert pages["setup/pi.md"].links()["replay"] == "../providers/#replay"


def test_a_harness_that_no_registry_has_is_not_said_to_be_installable() -> None:
    by_hand = harness_reference("kiro-cli", source="by-hand", runtime=None, providers=("kiro",))
    page = shown((by_hand,), ())["setup/kiro-cli.md"]
    assert "invoke harness-install" not in page.source
    assert "as its vendor says" in page.source
    built_in = harness_reference("loop", source="built-in", package=None, version=None, runtime=None)
    assert "there is nothing to install" in shown((built_in,), ())["setup/loop.md"].source


def test_recorded_and_true_counts_stand_beside_each_other_where_they_differ() -> None:
    other = accounting_row(
        "pi",
        recorded={**TRUE, "write": None, "fresh": 5206},
        agrees=False,
        explanation="It shows no cache writes.",
    )
    cut = accounting_row("pi", told_of_broken_answers={**dict.fromkeys(TRUE, 0), "output": 1})
    page = shown((harness_reference("pi"),), (accounting_row("pi"), other, cut))["methodology/accounting.md"]
    plain, differing, broken = page.table("Recorded and true counts of every run")
    assert (plain["Cache write"], plain["Agrees"]) == ("1,200", "yes")
    assert (differing["Cache write"], differing["Input"]) == ("unknown / 1,200", "5,206 / 4,006")
    assert differing["Why they differ"] == "It shows no cache writes."
    assert broken["Output"] == "166 / 166 + 1"
    (overview,) = page.table("Harnesses")
    assert overview["Runs that agree"] == "2 of 3"
    assert "In 2 of 3 runs" in page.source


def test_a_class_that_a_harness_does_not_tell_is_named_and_not_held_against_it() -> None:
    silent = accounting_row(
        "omp", recorded={**TRUE, "reasoning": None}, explanation="Reasoning was not told."
    )
    page = shown((harness_reference("omp"),), (silent,))["methodology/accounting.md"]
    (row,) = page.table("Recorded and true counts of every run")
    assert (row["Agrees"], row["Reasoning, part of output"]) == ("as far as it tells", "unknown / 20")
    (overview,) = page.table("Harnesses")
    assert overview["What its own counts leave out"] == "Reasoning was not told."
    assert overview["Runs that agree"] == "1 of 1"


def test_every_table_of_the_accounting_sorts() -> None:
    rows = (accounting_row("pi"), accounting_row("pi"))
    page = shown((harness_reference("pi"), harness_reference("omp")), rows)["methodology/accounting.md"]
    assert page.source.count("data-sortable") >= 1


def test_words_of_a_module_never_become_markup() -> None:
    hostile = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) `**"
    reference = harness_reference(
        "pi",
        title=hostile,
        homepage="javascript:alert(1)",
        installation_note=hostile,
        notes=(hostile,),
        turns_definition=hostile,
        unusable_providers={"kiro": hostile},
    )
    row = accounting_row("pi", title=hostile, explanation=hostile, version=hostile)
    path = provider_reference("replay", summary=hostile, flags=hostile, credentials=hostile, notes=(hostile,))
    for page in shown((reference,), (row,), (path,)).values():
        assert "<img" not in page.source
        assert 'href="javascript' not in page.source


def test_without_reference_data_there_are_no_such_pages() -> None:
    assert shown((), ()) == {}


def test_reference_data_that_is_none_is_named_with_the_command_that_writes_it(tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    folder.mkdir()
    assert load_reference(tmp_path) == Reference()
    (folder / "harnesses.json").write_text('[{"name": 7}]', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not what its command writes") as caught:
        load_reference(tmp_path)
    assert "invoke reference" in caught.value.remedy


def test_the_files_that_the_commands_write_are_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "site_src" / "reference"
    folder.mkdir(parents=True)
    harnesses, report = (harness_reference("pi"),), report_of(accounting_row("pi"))
    (folder / "harnesses.json").write_bytes(HARNESSES.dump_json(harnesses))
    (folder / "accounting.json").write_text(report.model_dump_json(), encoding="utf-8")
    assert load_reference(tmp_path / "site_src") == Reference(harnesses, report.rows)


def test_the_project_itself_describes_every_harness_with_results_it_can_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    docs, report = committed_sources(tmp_path_factory)
    assert report.pages["set-up"] > 4
    assert report.pages["accounting"] == 1
    assert (docs / "new-agent.md").is_file()
    assert not (docs / "reference").exists()
