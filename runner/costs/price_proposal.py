"""Price proposal: what another list would change in the price files, as a diff that is reviewed."""

from __future__ import annotations

import difflib
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

from runner.costs.price_book import load_price_book
from runner.costs.price_candidate import Candidate
from runner.costs.price_files import PlacedRow, PriceSource, placed_rows, read_price_file
from runner.costs.price_row import PriceKey, RowPrices
from runner.costs.price_text import new_file, row_text, with_end, with_rows, with_source
from runner.errors import ConfigurationError

DAY = timedelta(days=1)
NOT_KEPT = "No row was kept for the days between."


@dataclass(frozen=True)
class Proposal:
    """Files as they would read, by name, and how many candidates came to what."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    outcomes: Counter[str]

    @property
    def changed(self) -> tuple[str, ...]:
        """Names of the files that would change, in order."""
        return tuple(name for name in sorted(self.after) if self.after[name] != self.before.get(name, ""))

    def diff(self) -> str:
        """One unified diff of all files; empty where nothing would change."""
        parts: list[str] = []
        for name in self.changed:
            old = self.before.get(name)
            parts += difflib.unified_diff(
                [] if old is None else old.splitlines(keepends=True),
                self.after[name].splitlines(keepends=True),
                "/dev/null" if old is None else f"a/{name}",
                f"b/{name}",
            )
        return "".join(parts)

    def write(self, folder: Path) -> None:
        """Put the changed files into ``folder``, each whole or not at all.

        Raises:
            ConfigurationError: the folder cannot be written to.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in self.changed:
                whole = folder / f".{name}.new"
                whole.write_text(self.after[name], encoding="utf-8")
                whole.replace(folder / name)
        except OSError as error:
            raise ConfigurationError(f"cannot be written: {error}", where=str(folder)) from None


@dataclass(frozen=True)
class _Change:
    """A row to be added, and the position in its file of the row that ends before it."""

    candidate: Candidate
    first: date
    file: str
    ends: int | None
    gap_note: str


def propose(
    folder: Path, candidates: Sequence[Candidate], source: PriceSource, name: str, today: date
) -> Proposal:
    """What ``candidates`` change in the files of ``folder``; nothing is written.

    A price that is not in the book becomes a row; one that differs from the open row of its key ends that
    row the day before. A candidate without a first day holds from ``today``. ``name`` is the key under
    which ``source`` stands in each file.

    Raises:
        ConfigurationError: the files have faults, cannot be edited, or would have faults afterwards.
    """
    paths = sorted(folder.glob("*.yaml"))
    before = {path.name: path.read_text(encoding="utf-8") for path in paths}
    placed = placed_rows(paths)
    by_key: dict[PriceKey, list[PlacedRow]] = {}
    for each in placed:
        by_key.setdefault(each.row.key, []).append(each)
    outcomes: Counter[str] = Counter()
    added: dict[PriceKey, Candidate] = {}
    changes: list[_Change] = []
    for candidate in candidates:
        mine = by_key.get(candidate.key, [])
        change = _change(candidate, mine, added.get(candidate.key), today, outcomes)
        if change is not None:
            added[candidate.key] = candidate
            changes.append(change if change.file else replace(change, file=_file_of(candidate, placed)))
    after = dict(before)
    for file in sorted({change.file for change in changes}):
        here = [change for change in changes if change.file == file]
        after[file] = _edited(folder / file, before.get(file), here, source, name, today)
    proposal = Proposal(before, after, outcomes)
    _check(proposal)
    return proposal


def _change(
    candidate: Candidate,
    rows: Sequence[PlacedRow],
    before: Candidate | None,
    today: date,
    outcomes: Counter[str],
) -> _Change | None:
    """What becomes of ``candidate`` beside the ``rows`` of its key and the one proposed ``before`` it."""
    first = candidate.effective_from or today
    mine = sorted(rows, key=lambda each: each.row.effective_from)
    holding = next((each for each in mine if each.row.holds_on(first)), None)
    if holding is not None and _agrees(candidate.prices, holding.row.prices):
        outcomes["unchanged"] += 1
        return None
    if any(each.row.effective_from >= first for each in mine):
        outcomes["not proposed: a row of the book starts on that day or later"] += 1
        return None
    if holding is not None and holding.row.effective_to is not None:
        outcomes["not proposed: the row of that day has its last day already"] += 1
        return None
    if before is not None and (before.effective_to is None or before.effective_to >= first):
        outcomes["not proposed: another price of the list holds on that day"] += 1
        return None
    if holding is not None and before is None:
        outcomes["changed prices"] += 1
        return _Change(candidate, first, holding.path.name, holding.number, "")
    last = before.effective_to if before else (mine[-1].row.effective_to if mine else None)
    outcomes["new rows"] += 1
    return _Change(candidate, first, "", None, NOT_KEPT if last is not None and first - last > DAY else "")


def _agrees(said: RowPrices, kept: RowPrices) -> bool:
    """Whether ``kept`` has every price that is ``said``; a list that knows fewer classes changes nothing."""
    known = kept.model_dump()
    return all(known[name] == price for name, price in said.model_dump(exclude_none=True).items())


def _file_of(candidate: Candidate, placed: Sequence[PlacedRow]) -> str:
    """The file with rows of the model, else with rows of the same maker or provider, else a new one."""
    of_provider = [each for each in placed if each.row.provider == candidate.provider]
    maker = candidate.model.split(".")[0] + "."
    for wanted in (
        [each for each in of_provider if each.row.model == candidate.model],
        [each for each in of_provider if each.row.model.startswith(maker)],
        of_provider,
    ):
        if wanted:
            return wanted[-1].path.name
    return f"{candidate.provider}.yaml"


def _edited(
    path: Path, text: str | None, changes: Sequence[_Change], source: PriceSource, name: str, today: date
) -> str:
    rows = [row_text(each.candidate, name, each.first, today, each.gap_note) for each in changes]
    try:
        if text is None:
            return with_rows(with_source(new_file(changes[0].candidate.provider), name, source), rows)
        file, document = read_price_file(path)
        for change in sorted(changes, key=lambda each: -1 if each.ends is None else each.ends, reverse=True):
            if change.ends is not None:
                text = with_end(text, document, change.ends, change.first - DAY)
        if file.sources.get(name, source) != source:
            raise ConfigurationError(
                f"the file has another source named {name}",
                remedy=f"say {file.sources[name].version!r} for the release, or another one",
            )
        text = text if name in file.sources else with_source(text, name, source)
        return with_rows(text, rows)
    except ConfigurationError as error:
        raise ConfigurationError(error.what, where=str(path), remedy=error.remedy) from None


def _check(proposal: Proposal) -> None:
    """Read the files as they would be: a proposal that cannot be loaded is never made."""
    with tempfile.TemporaryDirectory() as folder:
        proposed = replace(proposal, before={})
        proposed.write(Path(folder))
        load_price_book(Path(folder))
