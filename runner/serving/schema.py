"""Schema: the tables and views of a collector database."""

from __future__ import annotations

from typing import Any

DATABASE_SCHEMA = "main"
VERSION = 1

TABLES = (
    """CREATE TABLE {schema}.collector_sessions (
        session_id BIGINT, session_name VARCHAR, started_at TIMESTAMP, stopped_at TIMESTAMP,
        metrics_url VARCHAR, interval_seconds DOUBLE, collector_pid BIGINT,
        format_version INTEGER{key_session})""",
    """CREATE TABLE {schema}.metric_scrapes (
        scrape_id BIGINT, session_id BIGINT, sequence_number BIGINT, scraped_at TIMESTAMP,
        scrape_duration_ms DOUBLE, status VARCHAR, error VARCHAR, sample_count INTEGER{key_scrape})""",
    """CREATE TABLE {schema}.metric_series (
        series_id INTEGER, metric VARCHAR, metric_type VARCHAR, labels JSON{key_series})""",
    """CREATE TABLE {schema}.metric_points (scrape_id BIGINT, series_id INTEGER, value DOUBLE)""",
)
"""What is stored. Times are UTC. The name and labels of a series stand once; a point is a number. A value
that is no finite number is NULL: unknown."""

TABLE_NAMES = ("collector_sessions", "metric_scrapes", "metric_series", "metric_points")

VIEWS = (
    """CREATE VIEW {schema}.metric_samples AS
        SELECT p.scrape_id, s.metric, s.metric_type, s.labels, p.value
        FROM {schema}.metric_points p JOIN {schema}.metric_series s USING (series_id)""",
    """CREATE VIEW {schema}.vllm_metric_samples AS
        SELECT c.session_id, c.session_name, c.metrics_url, r.scrape_id, r.sequence_number, r.scraped_at,
            s.metric, s.metric_type, s.labels,
            json_extract_string(s.labels, '$.model_name') AS model_name,
            json_extract_string(s.labels, '$.engine') AS engine,
            p.value
        FROM {schema}.metric_points p
        JOIN {schema}.metric_series s USING (series_id)
        JOIN {schema}.metric_scrapes r USING (scrape_id)
        JOIN {schema}.collector_sessions c USING (session_id)""",
    """CREATE VIEW {schema}.vllm_metric_deltas AS
        SELECT *, value - lag(value) OVER (
            PARTITION BY session_id, metric, labels ORDER BY sequence_number) AS delta
        FROM {schema}.vllm_metric_samples""",
)
"""What is read. ``delta`` is negative where a server started to count anew."""


def create_tables(connection: Any, schema: str = DATABASE_SCHEMA, *, keys: bool = True) -> None:
    """Make the empty tables in ``schema`` of an open DuckDB connection.

    Args:
        keys: with primary keys, as a database on disk has them.
    """
    names = {"key_session": "session_id", "key_scrape": "scrape_id", "key_series": "series_id"}
    parts = {name: f", PRIMARY KEY ({column})" if keys else "" for name, column in names.items()}
    for table in TABLES:
        connection.execute(table.format(schema=schema, **parts))


def create_views(connection: Any, schema: str = DATABASE_SCHEMA) -> None:
    """Make the views on the tables in ``schema``."""
    for view in VIEWS:
        connection.execute(view.format(schema=schema))
