"""Decide dictionary: what every key of the files behind the home page's form means, for who reads them."""

from __future__ import annotations

from collections.abc import Mapping

from generators.pages.table import Column, Entry, Table, table

PAIR_COLUMNS: Mapping[str, str] = {
    "first": "place of the first cell in cells, from 0",
    "second": "place of the second one",
    "word": "the verdict, a place in texts; null where there is none",
    "favoured": "place of the cell that the verdict favours; null where it favours none",
    "deciding": "which number decided, a place in texts",
    "deciding_number": "that number",
    "limit": "what it was held against",
    "common_tasks": "tasks that both have a result for",
    "difference": "first minus second: points of score, or percent of tasks resolved",
    "lower": "lower end of its 95 % interval",
    "upper": "upper end of it",
    "p_value": "p of this pair alone, not adjusted for the others",
    "more_tasks": "tasks to add for a verdict with 80 % power; null where none would do or none is needed",
    "least_difference": "smallest true difference that these tasks show with 80 % power; null below six",
    "more_trials": "trials to add to each common task in place of tasks; null where none would do",
    "trials_reason": "why none would do, a place in texts",
    "costs_less": "place of the cell that the data show to cost less; null where they do not",
    "cost_number": "the number behind that, a place in texts; null where the costs do not compare",
    "explanation": "why the verdict is what it is, or why there is none, a place in texts",
    "what_would_decide": "what would decide, a place in texts",
}
"""What each number of a pair is; words and sentences are places in ``texts``."""

CELL_KEYS: Mapping[str, str] = {
    "name": "model and harness",
    "href": "its page, as seen from the home page",
    "provider": "hosting path",
    "harness": "coding agent",
    "hosting": "who hosts the model",
    "basis": "what its costs rest on; null where bases differ or none is known",
    "command": "runs more tasks of it",
    "flag": "text and address of the mark on costs that disagree; null without one",
    "quality": "amount (failed trials as 0), centre and standard error over tasks, number of tasks, both "
    "ends of the 95 % interval, worst and best case, open, failed and passed trials",
    "cost": "US dollars per task; null where not known",
    "cost_n": "trials behind it",
    "cost_m": "trials that could be",
    "minutes": "minutes per task; null where not known",
    "minutes_n": "trials behind it",
    "minutes_m": "trials that could be",
    "membership": "probability on the frontier of its basis; untested below 20 tasks; null: no point",
    "membership_across": "the same across bases: directional only",
    "text": "the same figures as the page writes them, with basis and day of the prices",
}


def decide_dictionary() -> Table:
    """Every key of a cell and every column of a pair."""
    rows = [
        [Entry(f"{part}.{name}", code=True), Entry(meaning)]
        for part, meanings in (("cells", CELL_KEYS), ("pairs", PAIR_COLUMNS))
        for name, meaning in meanings.items()
    ]
    return table("Columns of decide", [Column("Column"), Column("Meaning", wide=True)], rows)
