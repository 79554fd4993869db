"""Markup reader: what a piece of HTML holds, for tests that ask which tags, attributes and text came out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

ADDRESSES = {"href", "xlink:href", "src", "action", "formaction", "data", "srcdoc"}
LIVE_ADDRESS = re.compile(r"[\s\x00-\x1f]*(javascript|data|vbscript|blob|file)\s*:", re.I)


@dataclass
class Read:
    """Tags with their attributes, in order, and all text."""

    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    text: str = ""

    @property
    def names(self) -> set[str]:
        """The kinds of tags."""
        return {name for name, _ in self.tags}

    def values(self, attribute: str) -> list[str]:
        """Every value of an attribute."""
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]

    def live(self) -> list[str]:
        """What could run: handlers, and addresses that are programs."""
        found = []
        for tag, attributes in self.tags:
            for name, value in attributes.items():
                if name.startswith("on") or (name in ADDRESSES and LIVE_ADDRESS.match(value)):
                    found.append(f"{tag} {name}={value[:60]}")
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Read()
        self.others: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.found.text += data

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def read(html: str) -> Read:
    """Reads HTML; comments and declarations have no place in it and are an assertion error."""
    reader = _Reader()
    reader.feed(str(html))
    reader.close()
    assert not reader.others, reader.others
    return reader.found
