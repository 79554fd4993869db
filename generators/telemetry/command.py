"""Command: ``invoke telemetry``, from an archive to its page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from generators.telemetry.page import render
from generators.telemetry.panels import read_telemetry
from generators.telemetry.reading import open_archive
from runner.errors import PublishError
from runner.store import model_slug

Say = Callable[[str], None]


def telemetry_command(archive: Path, output: Path | None, say: Say) -> int:
    """Write the page of ``archive``; returns 0.

    Args:
        archive: database of a collector; the newest scrapes of one that is still at work are not in it.
        output: file to write; None for one beside the archive, named after it and its model.
        say: gets a line for the file.

    Raises:
        PublishError: the page cannot be written.
        StoreError: it is no archive.
        UsageError: there is no such archive.
    """
    with open_archive(archive) as opened:
        found = read_telemetry(opened)
    path = output or archive.with_name(page_name(archive.stem, found.models))
    try:
        path.write_text(render(found, archive.name), encoding="utf-8")
    except OSError as error:
        raise PublishError(f"the page cannot be written: {error.strerror}", where=str(path)) from None
    say(f"{found.scrapes.answered:,} scrapes over {found.span:,.0f} s: {path}")
    if archive.with_name(f"{archive.name}.spool").exists():
        say("a collector is at work on it, or was killed: the newest scrapes are not on the page")
    return 0


def page_name(stem: str, models: tuple[str, ...]) -> str:
    """Name of the page: that of the archive, with the model's slug before it where it is not in it."""
    slug = model_slug(models[0]) if models else ""
    return f"{stem}.html" if slug in stem else f"{slug}_{stem}.html"
