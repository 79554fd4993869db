"""Decide: which pair for my budget and my quality floor, on top of the home page.

The answer for one common question and a table for some more are written here; for any other the reader's
browser decides from the file of the board, by the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.escape.html import Json
from generators.pages import decide_data, decide_figures, decide_words, links, words
from generators.pages.decide_figures import Told
from generators.pages.rendering import Asset
from generators.pages.table import Column, Entry, Flag, Table, table
from generators.pages.world import World
from generators.statistics.verdict import Kind
from generators.tables.boards import Board, build_boards
from generators.tables.decision import Wish, decide
from runner.records import Hosting

FLOOR = 60.0
"""What is asked for first."""
FLOORS = (40.0, 50.0, 60.0, 70.0, 75.0)
OFFERED = (Hosting.VENDOR_API, Hosting.CLOUD, Hosting.SELF_HOSTED, Hosting.VENDOR_MANAGED)
COLUMNS = (
    Column("Cell"),
    Column("Score", "number", "Mean over scored trials; a failed trial counts as 0 against the floor"),
    Column("Reaches the floor", "number", "Whether the interval over at least six tasks says so"),
    Column("Cost per task", "number", "Mean cost of the graded trials whose cost is known"),
    Column("Minutes per task", "number"),
    Column("Hosting"),
    Column("On the frontier", "number", "Probability of being on the frontier of its cost basis"),
    Column("Against the answer", "text", "Verdict on the scores of this cell and the cheapest one"),
)


@dataclass(frozen=True)
class Chosen:
    """A board that a reader can choose."""

    name: str
    href: str
    common: Table


@dataclass(frozen=True)
class Section:
    """What the home page needs of it."""

    boards: tuple[Chosen, ...]
    hosting: tuple[tuple[str, str], ...]
    """Kinds of hosting that cells have: the value in addresses, and its words."""
    harnesses: tuple[str, ...]
    floor: float
    answer: dict[str, Json]
    shortlist: Table
    assets: tuple[Asset, ...]
    dataset_href: str


def section(world: World, page: str) -> Section | None:
    """The form, the first answer and the files of all boards; None where there is nothing to choose from."""
    found = [(skill, decide_data.told(world, board, page)) for skill, board in _boards(world)]
    if not found:
        return None
    front = found[0][1]
    wish = Wish(floor=FLOOR)
    view = decide_words.view(front, decide(front.choices, wish), wish)
    cells = [each for _, told in found for each in told.choices.candidates]
    kinds = {each.hosting for each in cells}
    dataset = front.choices.board.dataset
    return Section(
        boards=tuple(
            Chosen(
                f"{name} on {told.choices.board.dataset}",
                links.relative(page, data_path(name, told.choices.board, world.prefix)),
                common(told, name),
            )
            for name, told in found
        ),
        hosting=tuple((kind.value, words.hosting(kind)) for kind in OFFERED if kind.value in kinds),
        harnesses=tuple(sorted({each.harness for each in cells})),
        floor=FLOOR,
        answer=view,
        shortlist=shortlist(view["rows"]),
        assets=tuple(
            Asset(data_path(name, told.choices.board, world.prefix), decide_data.content(told, name))
            for name, told in found
        ),
        dataset_href=links.relative(page, links.dataset_page(dataset, world.prefix)),
    )


def data_path(skill: str, board: Board, prefix: str = "") -> str:
    """Where the file of a board lies."""
    return f"{prefix}data/decide/{skill}-{board.dataset}.json"


def shortlist(rows: Json) -> Table:
    """The cells that do what is asked, cheapest first."""
    lines = [
        [_entry(part, column) for part, column in zip(_sequence(row), COLUMNS, strict=True)]
        for row in _sequence(rows)
    ]
    return table("Cells that do what you ask, cheapest first", COLUMNS, lines)


def common(told: Told, skill: str) -> Table:
    """The answers for some floors and kinds of hosting, for readers without scripts."""
    present = {each.hosting for each in told.choices.candidates}
    kinds: list[tuple[str, frozenset[str] | None]] = [("Any hosting", None)]
    kinds += [
        (_capital(words.hosting(kind)), frozenset({kind.value})) for kind in OFFERED if kind.value in present
    ]
    if len(kinds) == 2:
        kinds = kinds[:1]
    rows = []
    for floor in FLOORS:
        row = [Entry(f"{floor:g} or more", floor)]
        row += [_common(told, Wish(floor=floor, hosting=allowed)) for _, allowed in kinds]
        rows.append(row)
    name = f"{skill} on {told.choices.board.dataset}"
    columns = [Column("Score" if told.choices.kind is Kind.SCORE else "Resolved")]
    columns += [Column(title) for title, _ in kinds]
    return table(f"Cheapest cell by floor and hosting: {name}", columns, rows, sortable=False)


def _common(told: Told, wish: Wish) -> Entry:
    found = decide(told.choices, wish)
    at = found.answer
    if at is None:
        return Entry("none here", unknown=True)
    held = found.holds[0]
    flag = told.flags[at]
    note = f"{told.price(at)}; score {decide_figures.score(told, at)}; reaches it: {held.word.value}"
    return Entry(
        told.names[at], href=told.hrefs[at], note=note, flag=Flag(flag[0], flag[1]) if flag else None
    )


def _boards(world: World) -> list[tuple[str, Board]]:
    """Every skill and dataset with a cell that has a score or checks; the front one first."""
    pairs = sorted({(cell.identity.skill, cell.identity.dataset) for cell in world.cells})
    pairs.sort(key=lambda pair: (pair != world.widest, pair))
    found = []
    for skill, dataset in pairs:
        boards = build_boards(world.select(skill=skill, dataset=dataset))
        found += [
            (skill, board)
            for board in boards[:1]
            if any(cell.has_scores or cell.has_checks for cell in board.cells)
        ]
    return found


def _entry(part: Json, column: Column) -> Entry:
    first, second, *rest = _sequence(part)
    if column is COLUMNS[0]:
        return Entry(str(first), href=str(second), note=str(rest[0]))
    sort = rest[0] if rest and isinstance(rest[0], (int, float)) else None
    flag = [str(each) for each in _sequence(rest[1])] if len(rest) > 1 and rest[1] else None
    return Entry(str(first), sort, note=str(second), flag=Flag(flag[0], flag[1]) if flag else None)


def _sequence(value: Json) -> Sequence[Json]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    raise TypeError("a view holds sequences here")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
