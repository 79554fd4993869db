"""Rendering of untrusted Markdown: markdown-it with HTML off, then nh3 over its output."""

from __future__ import annotations

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = frozenset(
    {"a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"}
    | {"pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
DEEPEST_HEADING = 6


def render(raw: str, *, id_prefix: str, base_level: int) -> str:
    """Sanitised HTML of a Markdown document, on one line.

    Link references are off: each use repeats its address, so a small document could grow beyond any memory.
    """
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    parser.enable(["table", "strikethrough"]).disable("reference")
    tokens = parser.parse(raw)
    _renumber_headings(tokens, base_level)
    _describe_images(tokens)
    html = str(parser.renderer.render(tokens, parser.options, {}))
    return one_line_html(_focusable(sanitise(html, id_prefix)))


def sanitise(html: str, id_prefix: str) -> str:
    """Only the listed tags and attributes, absolute http, https and mailto links, prefixed ids."""
    return nh3.clean(
        html,
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        url_schemes=set(SCHEMES),
        url_relative="deny",
        link_rel="nofollow noopener noreferrer ugc",
        id_prefix=id_prefix,
        strip_comments=True,
    )


def one_line_html(html: str) -> str:
    """HTML without line breaks, so that it passes through a Markdown processor as one block."""
    return html.strip("\n").replace("\r", "").replace("\n", "&#10;")


def _renumber_headings(tokens: list[Token], base_level: int) -> None:
    open_levels: list[int] = []
    for token in tokens:
        if token.type == "heading_open":
            written = int(token.tag[1])
            while open_levels and open_levels[-1] >= written:
                open_levels.pop()
            open_levels.append(written)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(base_level + len(open_levels) - 1, DEEPEST_HEADING)}"


def _describe_images(tokens: list[Token]) -> None:
    for inline in tokens:
        for token in inline.children or []:
            if token.type == "image":
                token.type, token.tag, token.nesting = "text", "", 0
                token.content = f"[image: {token.content}]"


def _focusable(html: str) -> str:
    # What scrolls sideways must be reachable by keyboard. After sanitising, these are the only such tags.
    scrolling = html.replace("<pre>", '<pre class="hm-pre" tabindex="0">')
    framed = scrolling.replace("<table>", '<div class="hm-scroll" tabindex="0"><table>')
    return framed.replace("</table>", "</table></div>")
