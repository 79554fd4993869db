"""Cost command: ``invoke cost explain TRIAL``, the derivation of one stored trial's cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from runner.costs.bases import Pricing, costs_of
from runner.costs.derivation import Step, derivation
from runner.costs.evidence import Evidence
from runner.costs.price_choice import PriceChoice
from runner.costs.price_lists import Followed, followed_list, known_lists
from runner.engine.places import Places
from runner.engine.stored_trials import selected, stores_of
from runner.errors import UsageError
from runner.records import TrialRecord
from runner.records.upgrade import parse_record
from runner.store import ResultsStore, StoredTrial
from runner.store.layout import TRIAL_FILE

EXPLAIN = "explain"
SHOWN = 12


def cost_command(
    places: Places, say: Callable[[str], None], action: str, trial: str, choice: PriceChoice
) -> int:
    """Print how the cost of ``trial`` came about; returns the exit code.

    Args:
        trial: path of a trial's folder or record, or words of its path in the store.

    Raises:
        UsageError: another action, no such trial, or several that fit.
        ConfigurationError: a price list has faults.
    """
    if action != EXPLAIN:
        raise UsageError(f"there is no {action!r} of a cost", remedy=f"invoke cost {EXPLAIN} TRIAL")
    store, stored = find_trial(places, trial)
    pricing = choice.pricing(places.datasets, store.sweeps())
    if choice.words:
        say(choice.words)
    for step in derivation(stored.record, pricing, _followed(store, stored, pricing)):
        for line in lines_of(step):
            say(line)
    return 0


def lines_of(step: Step) -> Iterator[str]:
    """A step as text: its title, then its lines further in."""
    yield step.title
    for line in step.lines:
        yield f"    {line}"


def find_trial(places: Places, text: str) -> tuple[ResultsStore, StoredTrial]:
    """The one trial that a path or words of its path name.

    Raises:
        UsageError: none fits, or several do.
    """
    for path in (Path(text), places.root / text, places.results / "swe" / text):
        if path.exists():
            folder = (path.parent if path.is_file() else path).resolve()
            found = list(_in_folder(places, folder))
            break
    else:
        words = text.split()
        found = [
            pair
            for pair in selected(places, None, ())
            if all(word in "/".join(pair[1].record.identity.key) for word in words)
        ]
    if len(found) == 1:
        return found[0]
    names = ["/".join(stored.record.identity.key) for _, stored in found[:SHOWN]]
    if not found:
        raise UsageError(
            "no stored trial has this name",
            where=text,
            remedy="give the path of a trial's folder below results/, or words of it",
        )
    raise UsageError(
        f"{len(found)} trials have this name:\n    " + "\n    ".join(names),
        where=text,
        remedy="add words of the path until one is left",
    )


def _in_folder(places: Places, folder: Path) -> Iterator[tuple[ResultsStore, StoredTrial]]:
    """The trials below a folder; the folder of one trial is read without looking at any other."""
    record = folder / TRIAL_FILE
    if not record.is_file():
        yield from selected(places, str(folder), ())
        return
    (root, *_), _ = stores_of(str(folder), places)
    store = ResultsStore(root)
    known = parse_record(TrialRecord, record.read_bytes(), where=str(record))
    yield store, store.trial(known.identity)


def _followed(store: ResultsStore, stored: StoredTrial, pricing: Pricing) -> Followed | None:
    """The price list that the dollars of this agent and model follow, over all of their trials."""
    cell = stored.record.identity.cell
    mine = (cell.harness, cell.provider, cell.model.slug)
    charges, raw_ids = [], set()
    for other in store.trials():
        its = other.record.identity.cell
        if (its.harness, its.provider, its.model.slug) == mine:
            charges += Evidence(other.record, costs_of(other.record, pricing)).charges
            raw_ids.add(its.model.raw_id)
    lists = [each for name in sorted(raw_ids) for each in known_lists(pricing.book, cell.provider, name)]
    return followed_list(charges, lists) if charges else None
