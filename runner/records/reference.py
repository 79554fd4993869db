"""Reference: what the code says of itself, for the pages of the site that describe it."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from runner.records.base import Count, Part, Slug

Counts = dict[str, int | None]
"""Tokens by class: ``fresh``, ``read``, ``write``, ``output`` and ``reasoning``; null is unknown."""


class HarnessReference(Part):
    """How a harness is installed, what it can reach, and how it is driven and read."""

    name: Slug
    title: str
    homepage: str | None
    source: str = Field(description="npm, pypi, by-hand, or built-in")
    package: str | None
    version: str | None = Field(description="the pinned one")
    runtime: str | None = Field(description="what is installed with it, such as node; null for none")
    installation_note: str
    protocols: tuple[str, ...]
    providers: tuple[str, ...] = Field(description="those it can use")
    unusable_providers: dict[str, str] = Field(description="by provider, the reason")
    delegates: bool = Field(description="whether it can start subagents")
    memory_mb: int = Field(ge=1, description="most memory seen, 10^6 bytes")
    turns_definition: str
    cache_semantics: str
    notes: tuple[str, ...]


class ProviderReference(Part):
    """A hosting path in a user's words."""

    name: Slug
    summary: str
    protocols: tuple[str, ...]
    flags: str = Field(description="what to add to invoke run")
    credentials: str
    notes: tuple[str, ...]


class AccountingRow(Part):
    """One run of a harness against the built-in model server: its counts beside the server's own."""

    harness: Slug
    version: str
    protocol: str
    case: Slug
    title: str = Field(description="what happened in the run")
    requests: Count
    answered: Count
    turns: Count | None
    retries: Count | None
    stop_reason: str
    is_error: bool
    warnings: tuple[str, ...]
    recorded: Counts
    true: dict[str, int]
    told_of_broken_answers: dict[str, int]
    agrees: bool
    explanation: str = Field(description="why counts differ, in the adapter's own words; empty where equal")
    stand_in: bool = Field(description="whether a stand-in played recorded output for the program")
    taken_on: date


class Definition(Part):
    """What one word or figure of a benchmark means, in the words of the code that makes it."""

    name: str = Field(description="unique; figures have the name of their column")
    group: str
    text: str = Field(description="``like this``: a name or formula; empty where the formula says all")
    formula: str = Field(default="", description="of two moments, where that is all")


class AccountingReport(Part):
    """The newest rows of every harness that was ever run so."""

    rows: tuple[AccountingRow, ...]
