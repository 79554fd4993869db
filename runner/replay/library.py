"""Library: the cassettes of a folder, found by dataset and model."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ConfigurationError
from runner.replay.cassette import Cassette, load_cassette


@dataclass(frozen=True)
class Library:
    """Every cassette below ``folder``, laid out as ``<dataset>/<model>.jsonl``."""

    folder: Path
    cassettes: Mapping[tuple[str, str], Cassette]

    def models(self, dataset: str | None = None) -> dict[str, int]:
        """Context window by model id, of one dataset or of all (the smallest where they differ)."""
        windows: dict[str, int] = {}
        for (owner, model), cassette in sorted(self.cassettes.items()):
            if dataset is None or owner == dataset:
                window = cassette.header.context_window
                windows[model] = min(window, windows.get(model, window))
        return windows

    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that have a cassette."""
        return tuple(sorted({dataset for dataset, _ in self.cassettes}))


def open_library(folder: Path) -> Library:
    """Read every cassette below ``folder``.

    Raises:
        ConfigurationError: the folder is missing or empty, or cassettes have faults (all of them listed).
    """
    paths = sorted(folder.glob("*/*.jsonl"))
    if not paths:
        raise ConfigurationError(
            "there are no cassettes here",
            where=str(folder),
            remedy="name a folder that holds <dataset>/<model>.jsonl",
        )
    cassettes: dict[tuple[str, str], Cassette] = {}
    faults: list[str] = []
    for path in paths:
        try:
            cassette = load_cassette(path)
        except ConfigurationError as error:
            faults.append(f"{error.what}\n  where: {error.where}")
            continue
        header = cassette.header
        if (header.dataset, header.model) != (path.parent.name, path.stem):
            faults.append(
                f"{path.parent.name}/{path.name}:1: the header names dataset {header.dataset!r} and model "
                f"{header.model!r}, the path another"
            )
        cassettes[(header.dataset, header.model)] = cassette
    if faults:
        raise ConfigurationError("\n".join(faults), remedy="put the named lines right")
    return Library(folder, cassettes)


def nearest(name: str, known: tuple[str, ...] | list[str]) -> str:
    """A sentence that helps after a wrong name: the nearest known one, or all of them."""
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + (", ".join(sorted(known)) or "none")


def recorded_models(folder: Path, dataset: str) -> tuple[str, ...]:
    """Model ids that have a cassette for ``dataset``, in alphabetical order.

    Raises:
        ConfigurationError: the folder holds no cassettes, or faulty ones.
    """
    return tuple(open_library(folder).models(dataset))
