"""Board tables: the tables that home, harness, skill, dataset and comparison pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from generators.pages import links, words
from generators.pages.charting import label
from generators.pages.dollar_entries import cell_cost
from generators.pages.money_flag import flagged
from generators.pages.table import Column, Entry, Table, link_entry, table, value_entry
from generators.pages.world import World
from generators.statistics.frontier import FEW_TASKS
from generators.tables.boards import Board, Placement
from generators.tables.cells import Cell, CellKey
from generators.tables.quality import explain
from generators.tables.sample import Unit
from generators.tables.scoring import ScoreState
from runner.records import CostBasis

SCORE = "Mean judge score of the scored trials, 0 to 100, with n scored of m planned"
COST = "Mean cost of the graded trials whose cost is known, with their number"
MEMBERSHIP = "How often the cell is on its basis' frontier when the tasks are drawn again"


def cells_table(
    world: World,
    cells: Sequence[Cell],
    page: str,
    *,
    label_text: str,
    harness: bool,
    board: Board | None = None,
    reasons: Mapping[CellKey, str] | None = None,
) -> Table:
    """Every cell with its main figures.

    Args:
        world: where the cells come from.
        cells: rows, in the order shown.
        page: the page that shows the table.
        label_text: what the table holds, for those who cannot see it.
        harness: whether to show harness and skill columns; turns are shown only without them (T-41).
        board: the board the cells stand on, for the frontier columns.
        reasons: what to say below the name of a cell.
    """
    here = partial(links.relative, page)
    checks = any(cell.has_checks for cell in cells)
    judged = any(cell.has_scores for cell in cells) or not checks
    columns = [Column("Model"), *([Column("Harness"), Column("Skill")] if harness else [])]
    columns += [Column("Resolved", "number", "Trials in which every check passed")] if checks else []
    columns += [Column("Mean score", "number", SCORE)] if judged else []
    columns += [Column("Cost per task", "number", COST), Column("Cost basis")]
    columns += [Column("Tokens per task", "number"), Column("Minutes per task", "number")]
    columns += [] if harness else [Column("Turns per task", "number")]
    columns += [Column("Frontier"), Column("Membership", "number", MEMBERSHIP)] if board else []
    columns += [Column("Warnings", "number", "Data-quality warnings; the cell's page has them in words")]
    rows = []
    for cell in cells:
        said = (reasons or {}).get(cell.key)
        note = f"{cell.identity.provider}; {said}" if said else cell.identity.provider
        row = [link_entry(label(cell), here(world.cell_page(cell)), note)]
        if harness:
            row += _names(world, cell, page)
        if checks:
            row.append(value_entry(cell.figures["resolved_share"], Unit.PERCENT))
        if judged:
            row.append(score_entry(cell))
        row += [
            flagged(world, cost_figure(cell), cell, page),
            Entry(basis_word(cell), note=words.hosting(cell.hosting)),
        ]
        row.append(value_entry(cell.figures["tokens_per_task"], Unit.TOKENS, count_below=True))
        row.append(value_entry(cell.figures["minutes_per_task"], Unit.MINUTES, count_below=True))
        if not harness:
            row.append(value_entry(cell.figures["turns_per_task"], Unit.TURNS, count_below=True))
        if board:
            row += _frontier_entries(board, cell)
        amount = len(cell.warnings())
        row.append(Entry(str(amount), float(amount)))
        rows.append(row)
    marked = [bool(board and _on_frontier(board, cell)) for cell in cells]
    return table(label_text, columns, rows, marked=marked)


def cost_figure(cell: Cell) -> Entry:
    """Cost per task of a cell with its n of m, or why there is none."""
    return cell_cost(cell)


def basis_word(cell: Cell) -> str:
    """What the costs of a cell rest on."""
    return words.basis(CostBasis.NONE if cell.free_by_design else cell.basis)


def score_entry(cell: Cell) -> Entry:
    """The mean score with its interval; below it the mean with failures, and bounds where trials are open."""
    entry = value_entry(cell.figures["mean_score"], Unit.POINTS)
    notes = [entry.note] if entry.note else []
    if cell.sample.failed and not entry.unknown:
        zero = cell.figures["score_with_failures"].amount
        notes.append(f"{zero:.1f} with failures as 0")
    return Entry(entry.text, entry.sort, note="; ".join(notes), unknown=entry.unknown)


def frontier_table(world: World, board: Board, basis: CostBasis | None, page: str, *, harness: bool) -> Table:
    """The frontier within a basis (None: across bases, directional only), each step with what it adds."""
    columns = [Column("Model"), *([Column("Harness")] if harness else [])]
    columns += [Column("Mean score", "number", SCORE), Column("Cost per task", "number", COST)]
    columns += [Column("Cost basis")] if basis is None else []
    columns += [Column("Cost added", "number"), Column("Score added", "number")]
    columns += [Column("Dollars for each point more", "number")]
    columns += [] if basis is None else [Column("Membership", "number", MEMBERSHIP)]
    rows, previous = [], None
    for place in board.frontier(basis):
        cell = place.cell
        row = [link_entry(label(cell), links.relative(page, world.cell_page(cell)))]
        row += [Entry(cell.identity.harness)] if harness else []
        cost = value_entry(cell.figures["cost_per_task"], Unit.DOLLARS)
        row += [score_entry(cell), flagged(world, cost, cell, page)]
        row += [Entry(words.basis(place.basis))] if basis is None else []
        row += _step(previous, place)
        row += [] if basis is None else [Entry(words.percent(place.membership), place.membership)]
        rows.append(row)
        previous = place
    name = (
        "across cost bases, directional only"
        if basis is None
        else f"within {words.basis_adjective(basis)} costs"
    )
    return table(f"Frontier {name}", columns, rows, sortable=False)


def named_trials(world: World, cells: Sequence[Cell], page: str) -> Table | None:
    """Failed, unscored and missing trials by name; None when there is none."""
    rows: list[list[Entry]] = []
    for cell in cells:
        for trial in cell.counted:
            if trial.state is ScoreState.SCORED or (trial.resolved is not None and not cell.has_scores):
                continue
            rows.append(
                [
                    link_entry(label(cell), links.relative(page, world.cell_page(cell))),
                    Entry(cell.identity.harness),
                    _task_link(world, cell, trial.task, page),
                    Entry(words.STATE_WORDS[trial.state]),
                    Entry(trial.state_reason),
                ]
            )
        for task, number in cell.missing:
            rows.append(
                [
                    link_entry(label(cell), links.relative(page, world.cell_page(cell))),
                    Entry(cell.identity.harness),
                    _task_link(world, cell, task, page),
                    Entry("missing"),
                    Entry(f"trial {number} was planned and has no record"),
                ]
            )
    if not rows:
        return None
    columns = [
        Column("Model"),
        Column("Harness"),
        Column("Task", wide=True),
        Column("State"),
        Column("Why", wide=True),
    ]
    return table("Trials that are not in the mean scores", columns, rows)


def warning_summary(cells: Sequence[Cell], page: str) -> Table | None:
    """Warning codes of these cells with how often and where they occur; None when there is none."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        for warning, _ in cell.warnings():
            found.setdefault(warning.code, []).append(cell)
    if not found:
        return None
    rows = []
    for code in sorted(found, key=lambda code: (-len(found[code]), code)):
        names = list(dict.fromkeys(label(cell) for cell in found[code]))
        amount = len(found[code])
        rows.append(
            [
                Entry(code, href=links.relative(page, links.QUALITY, code), code=True),
                Entry(explain(code)),
                Entry(str(amount), float(amount)),
                Entry(words.listing(names, 6)),
            ]
        )
    columns = [
        Column("Warning"),
        Column("What it means", wide=True),
        Column("Times", "number"),
        Column("Cells", wide=True),
    ]
    return table("Data-quality warnings", columns, rows)


def few_tasks(board: Board) -> bool:
    """Whether a point off the frontier may only be called "not seen on the frontier"."""
    return len(board.tasks) < FEW_TASKS


def _names(world: World, cell: Cell, page: str) -> list[Entry]:
    harness, skill = cell.identity.harness, cell.identity.skill
    target = links.harness_skill_page(harness, skill, world.prefix)
    return [
        link_entry(harness, links.relative(page, links.harness_page(harness, world.prefix))),
        link_entry(skill, links.relative(page, target)),
    ]


def _task_link(world: World, cell: Cell, task: str, page: str) -> Entry:
    return link_entry(task, links.relative(page, links.task_page(cell.identity.dataset, task, world.prefix)))


def _on_frontier(board: Board, cell: Cell) -> bool:
    placement = board.placement(cell)
    return placement is not None and placement.on_basis_frontier


def _frontier_entries(board: Board, cell: Cell) -> list[Entry]:
    placement = board.placement(cell)
    if placement is None:
        return [Entry("no point", unknown=True), Entry("no point", None, unknown=True)]
    if placement.on_basis_frontier:
        word = "on it" if placement.on_combined_frontier else "on it, within its basis"
    else:
        word = "not seen on it" if few_tasks(board) else "off"
    return [Entry(word), Entry(words.percent(placement.membership), placement.membership)]


def _step(previous: Placement | None, place: Placement) -> list[Entry]:
    if previous is None:
        return [Entry("start", None), Entry("start", None), Entry("start", None)]
    cost, score = place.cost - previous.cost, place.score - previous.score
    per_point = cost / score if score > 0 else None
    return [
        Entry(words.signed(cost, Unit.DOLLARS), cost),
        Entry(words.signed(score, Unit.POINTS), score),
        Entry("equal score", None) if per_point is None else Entry(words.dollars(per_point), per_point),
    ]
