"""Cell: every figure of one cell, its tasks, judge, serving, warnings, sources and downloads."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.board_tables import few_tasks
from generators.pages.cell_tables import (
    artifact_table,
    figure_table,
    left_out,
    source_table,
    task_table,
    tier_table,
    warning_table,
)
from generators.pages.certainty_facts import certainty_facts
from generators.pages.charting import radars
from generators.pages.dollar_entries import machine_prices, ways_table
from generators.pages.harness_skill import crumbs
from generators.pages.interval_words import sureness
from generators.pages.judge import judge_page
from generators.pages.money_flag import flag_of
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Entry, count_entry
from generators.pages.tier_chart import tier_chart
from generators.pages.world import World
from generators.statistics.frontier import FEW_TASKS
from generators.statistics.intervals import mean_interval
from generators.tables.boards import Board, task_means
from generators.tables.cells import Cell
from generators.tables.exports import summary_paths
from generators.tables.figures import BY_NAME
from generators.tables.sample import Unit
from runner.costs.hardware import HardwareRate
from runner.records import CostBasis, Hosting
from runner.store.layout import trial_folder

HOSTING_NOTES = {
    Hosting.VENDOR_MANAGED: "version and settings may differ from those of the same name elsewhere"
}
Facts = list[tuple[str, Entry]]


def pages(world: World) -> Iterator[Page]:
    """One page for each cell."""
    for cell in world.cells:
        yield _page(world, cell)


def cell_title(cell: Cell) -> str:
    """Name of a cell as a reader sees it."""
    identity = cell.identity
    effort = f" ({identity.effort})" if identity.effort else ""
    return f"{identity.model.slug}{effort}, {identity.harness}, {identity.skill}, {identity.dataset}"


def _page(world: World, cell: Cell) -> Page:
    path = world.cell_page(cell)
    identity = cell.identity
    board = world.board_of(cell)
    prefix = "demonstration-" if world.demonstration else ""
    slug = f"{prefix}radar-cell-{'-'.join(cell.key)}".replace("_", "-")
    drawn = radars(world, [cell], path, slug=slug, scope=cell_title(cell))
    json_path, markdown_path = summary_paths(cell, world.prefix)
    before, after = _neighbours(board, cell)
    return Page(
        path=path,
        title=cell_title(cell),
        template="cell.md.j2",
        description=f"{identity.model.slug} under {identity.harness}: score, cost, time and every task.",
        context={
            "headline": _headline(cell),
            "money_flag": flag_of(world, cell, path),
            "placement": _placement(board, cell),
            "identity": _identity(world, cell, path),
            "figures": figure_table(cell),
            "certainty": certainty_facts(world, cell),
            "ways": ways_table(cell),
            "tasks": task_table(world, cell, path),
            "tiers": tier_table(cell),
            "tier_chart": tier_chart(world, cell, slug, cell_title(cell)),
            "artifacts": artifact_table(cell),
            "radars": [chart.html for chart in drawn],
            "judge": _judge(world, cell),
            "serving": _serving(world, cell),
            "warnings": warning_table(world, cell, path),
            "left_out": left_out(world, cell, path),
            "sources": source_table(cell),
            "record_folder": _record_folder(world, cell),
            "json_href": links.relative(path, json_path),
            "markdown_href": links.relative(path, markdown_path),
            "data_href": links.relative(path, links.DATA),
            "neighbours": [
                (word, other.identity.model.slug, links.relative(path, world.cell_page(other)))
                for word, other in (("Next above", before), ("Next below", after))
                if other is not None
            ],
            "links": links,
        },
        crumbs=crumbs(
            world,
            Crumb(identity.harness, links.harness_page(identity.harness, world.prefix)),
            Crumb(
                f"with {identity.skill}",
                links.harness_skill_page(identity.harness, identity.skill, world.prefix),
            ),
        ),
        in_search=False,
        demonstration=world.demonstration,
        assets=tuple(chart.asset for chart in drawn),
    )


def _headline(cell: Cell) -> list[tuple[str, str, str]]:
    """The figures a reader came for: name, value, what it rests on."""
    found = []
    names = ["mean_score"] if cell.has_scores or not cell.has_checks else []
    names += ["resolved_share"] if cell.has_checks else []
    for name in (*names, "cost_per_task", "minutes_per_task", "tokens_per_task"):
        value, figure = cell.figures[name], BY_NAME[name]
        note = (
            f"{words.n_of_m(value)}; {sureness(value, figure.unit)}"
            if value.amount is not None
            else value.reason
        )
        if name == "cost_per_task" and value.amount is not None:
            note += f"; {words.priced(value.priced)}"
        missing = words.NOT_PRICED if figure.unit is Unit.DOLLARS else "not known"
        shown = missing if value.amount is None else words.amount(value.amount, figure.unit)
        if name == "cost_per_task" and cell.free_by_design:
            shown, note = "none", "no cost by design"
        found.append((figure.title, shown, note))
    return found


def _placement(board: Board | None, cell: Cell) -> str:
    """One sentence on where the cell lies among its peers."""
    if board is None or all(other.key != cell.key for other in board.cells):
        return "This cell is not compared with the others of its dataset: see what was left out below."
    place = board.placement(cell)
    if place is None:
        return "This cell is no point on a cost-quality chart: it has no judge's score or no known cost."
    basis = words.basis_adjective(place.basis)
    rivals = sum(other.basis is place.basis for other in board.placements)
    among = f"among the {words.counted(rivals, 'cell')} with {basis} costs on this dataset"
    share = words.percent(place.membership)
    verb = "It is on the frontier" if place.on_basis_frontier else "It was not seen on the frontier"
    few = f", a share that is untested below {FEW_TASKS} tasks" if few_tasks(board) else ""
    drawn = f"When the tasks are drawn again, it lies on the frontier in {share} of the draws{few}."
    return f"{verb} {among}. {drawn}"


def _neighbours(board: Board | None, cell: Cell) -> tuple[Cell | None, Cell | None]:
    if board is None:
        return None, None
    order = list(board.by_score)
    place = next((index for index, other in enumerate(order) if other.key == cell.key), None)
    if place is None:
        return None, None
    before = order[place - 1] if place > 0 else None
    return before, order[place + 1] if place + 1 < len(order) else None


def _identity(world: World, cell: Cell, path: str) -> Facts:
    identity = cell.identity

    def entry(text: str, page: str) -> Entry:
        """A link to another page, seen from this one."""
        return Entry(text, href=links.relative(path, page))

    others = world.aliases.others(identity.model.slug, world.models)
    facts = [
        ("Model", entry(identity.model.slug, links.model_page(identity.model.slug, world.prefix))),
        (
            "Raw model id" if len(cell.raw_ids) == 1 else "Raw model ids",
            Entry(", ".join(cell.raw_ids), code=True, note=_other_ids(world, cell)),
        ),
        ("Provider", Entry(identity.provider)),
        ("Effort", Entry(identity.effort or "not stated", unknown=identity.effort is None)),
        ("Harness", entry(identity.harness, links.harness_page(identity.harness, world.prefix))),
        ("Skill", entry(identity.skill, links.skill_page(identity.skill, world.prefix))),
        ("Dataset", entry(identity.dataset, links.dataset_page(identity.dataset, world.prefix))),
        ("Newest run", Entry(words.day(cell.run_date), unknown=cell.run_date is None)),
    ]
    if others:
        facts.append(("Model also filed as", entry(others[0], links.model_page(others[0], world.prefix))))
    versions = sorted({trial.record.fingerprint.harness_version or "" for trial in cell.trials} - {""})
    facts.append(("Harness version", Entry(words.listing(versions) or "not reported", unknown=not versions)))
    digest = cell.dataset_digest
    facts.append(("Dataset digest", Entry(digest or "not recorded", code=bool(digest), unknown=not digest)))
    return facts


def _other_ids(world: World, cell: Cell) -> str:
    """Raw ids that other cells of the same model name sent: variants that a reader must not mix up."""
    named = world.select(model=cell.identity.model.slug)
    others = sorted({raw_id for other in named for raw_id in other.raw_ids} - set(cell.raw_ids))
    return f"other cells of this name sent {words.listing(others)}" if others else ""


def _judge(world: World, cell: Cell) -> Facts:
    judges = {
        (
            judgement.judge.model or judgement.judge.name,
            judgement.judge.method or "not reported",
            judgement.judge.reasoning_effort or "not reported",
            {True: "yes", False: "no", None: "not reported"}[judgement.judge.repository_grounded],
            judgement.judge.taken_from or "",
        )
        for trial in cell.counted
        for judgement in trial.judgements
    }
    facts: Facts = []
    for model, method, effort, grounded, taken_from in sorted(judges):
        facts += [
            ("Judge", Entry(model, note=taken_from)),
            ("Method", Entry(method)),
            ("Reasoning effort", Entry(effort)),
            ("Read the repository", Entry(grounded)),
        ]
    if cell.rubric:
        facts.append(("Rubric", Entry(cell.rubric)))
    counted = [len(trial.judgements) for trial in cell.counted if trial.judgements]
    if counted:
        behind = f"{sum(counted):,} of {len(counted):,} trials"
        facts.append(("Judgements behind the scores", Entry(behind, note="a trial's score is their mean")))
    if cell.yardstick is not None:
        facts.append(("Interval of the mean score", _interval(world, cell)))
        card = links.relative(world.cell_page(cell), judge_page(cell.yardstick, world.prefix))
        facts.append(("How far it can be trusted", Entry("the judge's card", href=card)))
    return facts


def _interval(world: World, cell: Cell) -> Entry:
    """95 % interval of the mean score over tasks; the judge's noise is part of the spread it rests on."""
    found = mean_interval(list(task_means(cell, "score").values()))
    if found is None or found.lower is None or found.upper is None:
        return Entry("not known", note="too few tasks, or scores all alike", unknown=True)
    card = next((card for card in world.judge_cards if card.yardstick == cell.yardstick), None)
    noise = card.repeats.within_sd if card and card.repeats else None
    said = "its own noise was never measured" if noise is None else f"{noise:.1f} points by its repeats"
    return Entry(
        f"{max(found.lower, 0):.1f} to {min(found.upper, 100):.1f}",
        note=f"95 %, over {found.count} tasks; the judge's noise is part of it: {said}",
    )


def _serving(world: World, cell: Cell) -> Facts:
    servings = list(dict.fromkeys(trial.record.serving for trial in cell.trials))
    facts: Facts = []
    for serving in servings:
        facts += [
            ("Hosting", Entry(words.hosting(serving.hosting), note=HOSTING_NOTES.get(serving.hosting, ""))),
            ("Machine that served the model", _known(serving.instance_type)),
            ("Machine that ran the agent", _known(serving.orchestrator_instance_type)),
            ("Tensor parallel size", count_entry(serving.tensor_parallel_size)),
            ("Precision", _known(serving.precision)),
            ("Context window", count_entry(serving.context_window)),
        ]
    if cell.basis is CostBasis.HARDWARE_DERIVED and servings:
        rate = world.rates.rate_for(cell.identity.model.slug, servings[0])
        if isinstance(rate, HardwareRate):
            facts += [
                ("Priced by the sweep of", Entry(rate.deployment.name, note=rate.hardware_note)),
                (
                    "Rate",
                    Entry(
                        f"{words.dollars(rate.usd_per_token * 1_000_000)} per million tokens",
                        note=words.priced(machine_prices(world.rates)),
                    ),
                ),
                (
                    "At",
                    Entry(
                        f"${words.hourly(rate.usd_per_hour)} an hour "
                        f"({words.COMMITMENT_WORDS[rate.commitment]}), concurrency {rate.level.concurrency}",
                        note=words.priced(machine_prices(world.rates)),
                    ),
                ),
            ]
    return facts


def _known(text: str | None) -> Entry:
    return Entry(text) if text else Entry("not reported", unknown=True)


def _record_folder(world: World, cell: Cell) -> str:
    if not cell.trials:
        return ""
    folder = trial_folder(cell.trials[0].record.identity).parents[1]
    return f"results/{world.prefix}{folder.as_posix()}/"
