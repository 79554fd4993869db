"""Database: trials, cells and judged artifacts as DuckDB tables, pandas frames and export files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd

from generators.escape import spreadsheet_text
from generators.tables.agreement_columns import NOTHING, cell_columns, trial_columns
from generators.tables.cells import Cell
from generators.tables.columns import (
    JUDGEMENT_COLUMNS,
    TEXT,
    CellTrial,
    DataColumn,
    JudgedArtifact,
    RowType,
    Scalar,
)
from generators.tables.endpoint_columns import ENDPOINT_TARGET_COLUMNS, ENDPOINT_TRIAL_COLUMNS
from generators.tables.endpoint_columns import trial_rows as endpoint_trial_rows
from generators.tables.endpoint_runs import EndpointRuns
from generators.tables.proof_columns import PROOF_COLUMNS
from generators.tables.reconciliation import Reconciled
from generators.tables.reconciliation_columns import COMPARISON_COLUMNS, comparison_rows
from runner.records import ProofRecord

CSV_TABLE = "for_spreadsheets"
NO_RUNS = EndpointRuns()


@dataclass(frozen=True)
class TableData:
    """A table before it is a frame: its columns and its rows, in order."""

    name: str
    title: str
    columns: tuple[tuple[str, str], ...]
    """Name and DuckDB type."""
    values: dict[str, list[Scalar]]

    @property
    def length(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values.values()), []))


class Database:
    """An in-memory DuckDB with trials, cells, judged artifacts, judge proofs and cost comparisons."""

    def __init__(
        self,
        cells: Sequence[Cell],
        proofs: Sequence[ProofRecord] = (),
        reconciled: Reconciled = NOTHING,
        endpoints: EndpointRuns = NO_RUNS,
    ) -> None:
        self.tables = (
            _table("trials", "One row per trial", trial_columns(reconciled), trial_rows(cells)),
            _table("cells", "One row per cell", cell_columns(reconciled), cells),
            _table(
                "judged_artifacts", "One row per judged artifact", JUDGEMENT_COLUMNS, artifact_rows(cells)
            ),
            _table("judge_proofs", "One row per scoring that tried a judge out", PROOF_COLUMNS, proofs),
            _table(
                "cost_comparisons",
                "One row per pair of money figures, or per oddity about money",
                COMPARISON_COLUMNS,
                comparison_rows(reconciled),
            ),
            _table(
                "endpoint_targets",
                "One row per mapping of an endpoint benchmark",
                ENDPOINT_TARGET_COLUMNS,
                tuple(endpoints.rows()),
            ),
            _table(
                "endpoint_trials",
                "One row per trial of an endpoint benchmark",
                ENDPOINT_TRIAL_COLUMNS,
                endpoint_trial_rows(endpoints),
            ),
        )
        # One thread: with more, DuckDB may write the row groups of a Parquet file in another order.
        self.connection = duckdb.connect(":memory:", config={"threads": 1})
        for data in self.tables:
            self._create(data.name, data.columns, data.values)

    def frame(self, query: str) -> pd.DataFrame:
        """The answer to a SQL query as a frame."""
        return self.connection.execute(query).df()

    def export(self, folder: Path) -> list[Path]:
        """Write every table as CSV, Parquet and JSON by columns into ``folder``; the paths written.

        People open CSV in spreadsheets, so its texts are made safe for them; the other two hold every text
        as it is.
        """
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for data in self.tables:
            csv, parquet = folder / f"{data.name}.csv", folder / f"{data.name}.parquet"
            self._create(CSV_TABLE, data.columns, for_spreadsheets(data))
            self._copy(CSV_TABLE, csv, "FORMAT csv, HEADER true")
            self.connection.execute(f"DROP TABLE {CSV_TABLE}")
            self._copy(data.name, parquet, "FORMAT parquet, COMPRESSION zstd")
            by_columns = folder / f"{data.name}.json"
            by_columns.write_bytes(json_by_columns(data))
            written += [csv, parquet, by_columns]
        return written

    def close(self) -> None:
        """Give the memory back."""
        self.connection.close()

    def _create(
        self, name: str, columns: Sequence[tuple[str, str]], values: Mapping[str, list[Scalar]]
    ) -> None:
        frame = pd.DataFrame({column: pd.Series(values[column], dtype=object) for column, _ in columns})
        self.connection.register("incoming", frame)
        casts = ", ".join(f'CAST("{column}" AS {kind}) AS "{column}"' for column, kind in columns)
        self.connection.execute(f"CREATE TABLE {name} AS SELECT {casts} FROM incoming")  # noqa: S608
        self.connection.unregister("incoming")

    def _copy(self, name: str, path: Path, options: str) -> None:
        target = str(path).replace("'", "''")
        self.connection.execute(f"COPY {name} TO '{target}' ({options})")


def json_by_columns(data: TableData) -> bytes:
    """The table as one JSON object: names of columns, number of rows, and one list per column."""
    content = {"table": data.name, "rows": data.length, "columns": data.values}
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()


def for_spreadsheets(data: TableData) -> dict[str, list[Scalar]]:
    """The columns of a table with every text made safe for spreadsheets; numbers stay as they are."""
    kinds = dict(data.columns)
    return {
        name: [spreadsheet_text(value) if isinstance(value, str) else value for value in values]
        if kinds[name] == TEXT
        else values
        for name, values in data.values.items()
    }


def trial_rows(cells: Iterable[Cell]) -> list[CellTrial]:
    """Every recorded trial with its cell; those that enter no figure are marked by their state."""
    return [(cell, trial) for cell in cells for trial in cell.trials]


def artifact_rows(cells: Iterable[Cell]) -> list[JudgedArtifact]:
    """Every judged artifact of the scored trials."""
    return [
        (cell, trial, judgement, name, score)
        for cell in cells
        for trial in cell.counted
        if trial.score is not None
        for judgement in trial.judgements
        for name, score in (judgement.scores or {}).items()
    ]


def _table(
    name: str, title: str, columns: Sequence[DataColumn[RowType]], rows: Sequence[RowType]
) -> TableData:
    return TableData(
        name=name,
        title=title,
        columns=tuple((column.name, column.type) for column in columns),
        values={column.name: [column.read(row) for row in rows] for column in columns},
    )
