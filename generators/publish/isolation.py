"""Isolation: no page of the site loads from, or runs, anything but the site's own files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from generators.publish.child import indented
from generators.publish.markup import Page, css_addresses
from generators.publish.policy import InlineScripts, with_policy
from runner.errors import PublishError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True)
class Fault:
    """One place where a file of the site reaches outside or runs what it should not."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def isolate(site: Path, scripts: InlineScripts, *, subpath: str = "") -> None:
    """Check every page and style sheet below ``site``, and give every page its content security policy.

    ``site`` is served below ``/<subpath>/``.

    Raises:
        PublishError: a file loads from elsewhere, loads what is not there, or runs an unknown script.
    """
    mount = f"/{subpath}/" if subpath else "/"
    faults: list[Fault] = []
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        html = path.read_text(encoding="utf-8")
        page = Page(html)
        found = list(_page_faults(page, _Place(site, mount, name), scripts))
        if not found:
            path.write_text(with_policy(html, [text for _, text in page.scripts]), encoding="utf-8")
        faults += found
    for path in sorted(site.rglob("*.css")):
        faults += _style_faults(path, _Place(site, mount, path.relative_to(site).as_posix()))
    if faults:
        raise _unsafe(faults)


@dataclass(frozen=True)
class _Place:
    """A file of the site, from which relative addresses lead on."""

    site: Path
    mount: str
    name: str

    def fault_of(self, line: int, element: str, address: str) -> Iterator[Fault]:
        """What is wrong with an address: it loads from outside, or leads nowhere."""
        if is_outside(address):
            yield Fault(self.name, line, f"{element} loads from outside: {address[:120]}")
        elif not self._is_there(address):
            yield Fault(self.name, line, f"{element} refers to a file that is not there: {address[:120]}")

    def _is_there(self, address: str) -> bool:
        if address.startswith("#") or _scheme(address) == "data":
            return True
        path = unquote(urlsplit(address).path)
        if path.startswith("/"):
            return path.startswith(self.mount) and (self.site / path.removeprefix(self.mount)).is_file()
        return (self.site / self.name).parent.joinpath(path).is_file()


def _page_faults(page: Page, place: _Place, scripts: InlineScripts) -> Iterator[Fault]:
    for load in page.loads:
        yield from place.fault_of(load.line, load.element, load.address)
    for danger in page.dangers:
        yield Fault(place.name, danger.line, danger.what)
    for line, text in page.scripts:
        if not scripts.known(text):
            yield Fault(place.name, line, f"an inline script that is not the theme's: {text.strip()[:60]!r}")


def _style_faults(path: Path, place: _Place) -> Iterator[Fault]:
    for address in css_addresses(path.read_text(encoding="utf-8")):
        yield from place.fault_of(1, "style", address)


def is_outside(address: str) -> bool:
    """Whether loading ``address`` would leave the site's own files; ``data:`` stays inside."""
    plain = address.strip().replace("\\", "/")
    return plain.startswith("//") or _scheme(plain) not in ("", "data")


def _scheme(address: str) -> str:
    match = _SCHEME.match(address)
    return match.group().rstrip(":").lower() if match else ""


def _unsafe(faults: Sequence[Fault]) -> PublishError:
    listing = indented([str(fault) for fault in faults])
    return PublishError(
        f"{len(faults)} places of the site reach outside its own files or run what they must not:\n{listing}",
        where=faults[0].file,
        remedy="serve the file from site_src/assets, or escape the text that brought the markup in",
    )
