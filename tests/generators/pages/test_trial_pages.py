"""Trial pages: what was asked, how it ended, what was made; and no word of an agent becomes markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.build import write_sources
from generators.escape.characters import one_line
from generators.pages.trial_artifacts import LARGEST_DOWNLOAD
from generators.sources import load_datasets
from runner.records import (
    Artifact,
    ArtifactState,
    Cost,
    CostBasis,
    DataWarning,
    Fingerprint,
    InvocationKind,
    Outcome,
    ServerWindow,
    Source,
    Standing,
)
from runner.records.check import CheckStatus
from tests import examples
from tests.generators.markup import read
from tests.generators.pages.built import article, built_by_mkdocs
from tests.generators.pages.hostile_trials import write_hostile_trials
from tests.generators.pages.shown import Shown, pages_of
from tests.generators.tables.made import ROOT, Made, write

CELL = "cells/model-a_endpoint/loop/fix/hello-world"
TASK = "quarter-hour-default"
PATCH = b"diff --git a/one.py b/one.py\n--- a/one.py\n+++ b/one.py\n@@ -1 +1 @@\n-old = 1\n+new = 2\n"
NOTE = b"# What changed\n\nOne line, see [the page](https://example.org/) and [that](javascript:alert(1)).\n"
RAW_PARTS = {"script", "img", "iframe", "style", "object", "form", "input", "base", "meta", "svg", "link"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Pages of a cell with two trials of one task, one of them replaced."""
    retry = examples.invocation(2).model_copy(
        update={
            "kind": InvocationKind.RETRY,
            "exit_code": None,
            "error": "the server went away",
            "stop_reason": "error",
            "requests_seen": 7,
            "server_window": ServerWindow(
                shared=False, agents_at_once=1, seconds=3.0, requests_finished=7, prompt_tokens=700
            ),
        }
    )
    digest = load_datasets(ROOT / "datasets")["hello-world"].task_by_id(TASK).digest()
    first = Made(
        TASK,
        None,
        checks=(CheckStatus.PASSED, CheckStatus.FAILED),
        tails=("ran 3 tests\nOK\n", "1 of 2 failed\n"),
        files={"patch.diff": PATCH, "implementation.md": NOTE},
        warnings=(DataWarning(code="low-output-per-turn", text="3 output tokens a turn"),),
        changes={
            "invocations": (examples.invocation(), retry),
            "fingerprint": Fingerprint(dataset_version="7", task_digest=digest),
        },
    )
    other = Fingerprint(dataset_version="7", task_digest="e" * 64)
    second = Made(
        TASK, (10, 10, 10, 10), trial=2, standing=Standing.SUPERSEDED, changes={"fingerprint": other}
    )
    return pages_of(tmp_path_factory.mktemp("made"), [first, second])


@pytest.fixture(scope="module")
def trial(pages: dict[str, Shown]) -> Shown:
    """The page of the first trial."""
    return pages[f"{CELL}/{TASK}/1.md"]


def test_cell_and_task_lead_to_every_trial(pages: dict[str, Shown]) -> None:
    cell = pages[f"{CELL}/index.md"].links()
    assert cell["trial 1"] == f"{TASK}/1/"
    assert cell["trial 2"] == f"{TASK}/2/"
    task = pages[f"tasks/hello-world/{TASK}.md"].links()
    assert task["trial 1"] == f"../../../{CELL}/{TASK}/1/"


def test_a_trial_leads_back_to_cell_task_and_model_and_on_to_the_next(trial: Shown) -> None:
    found = trial.links()
    assert found[TASK].endswith(f"tasks/hello-world/{TASK}/")
    assert found["model-a"].endswith("models/model-a/")
    assert found[f"Next trial {TASK}, trial 2"] == "../2/"
    assert [crumb.page for crumb in trial.page.crumbs][-1] == f"{CELL}/index.md"
    assert trial.page.in_search is False


def test_what_was_asked_is_named_with_its_digests(trial: Shown, pages: dict[str, Shown]) -> None:
    facts = trial.facts()
    assert facts["Raw model id"] == "vendor/model-a"
    assert facts["Dataset version"] == "7"
    assert facts["Task digest"].endswith("as the dataset file has it today")
    assert facts["Skill digest"] == "not recorded"
    assert facts["Commit the patch applies to"] == "1" * 40
    other = pages[f"{CELL}/{TASK}/2.md"].facts()
    assert other["Task digest"] == "e" * 64 + " the dataset file has changed"


def test_isolation_and_limits_are_told(trial: Shown) -> None:
    facts = trial.facts()
    assert facts["Isolation"] == "none the agent ran as an ordinary process with the rights of its user"
    assert facts["Turn limit"] == "50"
    assert facts["Cost limit"] == "no limit"


def test_each_invocation_is_a_row_with_how_it_ended(trial: Shown) -> None:
    first, second = trial.table("Invocations of this trial")
    assert first["Invocation"] == "1, first 2026-01-31 12:00:00 UTC"
    assert (first["Exit code"], first["Input"], first["Cache read"]) == ("0", "4,006", "12,000")
    assert first["Requests"] == "not counted"
    assert second["Invocation"].startswith("2, retry")
    assert second["Stopped because"] == "error the server went away"
    assert (second["Exit code"], second["Requests"]) == ("ended by a signal", "7")
    assert trial.source.count("python -m agent") == 2


def test_counters_of_a_shared_server_are_marked_and_are_not_the_trials_tokens(trial: Shown) -> None:
    first, second = trial.table("What the model's server counted meanwhile")
    assert first["Whose"] == "shared 2 agents of this run were at work at once"
    assert (first["Prompt tokens"], first["Prefix-cache hits of queries"]) == ("372,184", "53.0%")
    assert second["Whose"].startswith("this invocation's own")
    assert (second["Requests finished"], second["Generated tokens"]) == ("7", "not reported")
    assert second["Prefix-cache hits of queries"] == "not known"
    assert (first["Cached of prompt tokens"], second["Cached of prompt tokens"]) == ("67.5%", "not known")
    assert (first["Cached prompt tokens"], second["Cached prompt tokens"]) == ("251,287", "not reported")
    assert (first["Uncached prompt tokens"], second["Uncached prompt tokens"]) == ("120,897", "not reported")
    assert first["Generated tokens per second"] == "104.3"
    gauge, histogram = trial.table("Gauges and histograms of the model's server")
    assert (gauge["Figure"], gauge["Mean"], gauge["Peak"]) == ("kv_cache_usage_perc", "25.0%", "50.0%")
    assert (histogram["Mean"], histogram["Samples or observations"]) == ("0.250 s", "8")
    tokens = {row["Class"]: row["Tokens"] for row in trial.table("Tokens of this trial")}
    assert "372,184" not in tokens.values()


def test_tokens_stand_by_class_with_the_rule_that_adds_them(trial: Shown) -> None:
    rows = {row["Class"]: row for row in trial.table("Tokens of this trial")}
    assert rows["Input"]["Where the count comes from"] == "server response"
    assert rows["Output"]["Where the count comes from"] == "not stated"
    processed = f"{4_006 + 166 + 12_000 + 1_200:,}"
    assert rows["Processed"]["Tokens"] == processed
    assert rows["Processed"]["Where the count comes from"] == "input + output + cache read + cache write"


def test_checks_carry_status_command_and_output(trial: Shown) -> None:
    rows = trial.table("Checks of this trial")
    assert [(row["Check"], row["Status"]) for row in rows] == [("check-0", "passed"), ("check-1", "failed")]
    assert rows[0]["Command"] == "python -m unittest"
    assert "Output of check-1" in trial.source
    assert "ran 3 tests&#10;OK" in trial.source
    assert "not resolved1 of 2 passed" in trial.body.text


def test_notes_are_rendered_and_only_web_links_in_them_live(trial: Shown) -> None:
    assert (
        '<a href="https://example.org/" rel="nofollow noopener noreferrer ugc">the page</a>' in trial.source
    )
    assert trial.body.live() == []
    assert "<h4>What changed</h4>" in trial.source


def test_the_patch_is_folded_by_file(trial: Shown) -> None:
    assert "<code>one.py</code>" in trial.source
    assert '<span class="hm-add">+new = 2</span>' in trial.source


def test_artifacts_are_offered_byte_for_byte_as_plain_text(trial: Shown) -> None:
    assets = {asset.path: asset.content for asset in trial.page.assets}
    folder = f"data/trials/model-a_endpoint/loop/fix/hello-world/{TASK}/1"
    assert assets == {f"{folder}/patch.diff.txt": PATCH, f"{folder}/implementation.md.txt": NOTE}
    assert trial.links()["patch.diff.txt"].endswith(f"{folder}/patch.diff.txt")


def test_a_replaced_trial_says_that_it_is_in_no_figure(pages: dict[str, Shown]) -> None:
    shown = pages[f"{CELL}/{TASK}/2.md"]
    assert "This trial is in no figure of its cell: superseded: replaced." in shown.body.text
    (judged,) = shown.table("Judgements of this trial")
    assert (judged["Judge"], judged["Score"]) == ("second-opinion, 1 judge-model", "40.0")


def test_warnings_lead_to_their_meaning(trial: Shown) -> None:
    (row,) = trial.table("Data-quality warnings of this trial")
    assert row == {"Warning": "low-output-per-turn", "What was found": "3 output tokens a turn"}
    assert trial.links()["low-output-per-turn"].endswith("data/quality/#low-output-per-turn")


def test_the_cost_that_charts_use_is_marked_among_all(tmp_path: Path) -> None:
    costs = (
        Cost(basis=CostBasis.NOTIONAL, amount_usd=9.0, source="list price"),
        Cost(basis=CostBasis.METERED, amount_usd=0.5, source="gateway"),
    )
    pages = pages_of(tmp_path, [Made(TASK, changes={"costs": costs})])
    rows = pages[f"{CELL}/{TASK}/1.md"].table("Costs of this trial")
    assert rows == [
        {
            "Basis": "metered used in tables and charts",
            "Cost": "$0.50 metered, 2026-01-31",
            "Source": "gateway",
        },
        {"Basis": "notional", "Cost": "$9.00 notional, 2026-01-31", "Source": "list price"},
    ]


def test_an_imported_trial_has_no_page(tmp_path: Path) -> None:
    source = Source(repository="someone/results", commit="ab" * 20, path="runs/one.json", license="MIT-0")
    pages = pages_of(tmp_path, [Made(TASK, files={}, changes={"source": source, "invocations": ()})])
    assert f"{CELL}/{TASK}/1.md" not in pages
    assert "trial 1" not in pages[f"{CELL}/index.md"].links()
    assert "Trial" not in pages[f"{CELL}/index.md"].table("Tasks of this cell")[0]


def test_a_trial_that_never_started_still_tells_why(tmp_path: Path) -> None:
    reason = "the checkout failed"
    nothing: dict[str, object] = {"invocations": (), "usage": None, "outcome_reason": reason}
    made = Made(
        TASK,
        None,
        checks=(CheckStatus.NOT_RUN,),
        outcome=Outcome.INFRASTRUCTURE,
        files={},
        changes=nothing,
    )
    shown = pages_of(tmp_path, [made])[f"{CELL}/{TASK}/1.md"]
    assert f"Why this outcome: {reason}" in shown.body.text
    assert "The harness was never started." in shown.body.text
    assert shown.table("Checks of this trial")[0]["Status"] == "not run"
    assert "Tokens of this trial" not in shown.labels()


def with_artifacts(*artifacts: Artifact) -> dict[str, object]:
    """A change of a made trial: the record claims these artifacts."""
    return {"artifacts": artifacts}


def test_a_missing_artifact_and_one_that_was_changed_are_not_shown(tmp_path: Path) -> None:
    claimed = Artifact(name="implementation.md", state=ArtifactState.PRESENT, sha256="0" * 64, size_bytes=4)
    missing = Artifact(name="patch.diff", state=ArtifactState.MISSING)
    gone = Artifact(name="review.md", state=ArtifactState.PRESENT, sha256="1" * 64, size_bytes=4)
    made = Made(TASK, files={"implementation.md": NOTE}, changes=with_artifacts(claimed, missing, gone))
    shown = pages_of(tmp_path, [made])[f"{CELL}/{TASK}/1.md"]
    rows = {row["Artifact"]: row for row in shown.table("Artifacts of this trial")}
    assert rows["implementation.md"]["Download"].startswith("none changed since it was recorded")
    assert (rows["patch.diff"]["State"], rows["patch.diff"]["Bytes"]) == ("missing", "not known")
    assert rows["review.md"]["Download"] == "none not in the store"
    assert shown.page.assets == ()
    assert "What changed" not in shown.source


def test_an_empty_artifact_and_a_huge_one_are_told_apart_from_none(tmp_path: Path) -> None:
    huge = b"+" * (LARGEST_DOWNLOAD + 1)
    made = Made(TASK, files={"implementation.md": b" \n", "patch.diff": huge})
    shown = pages_of(tmp_path, [made])[f"{CELL}/{TASK}/1.md"]
    assert "This file is empty." in shown.body.text
    rows = {row["Artifact"]: row["Download"] for row in shown.table("Artifacts of this trial")}
    assert rows["patch.diff"] == f"none too large for the site: {len(huge):,} bytes"
    assert len(shown.source) < 100_000


def test_a_demonstration_trial_is_labelled_and_keeps_to_its_own_folder(tmp_path: Path) -> None:
    made = Made(TASK, None, cell=examples.cell("replay-x"), changes={"demonstration": True})
    store = tmp_path / "results" / "demonstration"
    write(store, [made])
    write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "none", tmp_path / "docs")
    folder = f"replay-x_endpoint/loop/fix/hello-world/{TASK}"
    source = (tmp_path / "docs" / "demonstration" / "cells" / folder / "1.md").read_text(encoding="utf-8")
    assert 'class="hm-demo"' in source
    assert (tmp_path / "docs" / "demonstration" / "data" / "trials" / folder / "1").is_dir()
    assert not (tmp_path / "docs" / "data" / "trials").exists()


def test_hostile_words_of_an_agent_stay_words_in_the_built_page(tmp_path: Path) -> None:
    trials = write_hostile_trials(tmp_path / "results")
    docs = tmp_path / "docs"
    write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "none", docs)
    site = built_by_mkdocs(docs, tmp_path, keep=("cells",))
    for trial in trials:
        found = read(article(site / trial.page.removesuffix(".md") / "index.html"))
        assert found.live() == [], trial.page
        assert not found.names & RAW_PARTS, trial.page
        said = "".join(found.text.split())
        for text in trial.texts:
            assert said.count(_seen(text)) >= 4, (trial.page, text)


def test_downloads_of_hostile_trials_are_all_plain_text(tmp_path: Path) -> None:
    write_hostile_trials(tmp_path / "results")
    write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "none", tmp_path / "docs")
    files = [path for path in (tmp_path / "docs" / "data" / "trials").rglob("*") if path.is_file()]
    assert len(files) > 20
    assert {path.suffix for path in files} == {".txt"}


def _seen(text: str) -> str:
    return "".join(one_line(text).split())
