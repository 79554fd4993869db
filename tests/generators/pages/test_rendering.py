"""Rendering: templates escape by themselves, and a block of HTML is one line."""

from __future__ import annotations

import jinja2
import pytest
import yaml

from generators.pages.rendering import TEMPLATES, Page, Renderer, fold
from generators.pages.table import Column, Entry, table
from tests.generators.markup import read
from tests.hostile import Hostile, corpus


def page(title: str = "A page", **context: object) -> Page:
    """A page on the index template."""
    values: dict[str, object] = {"lead": "", "table": table("t", [Column("a")], []), "after": None, **context}
    return Page(path="a/b.md", title=title, template="index.md.j2", description=title, context=values)


def test_lines_of_a_block_are_joined_and_blocks_stay_apart() -> None:
    assert fold("<ul>\n  <li>a</li>\n</ul>\n\n# Title\n\n\n<p>two\n   words</p>\n") == (
        "<ul><li>a</li></ul>\n\n# Title\n\n<p>two words</p>"
    )


def test_a_template_that_misses_a_value_fails() -> None:
    broken = Page(path="a.md", title="A", template="index.md.j2", description="")
    with pytest.raises(jinja2.UndefinedError):
        Renderer().render(broken)


def test_autoescape_is_on_for_every_template() -> None:
    environment = Renderer().environment
    assert environment.autoescape is True
    names = [path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.j2")]
    assert len(names) > 10
    for name in names:
        assert "autoescape" not in (TEMPLATES / name).read_text(encoding="utf-8")
        assert "|safe" not in (TEMPLATES / name).read_text(encoding="utf-8").replace(" ", "")
        environment.get_template(name)


@pytest.mark.parametrize("hostile", corpus(), ids=lambda hostile: hostile.name)
def test_a_hostile_title_stays_a_title(hostile: Hostile) -> None:
    text = hostile.text
    source = Renderer().render(page(text, lead=text))
    _, front, body = source.split("---\n", 2)
    assert isinstance(yaml.safe_load(front)["title"], str)
    assert body.count("\n#") == 1
    found = read("\n".join(line for line in body.splitlines() if line.startswith("<")))
    assert found.live() == []
    assert found.names <= {"p", "div", "table", "thead", "tbody", "tr", "th", "td"}
    assert not any("\n" in block.strip("\n") for block in body.split("\n\n"))


def test_a_link_to_a_program_leads_nowhere() -> None:
    after = Entry("click", href="javascript:alert(1)")
    found = read(Renderer().render(page(after=(after,))).split("---\n", 2)[2])
    assert "#" in found.values("href")
    assert found.live() == []


def test_unknown_numbers_have_an_empty_sort_value() -> None:
    data = table(
        "t",
        [Column("a"), Column("n", "number")],
        [[Entry("x"), Entry("unknown", None)], [Entry("y"), Entry("2", 2.0)]],
    )
    found = read(Renderer().render(page(table=data)).split("---\n", 2)[2])
    assert found.values("data-value") == ["", "2.0"]
    assert "data-sortable" in dict(found.tags)["table"]
