"""Untrusted documents: Markdown that a model wrote, rendered without giving it the page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from markupsafe import Markup

from generators.escape.characters import visible
from generators.escape.html import attribute, text
from generators.escape.link import url
from generators.escape.rendering import render

MAX_BYTES = 256 * 1024
MAX_BYTES_IN_PROCESS = 16 * 1024
MAX_HTML_BYTES = 2 * 1024 * 1024
SECONDS = 10.0


def untrusted_markdown(
    raw: str, *, id_prefix: str = "doc-", raw_href: str = "", base_level: int = 3, seconds: float = SECONDS
) -> Markup:
    """A Markdown document as one line of HTML inside one ``div``.

    HTML in it is shown as text; images become their description; links lead to http, https and mailto only;
    headings start at `base_level` and skip no level. Text beyond 256 KB is cut, with a link to `raw_href`.

    Documents up to 16 KB are rendered here: no such input takes more than about a second. Longer ones are
    rendered in a child process with a time and a memory limit; when that fails, the text is shown as written.
    """
    shown, was_cut = cut(visible(raw), MAX_BYTES)
    html = _rendered(shown, id_prefix, base_level, seconds)
    body = _as_written(shown) if html is None else Markup(html)  # noqa: S704
    return Markup('<div class="hm-untrusted">{}{}</div>').format(
        body, _cut_notice(raw_href) if was_cut else ""
    )


def cut(raw: str, limit: int) -> tuple[str, bool]:
    """The text within `limit` bytes of UTF-8, and whether anything was left out."""
    encoded = raw.encode()
    if len(encoded) <= limit:
        return raw, False
    return encoded[:limit].decode(errors="ignore"), True


def _rendered(raw: str, id_prefix: str, base_level: int, seconds: float) -> str | None:
    size = len(raw.encode())
    if size <= MAX_BYTES_IN_PROCESS:
        html = render(raw, id_prefix=id_prefix, base_level=base_level)
    else:
        html = _render_in_child(raw, id_prefix, base_level, seconds) or ""
    return html if html and len(html) <= MAX_HTML_BYTES else None


def _render_in_child(raw: str, id_prefix: str, base_level: int, seconds: float) -> str | None:
    home = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(home), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "generators.escape.child", id_prefix, str(base_level)]
    try:
        done = subprocess.run(
            command, input=raw.encode(), capture_output=True, timeout=seconds, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode() if done.returncode == 0 else None


def _as_written(raw: str) -> Markup:
    return Markup('<pre class="hm-pre" tabindex="0">{}</pre>').format(text(raw))


def _cut_notice(raw_href: str) -> Markup:
    where = Markup(' <a href="{}">The whole text</a>').format(url(raw_href)) if raw_href else Markup("")
    title = attribute("The page shows the first 256 KB")
    return Markup('<p class="hm-cut" title="{}">Cut after 256 KB.{}</p>').format(title, where)
