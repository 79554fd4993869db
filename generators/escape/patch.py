"""Patches: a unified diff as folded, coloured, escaped lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markupsafe import Markup

from generators.escape.characters import shortened, visible
from generators.escape.document import cut
from generators.escape.html import attribute, text
from generators.escape.link import url

MAX_BYTES = 300 * 1024
MAX_LINES = 3000
MAX_LINE = 2000

_FILE_START = re.compile(r"diff --git ")
_CLASSES = {"+": "hm-add", "-": "hm-del", "@": "hm-hunk"}
_HEADERS = (
    "+++",
    "---",
    "index ",
    "new file",
    "deleted file",
    "rename ",
    "similarity ",
    "old mode",
    "new mode",
)


@dataclass
class _FilePatch:
    title: str
    lines: list[str] = field(default_factory=list)


def diff(raw: str, *, raw_href: str = "") -> Markup:
    """A unified diff as one line of HTML: one foldable section per file, one coloured span per changed line.

    At most 300 KB or 3,000 lines are shown, whichever comes first, and 2,000 characters of a line; a notice
    with a link to `raw_href` says what was cut.
    """
    shown, was_cut = cut(visible(raw), MAX_BYTES)
    lines = shown.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    was_cut = was_cut or len(lines) > MAX_LINES
    files = Markup("").join(_section(part) for part in _files(lines[:MAX_LINES]))
    return Markup('<div class="hm-diff">{}{}</div>').format(files, _notice(raw_href) if was_cut else "")


def _files(lines: list[str]) -> Iterator[_FilePatch]:
    current: _FilePatch | None = None
    for line in lines:
        if current is None or _FILE_START.match(line):
            if current is not None:
                yield current
            current = _FilePatch(_title(line))
        current.lines.append(line)
    if current is not None:
        yield current


def _title(first_line: str) -> str:
    if not _FILE_START.match(first_line):
        return "patch"
    _, _, after = first_line.rpartition(" b/")
    return shortened(after or first_line, 160)


def _section(part: _FilePatch) -> Markup:
    added = sum(line.startswith("+") and not line.startswith("+++") for line in part.lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in part.lines)
    body = Markup("&#10;").join(_line(line) for line in part.lines)
    return Markup(
        '<details open><summary><code>{}</code> <span class="hm-add">+{}</span> '
        '<span class="hm-del">−{}</span></summary>'
        '<pre class="hm-pre" tabindex="0" role="group" aria-label="{}"><code>{}</code></pre></details>'
    ).format(text(part.title), added, removed, attribute(f"Changes to {part.title}"), body)


def _line(raw: str) -> Markup:
    line = raw if len(raw) <= MAX_LINE else raw[:MAX_LINE] + "…"
    if line.startswith(_HEADERS):
        return Markup('<span class="hm-meta">{}</span>').format(text(line))
    name = _CLASSES.get(line[:1])
    return Markup('<span class="{}">{}</span>').format(name, text(line)) if name else text(line)


def _notice(raw_href: str) -> Markup:
    where = Markup(' <a href="{}">The whole patch</a>').format(url(raw_href)) if raw_href else Markup("")
    return Markup('<p class="hm-cut">Cut after 300 KB or 3,000 lines.{}</p>').format(where)
