"""Markup: what one built page loads, runs and refers to, read from its HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

# Attributes through which a browser loads or sends something, by element.
_LOADING = {
    "script": ("src", "href", "xlink:href"),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src", "srcdoc"),
    "frame": ("src",),
    "embed": ("src",),
    "object": ("data", "codebase"),
    "applet": ("code", "archive"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "track": ("src",),
    "input": ("src",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
    "feimage": ("href", "xlink:href"),
    "body": ("background",),
    "table": ("background",),
    "td": ("background",),
    "th": ("background",),
    "html": ("manifest",),
    "a": ("ping",),
    "area": ("ping",),
    "form": ("action",),
    "button": ("formaction",),
}
_ORDINARY_RELATIONS = {"canonical", "prev", "next", "alternate", "author", "license", "help", "me"}
_DATA_TYPES = {"application/json", "application/ld+json", "text/plain"}
_RUNNING_SCHEMES = re.compile(r"(?:javascript|vbscript|data|livescript|mocha):", re.IGNORECASE)
_BLANKS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]+")
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_LOAD = re.compile(
    r"""url\(\s*(?P<quote>["']?)(?P<url>.*?)(?P=quote)\s*\)|@import\s+["'](?P<import>[^"']*)""",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Load:
    """Something a page loads by itself: the line it stands on, the element, the address."""

    line: int
    element: str
    address: str


@dataclass(frozen=True)
class Danger:
    """Something that runs, or moves the visitor, without a script file of the site."""

    line: int
    what: str


class Page(HTMLParser):
    """One parsed page; read ``loads``, ``scripts`` and ``dangers`` after construction."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.loads: list[Load] = []
        self.scripts: list[tuple[int, str]] = []
        self.dangers: list[Danger] = []
        self._open: str | None = None
        self._data: list[str] = []
        self._line = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element loads, runs and refers to."""
        values = {name: value or "" for name, value in attrs}
        self._note_loads(tag, values)
        self._note_dangers(tag, values)
        if "data-chart" in values:
            self.loads.append(Load(self._at(), f"{tag} data-chart", values["data-chart"]))
        inline_script = tag == "script" and "src" not in values and not _is_data(values.get("type", ""))
        if inline_script or tag == "style":
            self._open, self._data, self._line = tag, [], self._at()

    def handle_data(self, data: str) -> None:
        """Keep the text of an inline script or style."""
        if self._open is not None:
            self._data.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Close an inline script or style."""
        if tag != self._open:
            return
        text = "".join(self._data)
        if tag == "script":
            self.scripts.append((self._line, text))
        else:
            self.loads.extend(Load(self._line, "style", address) for address in css_addresses(text))
        self._open = None

    def _note_loads(self, tag: str, values: dict[str, str]) -> None:
        for name in _LOADING.get(tag, ()):
            if name in values:
                addresses = _candidates(values[name]) if name == "srcset" else [values[name]]
                self.loads.extend(Load(self._at(), f"{tag} {name}", address) for address in addresses)
        if tag == "link":
            relations = set(values.get("rel", "").lower().split())
            if not relations or not relations <= _ORDINARY_RELATIONS:
                self.loads.append(Load(self._at(), "link", values.get("href", "")))
        if "style" in values:
            loads = css_addresses(values["style"])
            self.loads.extend(Load(self._at(), f"{tag} style", address) for address in loads)

    def _note_dangers(self, tag: str, values: dict[str, str]) -> None:
        for name, value in values.items():
            if name.startswith("on"):
                self.dangers.append(Danger(self._at(), f"an inline event handler: {tag} {name}"))
            elif name in ("href", "xlink:href", "action", "formaction") and tag != "link":
                if _RUNNING_SCHEMES.match(_BLANKS.sub("", value)):
                    self.dangers.append(Danger(self._at(), f"a link that runs: {tag} {name}={value[:60]!r}"))
            elif name == "srcdoc":
                self.dangers.append(Danger(self._at(), "a page inside an attribute: iframe srcdoc"))
        if tag == "base":
            self.dangers.append(Danger(self._at(), "a base element, which moves every link of the page"))
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self.dangers.append(Danger(self._at(), "a meta refresh, which moves the visitor"))

    def _at(self) -> int:
        return self.getpos()[0]


def css_addresses(css: str) -> Iterator[str]:
    """Every address that a style sheet's ``url()`` and ``@import`` load."""
    for match in _CSS_LOAD.finditer(_CSS_COMMENT.sub("", css)):
        yield (match["url"] if match["url"] is not None else match["import"]).strip()


def _candidates(srcset: str) -> list[str]:
    return [candidate.split()[0] for candidate in srcset.split(",") if candidate.strip()]


def _is_data(script_type: str) -> bool:
    return script_type.split(";")[0].strip().lower() in _DATA_TYPES
