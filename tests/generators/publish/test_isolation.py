"""No page loads from, or runs, anything but the site's own files."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.publish.isolation import is_outside, isolate
from generators.publish.markup import Page, css_addresses
from generators.publish.policy import InlineScripts
from runner.errors import PublishError

HEAD = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title></head><body>'

HOSTILE = {
    "script from a CDN": '<script src="https://cdn.example/x.js"></script>',
    "script without a scheme": '<script src="//cdn.example/x.js"></script>',
    "script behind backslashes": '<script src="\\\\cdn.example/x.js"></script>',
    "inline script": "<script>alert(1)</script>",
    "inline module": '<script type="module">import "https://cdn.example/x.js"</script>',
    "import map": '<script type="importmap">{"imports": {}}</script>',
    "script in capitals": "<SCRIPT>alert(1)</SCRIPT>",
    "script inside svg": '<svg><script href="https://cdn.example/x.js"></script></svg>',
    "font": '<link rel="stylesheet" href="https://fonts.example/css?family=Roboto">',
    "preconnect": '<link rel="preconnect" href="https://fonts.example">',
    "link without a relation": '<link href="https://x.example">',
    "mixed relations": '<link rel="canonical stylesheet" href="https://x.example/a.css">',
    "image": '<img src="http://x.example/pixel.gif">',
    "image set": '<img src="a.png" srcset="a.png 1x, https://x.example/b.png 2x">',
    "picture": '<picture><source srcset="https://x.example/b.png"></picture>',
    "frame": '<iframe src="https://x.example/"></iframe>',
    "frame with a page in it": '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "object": '<object data="https://x.example/a.swf"></object>',
    "embed": '<embed src="https://x.example/a.swf">',
    "video": '<video poster="https://x.example/p.png" src="a.mp4"></video>',
    "audio": '<audio src="https://x.example/a.mp3"></audio>',
    "svg use": '<svg><use href="https://x.example/a.svg#i"/></svg>',
    "svg image": '<svg><image xlink:href="https://x.example/a.png"/></svg>',
    "image button": '<input type="image" src="https://x.example/a.png">',
    "ping": '<a href="a/" ping="https://x.example/">a</a>',
    "form": '<form action="https://x.example/"></form>',
    "form button": '<button formaction="https://x.example/">go</button>',
    "style attribute": '<p style="background: url(https://x.example/a.png)">a</p>',
    "style attribute, entities": '<p style="background:&#117;rl(&#x27;//x.example/a.png&#x27;)">a</p>',
    "style element": "<style>@import 'https://x.example/a.css';</style>",
    "style element, url": '<style>p { background: URL( "https://x.example/a.png" ) }</style>',
    "style hidden by a comment": "<style>p { background: ur/**/l(https://x.example/a.png) }</style>",
    "handler": '<p onclick="alert(1)">a</p>',
    "handler in capitals": '<svg ONLOAD="alert(1)"></svg>',
    "script link": '<a href="javascript:alert(1)">a</a>',
    "script link with blanks": '<a href=" java\tscript:alert(1)">a</a>',
    "script link as entities": '<a href="&#106;avascript:alert(1)">a</a>',
    "data link": '<a href="data:text/html,<script>alert(1)</script>">a</a>',
    "svg script link": '<svg><a xlink:href="javascript:alert(1)"><text>a</text></a></svg>',
    "refresh": '<meta http-equiv="Refresh" content="0; url=https://x.example/">',
    "base": '<base href="https://x.example/">',
    "chart data that is not there": '<figure data-chart="../../data/none.json"></figure>',
    "chart data from outside": '<figure data-chart="https://x.example/a.json"></figure>',
}
MISSING = {
    "script": '<script src="gone.js"></script>',
    "style sheet": '<link rel="stylesheet" href="gone.css">',
    "icon": '<link rel="icon" href="../gone.png">',
    "image": '<img src="gone.png">',
    "image of a set": '<img src="a.png" srcset="gone.png 2x">',
    "from the host's root": '<img src="/a.png">',
    "chart data": '<figure data-chart="gone.json"></figure>',
    "nothing at all": '<img src="">',
}
HARMLESS = {
    "ordinary link": '<a href="https://x.example/">a</a> <a href="mailto:a@x.example">m</a>',
    "canonical": '<link rel="canonical" href="https://x.example/">',
    "own script": '<script src="./a.js?v=1"></script>',
    "own image and a drawn one": '<img src="a.png"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
    "data block": '<script type="application/json">{"a": "<b onclick=x>"}</script>',
    "text about markup": "<p>&lt;script&gt;alert(1)&lt;/script&gt; onclick=</p>",
    "svg link": '<svg><a xlink:href="../cell/" role="link"><circle r="1"/></a><use href="#i"/></svg>',
    "style": '<p style="color: red; background: url(#g)">a</p>',
    "chart": '<figure data-chart="chart.json"></figure>',
}


def page(folder: Path, body: str) -> Path:
    path = folder / "index.html"
    path.write_text(f"{HEAD}\n{body}</body></html>", encoding="utf-8")
    (folder / "chart.json").write_text("{}")
    for name in ("a.png", "a.js"):
        (folder / name).write_bytes(b"")
    return path


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_reaches_outside_or_runs_is_named_with_its_line(tmp_path: Path, body: str) -> None:
    path = page(tmp_path, body)
    before = path.read_bytes()
    with pytest.raises(PublishError, match=r"index\.html:2: ") as failure:
        isolate(tmp_path, InlineScripts.of_theme())
    assert failure.value.where == "index.html"
    assert failure.value.remedy
    assert path.read_bytes() == before


@pytest.mark.parametrize("body", MISSING.values(), ids=MISSING.keys())
def test_an_asset_that_is_not_there_is_named(tmp_path: Path, body: str) -> None:
    page(tmp_path, body)
    with pytest.raises(PublishError, match=r"index\.html:2: .* refers to a file that is not there"):
        isolate(tmp_path, InlineScripts.of_theme(), subpath="portal")


def test_an_asset_named_from_the_hosts_root_is_found_below_the_sub_path(tmp_path: Path) -> None:
    page(tmp_path, '<img src="/portal/a.png">')
    isolate(tmp_path, InlineScripts.of_theme(), subpath="portal")


@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_stays_inside_passes_and_gets_a_policy(tmp_path: Path, body: str) -> None:
    path = page(tmp_path, body)
    isolate(tmp_path, InlineScripts.of_theme())
    text = path.read_text(encoding="utf-8")
    assert body in text
    assert text.index("Content-Security-Policy") < text.index("<title>")


def test_all_faults_of_all_files_stand_in_one_report(tmp_path: Path) -> None:
    page(tmp_path, HOSTILE["image"] + HOSTILE["handler"])
    (tmp_path / "a.css").write_text("@import url(https://x.example/b.css); p { background: url('gone.png') }")
    with pytest.raises(PublishError) as failure:
        isolate(tmp_path, InlineScripts.of_theme())
    assert failure.value.what.startswith("4 places")
    for part in ("pixel.gif", "onclick", "b.css", "gone.png"):
        assert part in failure.value.what


def test_a_very_long_report_is_cut_and_says_how_many_are_left(tmp_path: Path) -> None:
    page(tmp_path, HOSTILE["image"] * 60)
    with pytest.raises(PublishError, match="and 19 more"):
        isolate(tmp_path, InlineScripts.of_theme())


@given(st.text())
def test_escaped_text_is_never_a_fault(text: str) -> None:
    read = Page(f'{HEAD}<p title="{html.escape(text)}">{html.escape(text)}</p>')
    assert (read.loads, read.scripts, read.dangers) == ([], [], [])


@given(st.text(alphabet="<>/=\"' ascriptlonkuyei!-&;#x:\n\0", max_size=200))
def test_no_markup_breaks_the_reader(text: str) -> None:
    Page(text)


@given(st.text(alphabet="abc/.?#-_%", max_size=30))
def test_a_relative_address_is_inside_unless_it_begins_with_two_slashes(path: str) -> None:
    assert is_outside(path) == path.startswith("//")


@pytest.mark.parametrize(
    ("css", "addresses"),
    [
        ("a { background: url( 'x.png' ) }", ["x.png"]),
        ('@import "a.css"; @import url(b.css) screen;', ["a.css", "b.css"]),
        ("/* url(none.png) */ a { color: red }", []),
        ("a { background: url() }", [""]),
        ("@font-face { src: url(a.woff2) format('woff2'), url(b.woff) }", ["a.woff2", "b.woff"]),
    ],
)
def test_a_style_sheets_addresses_are_found(css: str, addresses: list[str]) -> None:
    assert list(css_addresses(css)) == addresses
