"""Metrics flags: the flags of ``invoke metrics``, and what each of them means for its help."""

from __future__ import annotations

from typing import Any

ACTIONS = ("start", "run", "status", "stop", "archive")
DATABASE = "vllm-metrics.duckdb"
METRICS_HELP = {
    "action": "start (in the background), run (in the foreground), status, stop or archive",
    "base-url": "API of the server, with /v1 (or BASE_URL; default: port 8000 of this machine)",
    "metrics-url": "page of its metrics (or METRICS_URL; default: /metrics in the place of /v1)",
    "database": f"file to collect into (or METRICS_DB; default: .artifacts/metrics/{DATABASE})",
    "interval": "seconds from one scrape to the next (or METRICS_INTERVAL; default: 1)",
    "duration": "seconds to collect; 0 until it is stopped",
    "timeout": "seconds that one scrape may take",
    "session-name": "what this session is called (default: collector-<8 digits>)",
    "prefix": "collect the metrics whose names begin so",
    "api-key-env": "environment variable with the key that the page asks for",
    "model": "with archive: model in the name of the file (default: the one that was served most)",
    "scope": "with archive: what was measured, in the name of the file (default: the session's name)",
    "folder": "with archive: where the file goes (default: beside the database, in archives/)",
}


def metrics_form(
    _context: object,
    action: str,
    base_url: str | None = None,
    metrics_url: str | None = None,
    database: str | None = None,
    interval: str | None = None,
    duration: str = "0",
    timeout: str = "10",
    session_name: str | None = None,
    prefix: str = "vllm:",
    api_key_env: str | None = None,
    model: str | None = None,
    scope: str | None = None,
    folder: str | None = None,
) -> dict[str, Any]:
    """Every flag with its default, by name."""
    return dict(locals())
