"""Money flag: the mark on every cost that another way to know it contradicts by more than 5 %."""

from __future__ import annotations

from dataclasses import replace

from generators.pages import links
from generators.pages.table import Entry, Flag
from generators.pages.world import World
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from runner.costs.cell_reconciliation import CellReconciliation
from runner.costs.disagreement import BAND, CLASSES, Reason
from runner.costs.reconciliation import TrialReconciliation


def flagged(world: World, entry: Entry, of: Cell | TrialFacts, page: str) -> Entry:
    """``entry`` with the mark, where the money figures of the cell or trial that it shows disagree.

    Args:
        world: where the cell or trial comes from.
        entry: its dollars as a page shows them; an unknown amount gets the mark, too.
        of: the cell or trial.
        page: source path of the page that shows the entry.
    """
    return replace(entry, flag=flag_of(world, of, page))


def flag_of(world: World, of: Cell | TrialFacts, page: str) -> Flag | None:
    """The mark itself: what it says and where it leads; None where the figures do not disagree."""
    found = world.reconciled.cell(of) if isinstance(of, Cell) else world.reconciled.trial(of)
    if found is None or not found.beyond:
        return None
    reason = found.reason or Reason.UNEXPLAINED
    text = f"Money figures differ by more than {BAND}{_ratio(found)}: {CLASSES[reason].title}"
    target = links.reconciliation_page(world.prefix)
    return Flag(text, links.relative(page, target, reason.value))


def _ratio(found: CellReconciliation | TrialReconciliation) -> str:
    ratio = found.main.ratio if found.main else None
    return "" if ratio is None else f", ratio {ratio_words(ratio)}"


def ratio_words(ratio: float) -> str:
    """A ratio with three decimals near 1 and fewer far from it: ``0.909``, ``2.34``, ``58``."""
    if ratio < 0.01:
        return f"{ratio:.2g}"
    return f"{ratio:.3f}" if ratio < 2 else f"{ratio:.2f}" if ratio < 20 else f"{ratio:,.0f}"
