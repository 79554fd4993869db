"""Endpoint pages: every figure with its n of m and interval, unknown never 0, hostile text only as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generators.pages import endpoint, endpoint_methodology
from generators.pages.endpoint_words import milliseconds
from generators.pages.rendering import Page, Renderer
from generators.pages.world import World
from generators.reference import load_reference
from generators.sources import load_worlds
from tests.generators.pages.dollars import amounts
from tests.generators.pages.shown import Shown
from tests.generators.tables.endpoint_made import FAST, MODEL, SLOW, MadeRun, MadeTarget, write_run
from tests.generators.tables.made import ROOT

MODEL_PAGE = f"endpoints/{MODEL}.md"
RUN_PAGE = f"endpoints/{MODEL}/r1.md"


def worlds(results: Path, *made: MadeRun) -> tuple[World, World | None]:
    for each in made:
        write_run(results, each)
    return load_worlds(results, ROOT / "datasets", load_reference(ROOT / "site_src"))


def shown(pages: Iterable[Page]) -> dict[str, Shown]:
    return {page.path: Shown(page, Renderer().render(page)) for page in pages}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Two runs of two mappings: one whole, a later one that was cut short."""
    results = tmp_path_factory.mktemp("results")
    later = MadeRun("r2", day=3, instances=8, left_out=3, ended="partial", calibrated=False, load=False)
    real, _ = worlds(results, MadeRun(), later)
    return shown(endpoint.pages(real, None))


def test_each_model_and_each_run_has_a_page_and_the_index_leads_to_them(pages: dict[str, Shown]) -> None:
    assert set(pages) == {"endpoints/index.md", MODEL_PAGE, RUN_PAGE, f"endpoints/{MODEL}/r2.md"}
    [row] = pages["endpoints/index.md"].table("Models whose endpoints were measured")
    assert (row["Model"], row["Mappings"], row["Runs"]) == (MODEL, "slow:eu, swift", "2")
    assert pages["endpoints/index.md"].links()[MODEL] == f"{MODEL}/"


def test_the_index_stands_without_any_run_and_says_how_to_make_one(tmp_path: Path) -> None:
    real, demonstration = worlds(tmp_path / "results")
    found = shown(endpoint.pages(real, demonstration))
    assert set(found) == {"endpoints/index.md"}
    assert "No endpoint has been measured yet" in found["endpoints/index.md"].source
    assert "invoke bench --profile smoke" in found["endpoints/index.md"].source


def test_times_stand_with_interval_and_n_of_m(pages: dict[str, Shown]) -> None:
    swift, slow = pages[MODEL_PAGE].table("Times and speed, run r1")
    assert swift["First token, any kind (TTFT), p50"] == "220 ms 210 to 230 ms; 40 of 40"
    assert slow["First token, any kind (TTFT), p90"] == "650 ms at least 625 ms; 32 of 40"
    assert swift["First visible token, p50"].startswith("270 ms")
    assert slow["Buffered"].startswith("0 % 0 of ")


def test_the_model_page_shows_the_whole_run_and_not_the_newer_one_that_was_cut(
    pages: dict[str, Shown],
) -> None:
    source = pages[MODEL_PAGE].source
    assert source.count("run r1</a>, 2026-11-01, standard, complete") == 4
    assert "Times and speed, run r2" not in source


def test_failures_are_rates_with_wilson_intervals_and_codes(pages: dict[str, Shown]) -> None:
    swift, slow = pages[MODEL_PAGE].table("How requests ended, run r1")
    assert slow["Rate limited"] == "18 % 8 of 44; 10 to 32 %"
    assert swift["Rate limited"] == "0 % 0 of 44; 0 to 8 %"
    assert slow["Failures by code"] == "429 × 8"
    assert "Refused" not in swift, "a class that nobody met takes no column"


def test_what_is_not_priced_says_so_and_the_rest_has_basis_and_day(pages: dict[str, Shown]) -> None:
    swift, slow = pages[MODEL_PAGE].table("Cost by price table, run r1")
    assert swift["All measured trials"] == "$0.062 44 requests; price table, 2026-11-01"
    assert slow["All measured trials"] == "not priced not in the price book"
    assert slow["A right answer"].startswith("not priced")
    assert swift["Told by the gateway"] == "not measured"


def test_every_dollar_has_basis_and_day_near_it(pages: dict[str, Shown]) -> None:
    found = [amount for page in pages.values() for amount in amounts(page.source)]
    assert len(found) > 10
    assert [amount for amount in found if not amount.complete] == []


def test_capability_stands_by_dimension_for_each_mapping(pages: dict[str, Shown]) -> None:
    rows = pages[MODEL_PAGE].table("Capability by dimension, run r1")
    assert [row["Dimension"] for row in rows] == ["extraction", "long context", "reasoning"]
    assert rows[0]["swift"] == "70 % 7 of 10; 40 to 89 %"
    assert rows[0]["slow:eu"].endswith("of 10; 17 to 69 %")


def test_coding_has_its_nine_figures(pages: dict[str, Shown]) -> None:
    swift, slow = pages[MODEL_PAGE].table("Coding, cost by price table, run r1")
    assert swift["Solved"] == "75 % 3 of 4; 30 to 95 %"
    assert swift["Cost per solved"] == "$0.00188 3 solved; price table, 2026-11-01"
    assert swift["Why it stopped"] == "finished × 3, max turns × 1"
    assert slow["Invalid calls"] == "5 % 1 of 20; 1 to 24 %"
    assert slow["No progress"] == "10 % 2 of 20; 3 to 30 %"
    assert slow["Cost per solved"].startswith("not priced")


def test_load_of_all_mappings_stands_on_common_charts_with_every_knee(pages: dict[str, Shown]) -> None:
    page = pages[MODEL_PAGE]
    [caption] = re.findall(r"Knees of [^,<]+, run r1", page.source)[:1]
    rows = page.table(caption)
    assert [row["Mapping"] for row in rows] == ["swift", "slow:eu"]
    swift = rows[0]
    assert swift["Knee"].startswith("2 ")
    assert float(swift["Requests a second there"]) > 0
    assert swift["TTFT p50 there"].split()[1] in {"ms", "s"}
    for figure in ("Requests that ended well", "Time to the first token, p50", "Time to the last token, p50"):
        assert f"{figure}, by mapping" in page.source
    assert 'class="hm-grid hm-place"' in page.source, "the knee is drawn"


def test_load_names_its_knee_with_interval_and_its_kind_of_loop(pages: dict[str, Shown]) -> None:
    source = pages[MODEL_PAGE].source
    assert "Knee at 2 in flight (95 %: " in source
    assert "Closed loop" in source
    rows = pages[MODEL_PAGE].table("Load of swift, sweep, run r1")
    assert [row["Level"] for row in rows] == ["1", "2", "4"]
    assert rows[2]["Degradation"] == "2.00 x"
    assert rows[0]["Within limits"] == "no limits"


def test_agreement_and_differences_stand_with_pairs(pages: dict[str, Shown]) -> None:
    [row] = pages[MODEL_PAGE].table("Agreement between mappings, run r1")
    assert row["Same answer"].startswith("75 % 18 of 24")
    rows = pages[MODEL_PAGE].table("Differences from the reference, run r1")
    ttft = next(row for row in rows if row["Figure"] == "First token, any kind (TTFT)")
    assert (ttft["Pairs"], ttft["Verdict"]) == ("36 8 without a pair", "higher")


def test_history_has_every_mapping_of_every_run_newest_first(pages: dict[str, Shown]) -> None:
    rows = pages[MODEL_PAGE].table(f"Every run of {MODEL}")
    assert [(row["Run"].split()[-1], row["Mapping"]) for row in rows] == [
        ("r2", "swift"),
        ("r2", "slow:eu"),
        ("r1", "swift"),
        ("r1", "slow:eu"),
    ]
    assert rows[0]["Profile"] == "standard partial"
    assert "median of each run of the profile standard" in pages[MODEL_PAGE].source
    swift = next(row for row in pages[MODEL_PAGE].table(f"Spread from run to run of {MODEL}"))
    assert (swift["Mapping"], swift["Profile"]) == ("slow:eu", "standard")
    assert swift["First token, any kind (TTFT), p50"].endswith("2 runs")


@pytest.mark.parametrize(
    "other", [{"methodology": 2}, {"profile": "smoke"}], ids=["older definitions", "another profile"]
)
def test_runs_that_asked_other_things_are_listed_and_neither_drawn_nor_put_together(
    other: dict[str, Any], tmp_path: Path
) -> None:
    newer = MadeRun("r2", day=3, instances=8, load=False, coding=False, **other)
    real, _ = worlds(tmp_path, MadeRun(instances=8, load=False, coding=False), newer)
    page = shown(endpoint.pages(real, None))[MODEL_PAGE]
    rows = page.table(f"Every run of {MODEL}")
    assert len({(row["Methodology"], row["Profile"]) for row in rows}) == 2
    assert "median of each run" not in page.source
    assert "Spread from run to run" not in page.source


def test_the_plan_says_what_was_skipped_and_why(pages: dict[str, Shown]) -> None:
    rows = pages[f"endpoints/{MODEL}/r2.md"].table("Plan of run r2")
    assert rows[0]["Skipped"] == "6 time budget × 6"
    case = next(row for row in rows if row["Case"] == "Fixed output")
    assert (case["Planned"], case["Done"], case["Skipped"]) == ("8", "5", "3 time budget × 3")
    # One budget for the loads of all mappings, unlike that of the trials.
    assert "Time for load, all targets together" in pages[RUN_PAGE].source


def test_the_clients_own_error_stands_with_its_limits(pages: dict[str, Shown]) -> None:
    first, second, unused = pages[RUN_PAGE].table("Client of run r1 before it began")
    assert (first["Processes"], unused["Processes"]) == ("1", "2 measured and not used")
    assert "Its floor, which is in every time to the first token: 0.20 ms at p50." in pages[RUN_PAGE].source
    speed = pages[RUN_PAGE].table("Times and speed, run r1")[0]
    assert speed["Client's own error"].startswith("0.20 ms / 1.0 ms floor 0.20 ms")
    loads = pages[RUN_PAGE].table("Load of swift, sweep, run r1")
    assert loads[2]["Client's own error"].startswith("0.90 ms / 4.5 ms floor 0.20 ms")
    assert (first["Within limits"], second["Within limits"]) == ("yes", "no: beyond a limit")
    assert second["TTFT bias, p50"] == "0.90 ms limit 0.50 ms, exceeded"
    assert "TTFT bias at 4 streams is 0.9 / 4.5 ms" in pages[RUN_PAGE].source
    assert "The client was not measured: --no-calibrate was given" in pages[f"endpoints/{MODEL}/r2.md"].source


def test_every_figure_of_a_run_leads_to_its_definition(pages: dict[str, Shown], tmp_path: Path) -> None:
    real, _ = worlds(tmp_path)
    [methodology] = shown(endpoint_methodology.pages(real)).values()
    links = pages[RUN_PAGE].links()
    anchors = [href.partition("#")[2] for href in links.values() if "methodology/endpoints/#" in href]
    assert len(anchors) > 10
    for anchor in anchors:
        assert f'<dt id="{anchor}">' in methodology.source, anchor


def test_a_percentile_that_the_sample_cannot_carry_is_not_shown(pages: dict[str, Shown]) -> None:
    rows = pages[RUN_PAGE].table("Every figure of swift, run r1")
    ttft = next(row for row in rows if row["Figure"].startswith("First token, any"))
    assert (ttft["p95"], ttft["p99"]) == ("too few values 40 of 40", "too few values 40 of 40")
    slow = pages[RUN_PAGE].table("Every figure of slow:eu, run r1")
    adjusted = next(row for row in slow if row["Figure"].startswith("First token, any"))
    assert adjusted["p90 with failures"] == "a failure the wait never ends"
    assert adjusted["n of m"] == "32 of 40 rate limited × 8"


def test_thresholds_are_told_for_each_mapping(pages: dict[str, Shown]) -> None:
    rows = pages[RUN_PAGE].table("Thresholds of run r1")
    assert [(row["Mapping"], row["Verdict"]) for row in rows] == [("swift", "kept"), ("slow:eu", "failed")]


def test_plan_and_figures_are_offered_and_what_the_model_wrote_is_not(pages: dict[str, Shown]) -> None:
    run = pages[RUN_PAGE]
    names = [asset.path for asset in run.page.assets if asset.path.startswith("data/endpoint/")]
    assert names == [f"data/endpoint/{MODEL}/r1/{name}" for name in ("manifest.json", "summary.json")]
    assert all(b"secret words" not in asset.content for asset in run.page.assets)
    assert "secret words" not in run.source
    assert f"results/endpoint/{MODEL}/r1" in run.source


def test_the_demonstration_stands_apart_and_is_marked(tmp_path: Path) -> None:
    small = MadeRun(instances=3, load=False, coding=False)
    real, demonstration = worlds(tmp_path / "results", small, replace(small, run_id="d1", demonstration=True))
    assert demonstration is not None
    apart = shown(endpoint.pages(demonstration, None))
    assert set(apart) == {f"demonstration/endpoints/{name}.md" for name in ("index", MODEL, f"{MODEL}/d1")}
    assert all("<strong>Demonstration.</strong>" in page.source for page in apart.values())
    ours = shown(endpoint.pages(real, demonstration))
    assert not any("demonstration" in path for path in ours)
    assert ours["endpoints/index.md"].links()["A demonstration"] == "../demonstration/endpoints/"
    assert "d1" not in ours[MODEL_PAGE].source
    charts = {a.path for p in apart.values() for a in p.page.assets} & {
        a.path for p in ours.values() for a in p.page.assets
    }
    assert charts == set()


def test_broken_folders_are_named_on_the_index(tmp_path: Path) -> None:
    write_run(tmp_path / "results", MadeRun(instances=2, load=False, coding=False)).summary_path.unlink()
    real, _ = worlds(tmp_path / "results")
    index = shown(endpoint.pages(real, None))["endpoints/index.md"]
    assert f"<code>endpoint/{MODEL}/r1</code>" in index.source
    assert "invoke bench --resume r1" in index.source


def test_hostile_words_of_a_provider_stay_text(tmp_path: Path) -> None:
    evil = MadeTarget("swift", fails_every=2, failure="http_error", message="<script>alert(1)</script>")
    run = write_run(tmp_path / "results", MadeRun(targets=(evil, SLOW), instances=4, load=False))
    for path in (run.manifest_path, run.trials_path, run.summary_path):
        text = path.read_text(encoding="utf-8")
        text = text.replace('"429"', '"<img src=x onerror=a>"').replace(
            "Brisk 1 via", "<b>{{ 7*7 }}</b> $5 |"
        )
        path.write_text(text, encoding="utf-8")
    real, _ = worlds(tmp_path / "results")
    for page in shown(endpoint.pages(real, None)).values():
        assert "<script>alert" not in page.source
        assert "<img" not in page.source
        assert "<b>" not in page.source


def test_more_mappings_than_a_chart_can_tell_apart_get_several_charts(tmp_path: Path) -> None:
    many = tuple(replace(FAST, label=f"p{number}", ttft_ms=100.0 + number) for number in range(6))
    made = MadeRun(targets=many, instances=3, load=False, coding=False)
    real, _ = worlds(tmp_path / "results", made)
    page = shown(endpoint.pages(real, None))[MODEL_PAGE]
    assert page.source.count("<strong>First token, any kind (TTFT): at most") == 2
    assert len(page.table("Times and speed, run r1")) == 6


def test_the_same_store_gives_the_same_bytes(tmp_path: Path) -> None:
    real, _ = worlds(tmp_path / "results", MadeRun(instances=3))
    first, second = (shown(endpoint.pages(real, None)) for _ in range(2))
    assert {path: page.source for path, page in first.items()} == {p: s.source for p, s in second.items()}
    assert [a.content for a in first[RUN_PAGE].page.assets] == [
        a.content for a in second[RUN_PAGE].page.assets
    ]


def test_methodology_defines_each_word_once_in_the_codes_words(tmp_path: Path) -> None:
    real, _ = worlds(tmp_path)
    [page] = shown(endpoint_methodology.pages(real)).values()
    ids = [part.split('"')[0] for part in page.source.split('<dt id="')[1:]]
    assert len(ids) == len(set(ids)) > 60
    assert "<code>scheduled</code>" in page.source
    assert "<code>sent - scheduled</code>" in page.source
    assert " None " not in page.body.text


def test_a_handful_of_values_sets_no_scale_and_no_interval_goes_below_zero(tmp_path: Path) -> None:
    real, _ = worlds(tmp_path / "results", MadeRun(instances=1, load=False))
    page = shown(endpoint.pages(real, None))[MODEL_PAGE]
    assert "First token, any kind (TTFT), median</strong>" not in page.source
    [swift, _] = page.table("Coding, cost by price table, run r1")
    assert swift["Turns"] == "5.2 95 %: 0.0 to 12.4; 4 of 4"
    assert swift["Wall clock"] == "12.5 s no interval: all alike; 4 of 4"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0 ms"), (0.0037, "0.0037 ms"), (0.25, "0.25 ms"), (99.94, "99.9 ms"), (2500.0, "2.50 s")],
)
def test_times_are_never_rounded_to_nothing(value: float, text: str) -> None:
    assert milliseconds(value) == text
