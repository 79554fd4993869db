"""Isolation: no page of the site loads from, or runs, anything but the site's own files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from generators.publish.markup import Page, css_addresses
from generators.publish.policy import InlineScripts, with_policy
from runner.errors import PublishError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SHOWN = 50


@dataclass(frozen=True)
class Fault:
    """One place where a file of the site reaches outside or runs what it should not."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def isolate(site: Path, scripts: InlineScripts) -> None:
    """Check every page and style sheet below ``site``, and give every page its content security policy.

    Raises:
        PublishError: a file loads from elsewhere, runs an unknown script, or names missing chart data.
    """
    faults: list[Fault] = []
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        html = path.read_text(encoding="utf-8")
        page = Page(html)
        found = list(_page_faults(page, name, path, scripts))
        if not found:
            path.write_text(with_policy(html, [text for _, text in page.scripts]), encoding="utf-8")
        faults += found
    for path in sorted(site.rglob("*.css")):
        faults += _style_faults(path, path.relative_to(site).as_posix())
    if faults:
        raise _unsafe(faults)


def _page_faults(page: Page, name: str, path: Path, scripts: InlineScripts) -> Iterator[Fault]:
    for load in page.loads:
        if is_outside(load.address):
            yield Fault(name, load.line, f"{load.element} loads from outside: {load.address[:120]}")
    for danger in page.dangers:
        yield Fault(name, danger.line, danger.what)
    for line, text in page.scripts:
        if not scripts.known(text):
            yield Fault(name, line, f"an inline script that is not the theme's: {text.strip()[:60]!r}")
    for load in page.data_files:
        if not _is_there(load.address, path):
            yield Fault(name, load.line, f"the chart's data is not there: {load.address[:120]}")


def _style_faults(path: Path, name: str) -> Iterator[Fault]:
    for address in css_addresses(path.read_text(encoding="utf-8")):
        if is_outside(address):
            yield Fault(name, 1, f"loads from outside: {address[:120]}")
        elif not address.startswith("#") and not _is_there(address, path):
            yield Fault(name, 1, f"refers to a file that is not there: {address[:120]}")


def is_outside(address: str) -> bool:
    """Whether loading ``address`` would leave the site's own files; ``data:`` stays inside."""
    plain = address.strip().replace("\\", "/")
    return plain.startswith("//") or _scheme(plain) not in ("", "data")


def _scheme(address: str) -> str:
    match = _SCHEME.match(address)
    return match.group().rstrip(":").lower() if match else ""


def _is_there(address: str, referrer: Path) -> bool:
    if _scheme(address) == "data":
        return True
    if address.startswith("/"):
        return False
    return referrer.parent.joinpath(unquote(urlsplit(address).path)).is_file()


def _unsafe(faults: Sequence[Fault]) -> PublishError:
    shown = [f"    {fault}" for fault in faults[:_SHOWN]]
    if len(faults) > _SHOWN:
        shown.append(f"    ... and {len(faults) - _SHOWN} more")
    listing = "\n".join(shown)
    return PublishError(
        f"{len(faults)} places of the site reach outside its own files or run what they must not:\n{listing}",
        where=faults[0].file,
        remedy="serve the file from site_src/assets, or escape the text that brought the markup in",
    )
