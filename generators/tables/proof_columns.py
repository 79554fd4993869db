"""Proof columns: what the export of scorings of paired submissions holds, with type, unit and meaning."""

from __future__ import annotations

from generators.tables.columns import DAY, NUMBER, TEXT, TRUTH, WHOLE, DataColumn
from generators.tables.judging_cost import judging_cost
from runner.records import ProofRecord


def _dollars(record: ProofRecord) -> float | None:
    cost = judging_cost(record)
    return None if cost is None else cost.amount_usd


def _basis(record: ProofRecord) -> str | None:
    cost = judging_cost(record)
    return None if cost is None else cost.basis.value


def _day(record: ProofRecord) -> str | None:
    cost = judging_cost(record)
    return cost.price_as_of.isoformat() if cost is not None and cost.price_as_of is not None else None


PROOF_COLUMNS: tuple[DataColumn[ProofRecord], ...] = (
    DataColumn("judge", TEXT, "", "judge", lambda r: r.judge.name),
    DataColumn("judge_model", TEXT, "", "model of the judge", lambda r: r.judge.model),
    DataColumn("judge_version", TEXT, "", "version of the judge", lambda r: r.judge.version),
    DataColumn("rubric", TEXT, "", "rubric", lambda r: r.rubric),
    DataColumn("suite", TEXT, "", "suite of pairs", lambda r: r.suite),
    DataColumn("suite_version", TEXT, "", "its version", lambda r: r.suite_version),
    DataColumn("suite_sha256", TEXT, "", "digest of the suite; never mix two", lambda r: r.suite_sha256),
    DataColumn("category", TEXT, "", "what was done to the second side", lambda r: r.category),
    DataColumn("pair", TEXT, "", "name that both sides share", lambda r: r.pair),
    DataColumn("side", TEXT, "", "reference or changed", lambda r: r.side),
    DataColumn("shown_sha256", TEXT, "", "digest of what was shown", lambda r: r.shown_sha256),
    DataColumn("task", TEXT, "", "task id", lambda r: r.task),
    DataColumn("number", WHOLE, "", "number of the scoring of this side", lambda r: r.number),
    DataColumn("status", TEXT, "", "scored, or invalid without a valid answer", lambda r: r.status.value),
    DataColumn("score", NUMBER, "points", "score, 0 to 100", lambda r: r.task_score),
    DataColumn("answers", WHOLE, "answers", "answers until one was valid", lambda r: len(r.attempts)),
    DataColumn("seconds", NUMBER, "seconds", "time of all answers", lambda r: r.duration_seconds),
    DataColumn("cost_usd", NUMBER, "US dollars", "cost of all answers", _dollars),
    DataColumn("cost_basis", TEXT, "", "what the cost rests on", _basis),
    DataColumn("cost_price_date", DAY, "", "day whose prices the cost holds", _day),
    DataColumn("demonstration", TRUTH, "", "the answer was scripted", lambda r: r.demonstration),
)
