"""Registry of importers: a name, or an import path, to the function that imports."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from runner.errors import UsageError
from runner.importers.report import ImportReport, Progress
from runner.store import ResultsStore


class Importer(Protocol):
    """Reads folders or files, writes records into a store, and reports on every file."""

    def __call__(
        self, folders: Sequence[Path], store: ResultsStore, *, progress: Progress | None = None
    ) -> ImportReport: ...


IMPORTERS: Mapping[str, str] = {
    "published": "runner.importers.published:import_published",
}


def importer(name: str) -> Importer:
    """The importer registered as ``name``, or the one at the import path ``package.module:Name``.

    Raises:
        UsageError: there is no such importer.
    """
    target = IMPORTERS.get(name, name)
    module_name, separator, attribute = target.partition(":")
    if not separator:
        close = difflib.get_close_matches(name, IMPORTERS, n=1)
        raise UsageError(
            f"no importer named {name!r}",
            remedy=f"did you mean {close[0]}?" if close else f"known: {', '.join(sorted(IMPORTERS))}",
        )
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"importer {name!r} cannot be loaded: {error}", remedy="use package.module:Name"
        ) from None
    if not callable(found):
        raise UsageError(f"importer {name!r} is not a function", remedy="use package.module:Name")
    function: Importer = found
    return function
