"""Watching: collectors of the model servers that a run uses; each is archived when its block ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from runner.engine.places import Places
from runner.errors import HarnessmarkError
from runner.providers.base import ModelSession, metrics_page
from runner.records import CellIdentity, WindowGauge, sha256_of
from runner.serving.archive import archive
from runner.serving.collector import CollectorSettings
from runner.serving.control import collecting
from runner.serving.readings import open_readings
from runner.serving.timeline import Combine
from runner.store import below

INTERVAL_SECONDS = 1.0
PREFIX = "vllm:"
MODEL_LABEL = "model_name"
GAUGES: Mapping[str, Combine] = {
    # Each engine has a cache of its own, so that their shares do not add up.
    "kv_cache_usage_perc": Combine.MEAN,
    "num_requests_running": Combine.SUM,
    "num_requests_waiting": Combine.SUM,
}


@dataclass
class Watching:
    """The collectors of one run. A collector that fails is told and never stops the run.

    Args:
        places: of the project.
        plan_id: of the run; part of the names of the archives.
        note: gets a line about each collector that failed, and about each archive.
        interval_seconds: from one scrape to the next.
    """

    places: Places
    plan_id: str
    note: Callable[[str], None]
    interval_seconds: float = INTERVAL_SECONDS
    _databases: dict[str, Path] = field(default_factory=dict)

    @contextmanager
    def of(self, sessions: Sequence[tuple[CellIdentity, ModelSession]]) -> Iterator[None]:
        """Collect from every server behind ``sessions`` that tells metrics, while the context is open."""
        with ExitStack() as stack:
            for cell, session in sessions:
                page = metrics_page(session)
                if page is None or page in self._databases or session.counters() is None:
                    continue
                stack.enter_context(self._collected(page, cell.model.raw_id))
            yield

    def gauges(
        self, session: ModelSession, model: str, begun: datetime, ended: datetime
    ) -> Mapping[str, WindowGauge]:
        """What was seen of the gauges of ``model`` between two instants; empty where nothing was."""
        database = self._databases.get(metrics_page(session) or "")
        if database is None:
            return {}
        try:
            with open_readings(database) as readings:
                found = {
                    name: readings.gauge(f"{PREFIX}{name}", begun, ended, {MODEL_LABEL: model}, combine)
                    or readings.gauge(f"{PREFIX}{name}", begun, ended, combine=combine)
                    for name, combine in GAUGES.items()
                }
        except HarnessmarkError as error:
            self.note(f"the gauges of {model}'s server cannot be read: {error.what}")
            return {}
        return {
            name: WindowGauge(peak=each.peak, mean=round(each.mean, 6), samples=each.samples)
            for name, each in found.items()
            if each is not None and each.peak >= 0 and each.mean >= 0
        }

    @contextmanager
    def _collected(self, page: str, model: str) -> Iterator[None]:
        """A collector of one page. Its faults are noted; those of what runs meanwhile pass through."""
        number = len(self._databases) + 1
        database = below(self.places.metrics, self.plan_id, f"{number}-{os.getpid()}.duckdb")
        settings = CollectorSettings(
            database=str(database),
            metrics_url=page,
            interval_seconds=self.interval_seconds,
            session_name=self.plan_id,
        )
        with ExitStack() as collector:
            try:
                collector.enter_context(collecting(settings, os.environ, self.places.root))
            except HarnessmarkError as error:
                self.note(f"the metrics of {model}'s server are not collected: {error.what}")
                yield
                return
            self._databases[page] = database
            try:
                yield
            finally:
                del self._databases[page]
                collector.close()
                self._archive(database, model)

    def _archive(self, database: Path, model: str) -> None:
        try:
            kept = archive(
                database,
                self.places.metrics / "archives",
                datetime.now(UTC),
                model=model,
                scope=self.plan_id,
            )
        except HarnessmarkError as error:
            self.note(f"the metrics of {model}'s server stay in {database.name}: {error.what}")
            return
        shown = os.path.relpath(kept.path, self.places.root)
        self.note(f"metrics of {model}'s server: {shown}, sha256 {sha256_of(kept.path.read_bytes())}")
