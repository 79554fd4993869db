"""The page: one file that loads nothing, complete without scripts, safe whatever a server calls itself."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.telemetry.command import page_name, telemetry_command
from generators.telemetry.drawing import draw, moment, number
from generators.telemetry.panels import Line, Panel
from runner.errors import PublishError
from tests.generators.telemetry.archives import EVIL, Told, steady, written


def rendered(path: Path) -> str:
    output = path.with_name("page.html")
    assert telemetry_command(path, output, lambda _: None) == 0
    return output.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return rendered(written(tmp_path_factory.mktemp("page") / "m.duckdb"))


def test_the_page_names_no_address_to_load_from(page: str) -> None:
    assert not re.search(r"""(?:src|href|action|data)\s*=\s*["']?(?!image/)\S*//""", page)
    assert "@import" not in page
    assert "url(" not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    directives = dict(each.strip().split(" ", 1) for each in policy[1].replace("&#39;", "'").split(";"))
    assert directives["default-src"] == "'none'"
    assert "unsafe" not in directives["script-src"]
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (own,) = script
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert directives["script-src"] == f"'sha256-{digest}'"


def test_everything_is_there_without_scripts(page: str) -> None:
    bare = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert bare.count('<svg viewBox="0 0 1000 1000"') == 8
    assert bare.count("<table") == 9
    assert "3,000.0" in bare
    for words in ("vendor/model-1", "Completed requests", "Key-value cache in use", "How requests ended"):
        assert words in bare
    assert 'class="tools" hidden' in bare


def test_the_data_of_the_script_is_json_with_the_same_values(page: str) -> None:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert data["span"] == 120
    assert data["panels"][0]["lines"][0]["points"][0] == pytest.approx(3000)
    assert len(data["panels"]) == 8


def test_names_that_a_server_gave_are_shown_and_never_run(tmp_path: Path) -> None:
    def told(second: float) -> Told | None:
        return None if second == 5 else steady(second)

    path = written(tmp_path / "m.duckdb", told, model=EVIL, reason=EVIL, failure=EVIL, seconds=20)
    page = rendered(path)
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert page.count("evil&lt;script&gt;") >= 3
    assert len(re.findall("<script", page)) == 2


def test_an_archive_without_anything_is_a_page_that_says_so(tmp_path: Path) -> None:
    page = rendered(written(tmp_path / "m.duckdb", lambda _: None, seconds=3))
    assert "No model told" in page
    assert "0 of 4" in page
    assert page.count("The server does not tell this, or nothing happened.") == 8
    assert "not told" in page


def test_a_session_without_an_end_is_marked(tmp_path: Path) -> None:
    page = rendered(written(tmp_path / "m.duckdb", seconds=3, ended=False))
    assert "ended unexpectedly or still open" in page


def test_the_same_archive_makes_the_same_page(tmp_path: Path) -> None:
    path = written(tmp_path / "m.duckdb", seconds=5)
    assert rendered(path) == rendered(path)


@pytest.mark.parametrize(
    ("stem", "models", "name"),
    [
        ("m_s_1", ("m",), "m_s_1.html"),
        ("metrics", ("Vendor/Model-2",), "vendor-model-2_metrics.html"),
        ("metrics", (), "metrics.html"),
    ],
)
def test_the_name_of_the_page_has_the_model_once(stem: str, models: tuple[str, ...], name: str) -> None:
    assert page_name(stem, models) == name


def test_the_page_goes_beside_the_archive_and_the_user_hears_where(tmp_path: Path) -> None:
    said: list[str] = []
    path = written(tmp_path / "m.duckdb", seconds=5)
    assert telemetry_command(path, None, said.append) == 0
    assert said == [f"6 scrapes over 5 s: {tmp_path / 'vendor-model-1_m.html'}"]
    (tmp_path / "m.duckdb.spool").touch()
    telemetry_command(path, None, said.append)
    assert "newest scrapes are not on the page" in said[-1]
    with pytest.raises(PublishError, match="cannot be written"):
        telemetry_command(path, tmp_path / "no" / "page.html", said.append)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59.4, "59 s"), (60, "1:00"), (3599.6, "1:00:00"), (7403, "2:03:23")]
)
def test_times_are_written_as_people_read_them(seconds: float, words: str) -> None:
    assert moment(seconds) == words


@pytest.mark.parametrize(
    ("value", "words"), [(0, "0"), (0.25, "0.25"), (1234567, "1,234,567"), (2.55, "2.5")]
)
def test_numbers_have_as_many_digits_as_they_need(value: float, words: str) -> None:
    assert number(value) == words


@given(
    st.lists(st.none() | st.floats(0, 1e9), min_size=1, max_size=60).filter(
        lambda points: any(each is not None for each in points)
    ),
    st.floats(0.1, 1e6),
)
def test_every_known_point_lies_on_the_drawing_and_none_is_invented(
    values: list[float | None], span: float
) -> None:
    middles = [span * (index + 0.5) / len(values) for index in range(len(values))]
    drawing = draw(Panel("P", "u", (Line("l", tuple(values)),)), middles, span)
    assert drawing is not None
    (path,) = re.findall(r'class="line line-0" d="([^"]*)"', drawing.svg)
    places = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)
    assert all(0 <= float(x) <= 1000 and -0.1 <= float(y) <= 1000.1 for x, y in places)
    known = [each is not None for each in values]
    padded = [False, *known, False]
    alone = sum(
        here and not before and not after
        for before, here, after in zip(padded, padded[1:], padded[2:], strict=False)
    )
    assert len(places) == sum(known) + alone
    strokes = sum(known[index] and not (index and known[index - 1]) for index in range(len(known)))
    assert path.count("M") == strokes
    assert all(-0.01 <= label.place <= 100.01 for label in (*drawing.values, *drawing.times))


def test_a_panel_of_which_nothing_is_known_is_not_drawn() -> None:
    assert draw(Panel("P", "u", (Line("l", (None, None)),)), [1.0, 2.0], 3.0) is None
    assert draw(Panel("P", "u", (Line("l", ()),)), [], 0.0) is None
