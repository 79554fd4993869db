"""Listing: for each harness what is installed, and which providers it can use, with the reason where not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ConfigurationError
from runner.harnesses.base import Harness
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Source
from runner.harnesses.installer import folder_size
from runner.harnesses.registry import HARNESSES, asked_as, harness

ASKED_AT_ONCE = 4
"""Programs that are started at a time to say their version; some take 350 MB for that."""


@dataclass(frozen=True)
class Listed:
    """One harness on this machine."""

    name: str
    title: str
    pinned: str | None
    """The version the module was written against; None for one that comes with Harnessmark."""
    version: str | None
    """The version that is there, as the program says it; None where it is not installed."""
    size_bytes: int | None
    state: str
    """``ready``, or what is wrong and what to do about it."""
    protocols: tuple[WireProtocol, ...]
    providers: Mapping[str, str | None]
    """By provider: None where the harness can use it, else the reason why it cannot."""
    note: str

    @property
    def usable_providers(self) -> tuple[str, ...]:
        """Providers it can use."""
        return tuple(name for name, reason in self.providers.items() if reason is None)

    def lines(self) -> list[str]:
        """The harness as a user reads it: what is there, then each provider that it cannot use and why."""
        size = "" if self.size_bytes is None else f", {self.size_bytes / 1e6:.0f} MB"
        there = self.state if self.version is None else f"{self.version}{size}; {self.state}"
        usable = ", ".join(self.usable_providers) or "none"
        lines = [f"{self.name} ({self.title}): {there}; providers: {usable}"]
        lines += [f"  not {name}: {reason}" for name, reason in self.providers.items() if reason]
        return [*lines, f"  {self.note}"] if self.note else lines


def listing(
    installed: Path,
    providers: Mapping[str, Sequence[WireProtocol]],
    names: Sequence[str] | None = None,
) -> Iterator[Listed]:
    """A row for each harness as soon as it was looked at, in the order of their names.

    Args:
        installed: where ``invoke harness-install`` puts programs.
        providers: protocols by provider, as the registry of providers has them.
        names: only these harnesses.

    Raises:
        UsageError: there is no such harness.
    """
    wanted = [harness(name) for name in names or sorted(HARNESSES)]
    return _asked(wanted, installed, providers)


def _asked(
    wanted: Sequence[Harness], installed: Path, providers: Mapping[str, Sequence[WireProtocol]]
) -> Iterator[Listed]:
    """Rows in the order of ``wanted``; the next ones are being looked at while one is shown."""
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        yield from pool.map(lambda each: _listed(each, installed, providers), wanted)


def _listed(found: Harness, installed: Path, providers: Mapping[str, Sequence[WireProtocol]]) -> Listed:
    installation = found.installation
    version, state = None, "ready"
    try:
        version = found.version(installed)
    except ConfigurationError as error:
        state = f"{error.what}; {error.remedy}" if error.remedy else error.what
    pinned = installation.version if installation else None
    if version is not None and installation is not None and version != pinned:
        state = _another(version, installation, asked_as(found, found.name))
    folder = installation.folder(installed, found.name) if installation else None
    return Listed(
        name=found.name,
        title=found.title,
        pinned=pinned,
        version=version,
        size_bytes=folder_size(folder) if folder and folder.is_dir() else None,
        state=state,
        protocols=found.protocols,
        providers={name: cannot_use(found, offered) for name, offered in providers.items()},
        note=installation.note if installation else "",
    )


def _another(version: str, installation: Installation, asked: str) -> str:
    """What to do about another version than the pinned one."""
    if installation.source is Source.BY_HAND:
        return f"ready; its adapter was written against {installation.version}"
    return f"version {version} is there, {installation.version} is pinned; invoke harness-install {asked}"


def cannot_use(found: Harness, offered: Sequence[WireProtocol]) -> str | None:
    """Why ``found`` cannot reach a model behind a provider that offers these protocols; None where it can."""
    if set(found.protocols) & set(offered):
        return None
    if not found.protocols:
        return f"{found.name} drives only the models of its own vendor"
    return f"{found.name} speaks {_words(found.protocols)}; the provider offers {_words(offered) or 'no API'}"


def _words(protocols: Sequence[WireProtocol]) -> str:
    names = [protocol.value for protocol in protocols]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1] if names else ""]))
