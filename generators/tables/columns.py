"""Columns: what each exported table holds, with type, unit and meaning; source of the data dictionary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from generators.tables.figures import FIGURES
from generators.tables.sample import Figure
from runner.costs.bases import ORDER
from runner.records import CRITERIA, ArtifactScore, CostBasis, JudgementRecord

Scalar = str | int | float | bool | None
RowType = TypeVar("RowType")

TEXT, WHOLE, NUMBER, TRUTH, DAY = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "DATE"


@dataclass(frozen=True)
class DataColumn(Generic[RowType]):
    """One column: name, DuckDB type, unit, meaning, and how a row gives its value (None: unknown)."""

    name: str
    type: str
    unit: str
    meaning: str
    read: Callable[[RowType], Scalar]


CellTrial = tuple[Cell, TrialFacts]
JudgedArtifact = tuple[Cell, TrialFacts, JudgementRecord, str, ArtifactScore]


def _usage(name: str) -> Callable[[CellTrial], Scalar]:
    def read(row: CellTrial) -> Scalar:
        """One count of a trial's usage; null where none was told."""
        usage = row[1].record.usage
        value: int | None = getattr(usage, name) if usage is not None else None
        return value

    return read


def _cost_on(basis: CostBasis, row: CellTrial) -> Scalar:
    cost = row[1].cost_on(basis)
    return cost.amount_usd if cost is not None else None


def _day_on(basis: CostBasis, row: CellTrial) -> Scalar:
    cost = row[1].cost_on(basis)
    return cost.price_as_of.isoformat() if cost is not None and cost.price_as_of is not None else None


def _judging_basis(cell: Cell) -> Scalar:
    priced = cell.figures["judging_spend"].priced
    return None if priced is None else priced.basis.value


def _price_day(cell: Cell, figure: str = "spend_total", *, last: bool) -> Scalar:
    priced = cell.figures[figure].priced
    day = None if priced is None else priced.last if last else priced.first
    return day.isoformat() if day is not None else None


def _of_trial(column: DataColumn[Cell], row: CellTrial) -> Scalar:
    return column.read(row[0])


def _of_artifact(column: DataColumn[Cell], row: JudgedArtifact) -> Scalar:
    return column.read(row[0])


def _criterion(name: str, row: JudgedArtifact) -> Scalar:
    return int(getattr(row[4], name))


def _amount(name: str, cell: Cell) -> Scalar:
    return cell.figures[name].amount


def _n(name: str, cell: Cell) -> Scalar:
    return cell.figures[name].n


def _m(name: str, cell: Cell) -> Scalar:
    return cell.figures[name].m


def _end(name: str, end: str, cell: Cell) -> Scalar:
    spread = cell.figures[name].spread
    interval = spread.interval if spread else None
    return None if interval is None else interval.lower if end == "lower" else interval.upper


def _unsure(name: str, cell: Cell) -> Scalar:
    spread = cell.figures[name].spread
    return (spread.reason or None) if spread else None


def _bound(name: str, word: str, cell: Cell) -> Scalar:
    spread = cell.figures[name].spread
    bounds = spread.bounds if spread else None
    return None if bounds is None else bounds.lower if word == "least" else bounds.upper


IDENTITY: tuple[DataColumn[Cell], ...] = (
    DataColumn("model", TEXT, "", "model slug, as in folders and pages", lambda c: c.identity.model.slug),
    DataColumn(
        "provider",
        TEXT,
        "",
        "hosting path through which the model was reached",
        lambda c: c.identity.provider,
    ),
    DataColumn(
        "effort", TEXT, "", "reasoning effort asked for; empty where not stated", lambda c: c.identity.effort
    ),
    DataColumn("harness", TEXT, "", "coding agent program", lambda c: c.identity.harness),
    DataColumn("skill", TEXT, "", "prompt program", lambda c: c.identity.skill),
    DataColumn("dataset", TEXT, "", "dataset", lambda c: c.identity.dataset),
)

TRIAL_COLUMNS: tuple[DataColumn[CellTrial], ...] = (
    *(DataColumn(c.name, c.type, c.unit, c.meaning, partial(_of_artifact, c)) for c in IDENTITY),
    DataColumn(
        "raw_model_id", TEXT, "", "model id as sent", lambda r: r[1].record.identity.cell.model.raw_id
    ),
    DataColumn("task", TEXT, "", "task id", lambda r: r[1].task),
    DataColumn("trial", WHOLE, "", "number of the attempt, from 1", lambda r: r[1].record.identity.trial),
    DataColumn("state", TEXT, "", "scored, failed, unscored or excluded", lambda r: r[1].state.value),
    DataColumn("state_reason", TEXT, "", "why the trial has this state", lambda r: r[1].state_reason),
    DataColumn("score", NUMBER, "points", "judge score, 0 to 100", lambda r: r[1].score),
    DataColumn("checks_passed", WHOLE, "checks", "execution checks passed", lambda r: r[1].checks_passed),
    DataColumn(
        "checks_graded", WHOLE, "checks", "execution checks with a verdict", lambda r: r[1].checks_graded
    ),
    DataColumn(
        "resolved",
        TRUTH,
        "",
        "every check passed, hidden tests among them; empty where no hidden tests told",
        lambda r: r[1].resolved,
    ),
    DataColumn("cost_usd", NUMBER, "US dollars", "cost by the headline rule", lambda r: r[1].cost.amount_usd),
    DataColumn("cost_basis", TEXT, "", "what the cost rests on", lambda r: r[1].cost.basis.value),
    DataColumn(
        "cost_price_date",
        DAY,
        "",
        "day whose prices the cost holds; empty where it is not known",
        lambda r: r[1].cost.price_as_of.isoformat() if r[1].cost.price_as_of else None,
    ),
    *(
        DataColumn(
            f"cost_{basis.name.lower()}_usd",
            NUMBER,
            "US dollars",
            f"cost on the basis {basis.value}, whether or not it is the headline",
            partial(_cost_on, basis),
        )
        for basis in ORDER
    ),
    *(
        DataColumn(
            f"cost_{basis.name.lower()}_price_date",
            DAY,
            "",
            f"day of the prices in the cost on the basis {basis.value}; empty where it is not known",
            partial(_day_on, basis),
        )
        for basis in ORDER
    ),
    DataColumn("cost_source", TEXT, "", "where the cost was read or derived", lambda r: r[1].cost.source),
    DataColumn("cost_missing_reason", TEXT, "", "why there is no cost", lambda r: r[1].cost.missing_reason),
    DataColumn("tokens_processed", WHOLE, "tokens", "every token counted once", lambda r: r[1].tokens),
    DataColumn("input_tokens", WHOLE, "tokens", "input as reported", _usage("input_tokens")),
    DataColumn("output_tokens", WHOLE, "tokens", "output as reported", _usage("output_tokens")),
    DataColumn("cache_read_tokens", WHOLE, "tokens", "read from the cache", _usage("cache_read_tokens")),
    DataColumn("cache_write_tokens", WHOLE, "tokens", "written to the cache", _usage("cache_write_tokens")),
    DataColumn(
        "cache_semantics",
        TEXT,
        "",
        "disjoint: cache counts come on top of input; partition: they are part of it",
        lambda r: r[1].record.usage.cache_semantics.value if r[1].record.usage else None,
    ),
    DataColumn("minutes", NUMBER, "minutes", "wall clock of all invocations", lambda r: r[1].minutes),
    DataColumn("turns", WHOLE, "turns", "as the harness counts them", lambda r: r[1].record.turns),
    DataColumn("complexity", TEXT, "", "tier of the task", lambda r: r[1].complexity),
    DataColumn("outcome", TEXT, "", "how the trial ended", lambda r: r[1].record.outcome.value),
    DataColumn("hosting", TEXT, "", "who ran the model", lambda r: r[1].record.serving.hosting.value),
    DataColumn(
        "artifacts_produced", WHOLE, "files", "artifacts found", lambda r: r[1].record.artifacts_produced
    ),
    DataColumn(
        "artifacts_expected", WHOLE, "files", "artifacts asked for", lambda r: r[1].record.artifacts_expected
    ),
    DataColumn(
        "run_date",
        DAY,
        "",
        "day of the run, as far as known",
        lambda r: r[1].run_date.isoformat() if r[1].run_date else None,
    ),
    DataColumn(
        "warnings",
        TEXT,
        "",
        "codes of data-quality warnings, separated by blanks",
        lambda r: " ".join(warning.code for warning in r[1].record.warnings) or None,
    ),
    DataColumn(
        "dataset_digest", TEXT, "", "digest of the dataset", lambda r: r[1].record.fingerprint.dataset_digest
    ),
    DataColumn(
        "source_path",
        TEXT,
        "",
        "file the figures were imported from; empty for own runs",
        lambda r: r[1].record.source.path if r[1].record.source else None,
    ),
    DataColumn(
        "source_commit",
        TEXT,
        "",
        "commit of that file",
        lambda r: r[1].record.source.commit if r[1].record.source else None,
    ),
)

JUDGEMENT_COLUMNS: tuple[DataColumn[JudgedArtifact], ...] = (
    *(DataColumn(c.name, c.type, c.unit, c.meaning, partial(_of_artifact, c)) for c in IDENTITY),
    DataColumn("task", TEXT, "", "task id", lambda r: r[1].task),
    DataColumn("trial", WHOLE, "", "number of the attempt", lambda r: r[1].record.identity.trial),
    DataColumn("judge", TEXT, "", "judge", lambda r: r[2].judge.name),
    DataColumn("judgement", WHOLE, "", "number of the judgement of this trial", lambda r: r[2].number),
    DataColumn("rubric", TEXT, "", "rubric", lambda r: r[2].rubric),
    DataColumn("artifact", TEXT, "", "judged artifact", lambda r: r[3]),
    *(DataColumn(name, WHOLE, "points", f"{name}, 0 to 25", partial(_criterion, name)) for name in CRITERIA),
    DataColumn("total", WHOLE, "points", "sum of the four criteria, 0 to 100", lambda r: r[4].total),
)


def _figure_columns() -> tuple[DataColumn[Cell], ...]:
    found: list[DataColumn[Cell]] = []
    for figure in FIGURES:
        name = figure.name
        found += [
            DataColumn(
                name,
                NUMBER,
                figure.unit.value,
                f"{figure.meaning} Formula: {figure.formula}.",
                partial(_amount, name),
            ),
            DataColumn(
                f"{name}_n",
                WHOLE,
                "trials",
                f"trials {name} rests on",
                partial(_n, name),
            ),
            DataColumn(
                f"{name}_m",
                WHOLE,
                "trials",
                f"of how many for {name}",
                partial(_m, name),
            ),
        ]
        if figure.is_mean:
            found += _sure_columns(figure)
    return tuple(found)


def _sure_columns(figure: Figure) -> list[DataColumn[Cell]]:
    """How far a mean can be off: ends of its interval, why there are none, and bounds for open trials."""
    name, unit = figure.name, figure.unit.value
    columns: list[DataColumn[Cell]] = [
        DataColumn(
            f"{name}_{end}",
            NUMBER,
            unit,
            f"{end} end of the 95 % interval of {name} over tasks, by {figure.method}; empty where the data "
            "carry none",
            partial(_end, name, end),
        )
        for end in ("lower", "upper")
    ]
    columns.append(
        DataColumn(
            f"{name}_no_interval", TEXT, "", f"why there is no interval of {name}", partial(_unsure, name)
        )
    )
    if figure.bounded:
        columns += [
            DataColumn(
                f"{name}_{word}",
                NUMBER,
                unit,
                f"{word} that the mean of all planned trials can still be: failed ones as 0, open ones "
                f"{'0' if word == 'least' else '100'}",
                partial(_bound, name, word),
            )
            for word in ("least", "most")
        ]
    return columns


CELL_COLUMNS: tuple[DataColumn[Cell], ...] = (
    *IDENTITY,
    DataColumn(
        "raw_model_ids",
        TEXT,
        "",
        "raw ids under the slug, separated by blanks",
        lambda c: " ".join(c.raw_ids),
    ),
    DataColumn("hosting", TEXT, "", "who ran the model", lambda c: c.hosting.value),
    DataColumn("cost_basis", TEXT, "", "basis of the costs", lambda c: c.basis.value if c.basis else None),
    DataColumn("price_date_first", DAY, "", "first day of their prices", partial(_price_day, last=False)),
    DataColumn("price_date_last", DAY, "", "last day of their prices", partial(_price_day, last=True)),
    DataColumn("judging_spend_basis", TEXT, "", "basis of what judging cost", _judging_basis),
    *(
        DataColumn(
            f"judging_spend_price_date_{end}",
            DAY,
            "",
            f"{end} day of the prices in what judging cost",
            partial(_price_day, figure="judging_spend", last=end == "last"),
        )
        for end in ("first", "last")
    ),
    DataColumn("rubric", TEXT, "", "rubric of the scores", lambda c: c.rubric),
    DataColumn("dataset_digest", TEXT, "", "digest of the dataset", lambda c: c.dataset_digest),
    DataColumn("run_date", DAY, "", "newest run", lambda c: c.run_date.isoformat() if c.run_date else None),
    DataColumn("planned", WHOLE, "trials", "trials planned", lambda c: c.sample.planned),
    DataColumn("failed", WHOLE, "trials", "failed trials", lambda c: c.sample.failed),
    DataColumn("open", WHOLE, "trials", "trials whose score is unknown", lambda c: c.sample.open),
    DataColumn("excluded", WHOLE, "trials", "trials left out", lambda c: len(c.excluded)),
    DataColumn("warnings", WHOLE, "warnings", "data-quality warnings", lambda c: len(c.warnings())),
    *_figure_columns(),
)
