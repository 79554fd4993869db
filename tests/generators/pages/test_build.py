"""Build: the whole site's sources from the committed results, and from records full of hostile text."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
import yaml

from generators.build import BuildReport, write_sources
from generators.escape.characters import one_line
from generators.pages.links import COMPARE, HOME, SERVING, WHAT_IF, served_path
from generators.tables.figures import FIGURES
from runner.errors import PublishError
from runner.records import DataWarning, ModelName, Source
from tests import examples
from tests.generators.committed import committed_sources
from tests.generators.markup import Read, read
from tests.generators.pages.built import article, built_by_mkdocs
from tests.generators.pages.dollars import amounts
from tests.generators.pages.means import means
from tests.generators.tables.made import ROOT, Made, write
from tests.hostile import corpus

SITE = "https://example.org/portal/"
TRIALS_OF_A_CELL = 8
CALCULATORS = {
    HOME: {"form", "input"},
    SERVING: {"form", "input"},
    WHAT_IF: {"form", "input"},
    COMPARE: {"form"},
}
"""Pages that have a form of their own."""
COUNTED = re.compile(
    r"-?[\d,.]+( M)? \(\d+ of \d+\)|\$[\d,.]+ \(\d+ of \d+\)|not (known|priced).*|no trials|none ?no cost.*",
    re.S,
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildReport]:
    """Sources of the committed results."""
    return committed_sources(tmp_path_factory)


def sources(out: Path) -> dict[str, str]:
    """Every generated page by source path."""
    found = sorted(out.rglob("*.md"))
    return {path.relative_to(out).as_posix(): path.read_text(encoding="utf-8") for path in found}


def body(source: str) -> Read:
    """What the HTML blocks of a page hold."""
    return read("\n".join(line for line in source.split("---\n", 2)[2].splitlines() if line.startswith("<")))


def digest(out: Path) -> str:
    """One digest over every path and byte."""
    whole = hashlib.sha256()
    for path in sorted(out.rglob("*")):
        if path.is_file():
            whole.update(path.relative_to(out).as_posix().encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def test_every_committed_cell_has_a_page(built: tuple[Path, BuildReport]) -> None:
    out, report = built
    store = ROOT / "results" / "swe"
    cells = {path.relative_to(store).parts[:4] for path in store.glob("*/*/*/*/*/*/trial.json")}
    assert report.cells == len(cells) >= 65
    for parts in cells:
        assert out.joinpath("cells", *parts, "index.md").is_file()


@pytest.mark.parametrize("name", ["harnesses", "models", "datasets", "skills", "frontier", "judges"])
def test_a_list_of_pages_ends_with_where_to_read_on(built: tuple[Path, BuildReport], name: str) -> None:
    source = (built[0] / name / "index.md").read_text(encoding="utf-8")
    assert "<li><a href=" in source.partition("\n## Read on\n")[2]


def test_two_builds_are_byte_identical(built: tuple[Path, BuildReport], tmp_path: Path) -> None:
    out, _ = built
    write_sources(ROOT / "results", ROOT / "datasets", ROOT / "site_src", tmp_path / "again")
    assert digest(out) == digest(tmp_path / "again")


def test_every_link_leads_to_a_file_of_the_site(built: tuple[Path, BuildReport]) -> None:
    out, _ = built
    files = [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()]
    served = {SITE + served_path(name) for name in files}
    for name, source in sources(out).items():
        found = body(source)
        addresses = found.values("href") + found.values("data-chart") + found.values("xlink:href")
        for address in addresses:
            target = urljoin(SITE + served_path(name), address).split("#")[0].split("?")[0]
            if urlsplit(target).netloc == "example.org":
                assert target in served, (name, address)


def test_every_mean_score_carries_its_n_of_m(built: tuple[Path, BuildReport]) -> None:
    out, _ = built
    looked_at = 0
    for name, source in sources(out).items():
        for heads, rows in tables(source):
            if "Scored" in heads:
                # The data table of a chart, which counts in a column of its own.
                continue
            for place, head in enumerate(heads):
                if head in {"Mean score", "Cost per task"} and not name.startswith("compare"):
                    for row in rows:
                        looked_at += 1
                        assert COUNTED.match(row[place]), (name, head, row[place])
    assert looked_at > 500


def test_no_dollar_figure_lacks_its_basis_and_the_day_of_its_prices(built: tuple[Path, BuildReport]) -> None:
    looked_at = 0
    for name, source in sources(built[0]).items():
        if "$" not in source:
            continue
        for amount in amounts(source):
            looked_at += 1
            assert amount.complete, (name, amount.written, amount.near[:500])
    assert looked_at > 3000


def test_no_mean_lacks_its_interval_or_why_there_is_none_and_its_count(
    built: tuple[Path, BuildReport],
) -> None:
    looked_at = 0
    for name, source in sources(built[0]).items():
        for mean in means(source):
            looked_at += 1
            assert mean.complete, (name, mean.name, mean.near[:500])
    assert looked_at > 3000


def tables(source: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Heads and rows of every table of a page, as text."""
    for table in re.findall(r'<table class="hm-table".*?</table>', source):
        heads, _, rest = table.partition("</thead>")
        names = [_text(cell) for cell in re.findall(r"<th [^>]*>(.*?)</th>", heads)]
        rows = [
            [_text(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr.*?</tr>", rest)
        ]
        yield names, rows


def _text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).strip()


def test_front_matter_is_plain_yaml_and_run_pages_stay_out_of_the_search(
    built: tuple[Path, BuildReport],
) -> None:
    hidden = re.compile(
        r"cells/|tasks/|demonstration/|serving/(?!index)|data/quality|compare/.*_|complexity/"
    )
    for name, source in sources(built[0]).items():
        front = yaml.safe_load(source.split("---\n", 2)[1])
        assert front["title"], name
        assert bool(front.get("search", {}).get("exclude")) == bool(hidden.match(name)), name


def test_the_methodology_page_explains_every_figure_with_the_text_of_the_code(
    built: tuple[Path, BuildReport],
) -> None:
    text = body((built[0] / "methodology" / "cost.md").read_text(encoding="utf-8")).text
    for figure in FIGURES:
        assert figure.formula in text
        assert figure.meaning in text


def test_the_worked_numbers_are_those_of_the_specification(built: tuple[Path, BuildReport]) -> None:
    text = body((built[0] / "methodology" / "cost.md").read_text(encoding="utf-8")).text
    rate = ("15,867.40", "4.8527e-07", "2,616.6 machine seconds")
    for part in ("41,519,145 tokens", "$20.15", "$48.42", *rate):
        assert part in text


def test_no_page_about_everything_grows_beyond_what_a_phone_reads(built: tuple[Path, BuildReport]) -> None:
    assert len(sources(built[0])["data/quality.md"].encode()) < 90_000


def test_no_cell_is_called_dominated(built: tuple[Path, BuildReport]) -> None:
    for name, source in sources(built[0]).items():
        said = body(source).text.replace("never dominated", "")
        assert "dominated" not in said, name


def test_a_page_that_claims_a_hand_written_path_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site_src").mkdir()
    (tmp_path / "site_src" / "compare.md").write_text("# mine\n")
    with pytest.raises(PublishError, match="claim one path"):
        write_sources(tmp_path / "none", ROOT / "datasets", tmp_path / "site_src", tmp_path / "out")


def hostile_results(root: Path) -> list[str]:
    """A store in which every free text is hostile; the texts that a page must show literally."""
    texts = [entry.text.encode("utf-8", "replace").decode()[:300] for entry in corpus() if not entry.long]
    shown = [text for text in texts if text]
    trials = []
    for place, text in enumerate(shown):
        model = f"model-{place // TRIALS_OF_A_CELL}"
        name = ModelName(raw_id=text, slug=model)
        changes: dict[str, object] = {
            "outcome_reason": text,
            "source": Source(repository=text, commit=text, path=text, license=text),
            "invocations": (),
        }
        trials.append(
            Made(
                f"task-{place % TRIALS_OF_A_CELL}",
                cell=examples.cell(model).model_copy(update={"model": name}),
                warnings=(DataWarning(code="moving-ref", text=text),),
                files={},
                changes=changes,
            )
        )
    write(root, trials)
    return shown


def test_hostile_records_are_shown_literally_by_the_built_site(tmp_path: Path) -> None:
    shown = hostile_results(tmp_path / "results")
    (tmp_path / "site_src").mkdir()
    docs = tmp_path / "docs"
    write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "site_src", docs)
    for page in docs.rglob("*.md"):
        found = body(page.read_text(encoding="utf-8"))
        assert found.live() == []
        own = CALCULATORS.get(page.relative_to(docs).as_posix(), set())
        assert not (found.names - own) & {
            "script",
            "img",
            "iframe",
            "style",
            "object",
            "form",
            "input",
            "base",
            "meta",
        }
    site = built_by_mkdocs(docs, tmp_path, keep=("cells",))
    mains = [article(page) for page in sorted(site.rglob("cells/*/*/*/*/index.html"))]
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", " ".join(mains))).split())
    missing = [raw for raw in shown if one_line(raw) not in text]
    assert missing == []


def test_a_store_without_results_still_makes_a_site(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    report = write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "none", tmp_path / "docs")
    assert report.cells == 0
    assert (tmp_path / "docs" / "index.md").is_file()
    assert "No two cells have results" in (tmp_path / "docs" / "compare.md").read_text(encoding="utf-8")
    harnesses = (tmp_path / "docs" / "compare" / "harnesses.md").read_text(encoding="utf-8")
    assert "No model has scores" in harnesses


def test_demonstration_results_stand_only_below_demonstration(tmp_path: Path) -> None:
    demo = Made(
        "task-a", None, checks=(), cell=examples.cell("replay-careful"), changes={"demonstration": True}
    )
    real = Made("task-a", cell=examples.cell("real-one"))
    write(tmp_path / "results", [real])
    store = tmp_path / "results" / "demonstration"
    write(store, [demo])
    for path in store.glob("plans/*.json"):
        plan = json.loads(path.read_text())
        path.write_text(json.dumps({**plan, "demonstration": True}))
    report = write_sources(tmp_path / "results", ROOT / "datasets", tmp_path / "none", tmp_path / "docs")
    assert (report.cells, report.demonstration_cells) == (1, 1)
    for name, source in sources(tmp_path / "docs").items():
        if name.startswith("demonstration/"):
            assert 'class="hm-demo"' in source, name
            assert "real-one" not in source, name
        else:
            assert "replay-careful" not in source, name


def test_private_results_and_datasets_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / "results", [Made("task-a")])
    write(tmp_path / "results" / "private", [Made("hush-task", cell=examples.cell("hush-model"))])
    shutil.copytree(ROOT / "datasets", tmp_path / "datasets")
    hello = (tmp_path / "datasets" / "hello-world.yaml").read_text(encoding="utf-8")
    private = re.sub(r"(?m)^visibility:.*\n", "", hello).replace("name: hello-world", "name: hush-set", 1)
    hidden = tmp_path / "datasets" / "hush-set.yaml"
    hidden.write_text("visibility: private\n" + private, encoding="utf-8")
    write_sources(tmp_path / "results", tmp_path / "datasets", tmp_path / "none", tmp_path / "docs")
    for path in (tmp_path / "docs").rglob("*"):
        assert "hush-" not in path.name
        if path.suffix in {".md", ".json", ".csv", ".txt"}:
            assert "hush-" not in path.read_text(encoding="utf-8"), path
