"""Compare board: every pair of cells of one skill and dataset in full tables, complete without scripts."""

from __future__ import annotations

from collections import defaultdict

from generators.pages import links
from generators.pages.pair_tables import count_columns, count_row, pair_table_of, quality_name
from generators.pages.rendering import Crumb, Page
from generators.pages.world import World
from generators.tables.comparisons import Compared
from generators.tables.pair_table import PairTable
from generators.tables.pairs import model_name


def board_page(world: World, pairs: PairTable) -> Page:
    """The page of a pair table: pairs of one model, pairs of one harness, and all others."""
    path = links.compare_page(pairs.skill, pairs.dataset)
    return Page(
        path=path,
        title=f"All pairs: {pairs.title}",
        template="compare_board.md.j2",
        description=f"Every pair of cells with {pairs.skill} on {pairs.dataset}, with its verdict.",
        context={
            "pairs": pairs,
            "quality": quality_name(pairs.kind),
            "counts": [
                (column.title, entry) for column, entry in zip(count_columns(), count_row(pairs), strict=True)
            ],
            "sections": [
                (title, pair_table_of(pairs, rows, path, f"{title}: {pairs.title}"))
                for title, rows in _sections(world, pairs)
            ],
            "links": links,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Compare", links.COMPARE)),
        in_search=False,
    )


def model_pairs(world: World, model: str) -> list[tuple[PairTable, list[Compared]]]:
    """Pairs of cells of one model, whatever name it is filed under; tables without a pair are left out."""
    name = world.aliases.model(model)
    found = []
    for pairs in world.pair_tables:
        cells = [cell for cell in pairs.cells if model_name(cell, world.aliases)[0] == name]
        rows = pairs.among(cells)
        if rows:
            found.append((pairs, rows))
    return found


def _sections(world: World, pairs: PairTable) -> list[tuple[str, list[Compared]]]:
    model, harness, rest = [], defaultdict(list), []
    for each in pairs.compared:
        one, two = each.first, each.second
        if model_name(one, world.aliases)[0] == model_name(two, world.aliases)[0]:
            model.append(each)
        elif one.identity.harness == two.identity.harness:
            harness[one.identity.harness].append(each)
        else:
            rest.append(each)
    sections = [("The same model", model)]
    sections += [(f"{name} with different models", harness[name]) for name in sorted(harness)]
    sections += [("Different models and harnesses", rest)]
    return [(title, rows) for title, rows in sections if rows]
