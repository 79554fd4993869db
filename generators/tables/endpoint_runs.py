"""Endpoint runs: endpoint benchmarks as the store keeps them, and the folders that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runner.errors import StoreError
from runner.records import BenchManifest, BenchSummary, BenchTrial
from runner.records.bench_manifest import BenchTarget
from runner.records.bench_summary import TargetSummary
from runner.store import component, layout
from runner.store.bench_run import BenchRun

RESUME = "invoke bench --resume"
PROFILE_ORDER = ("standard", "smoke", "load", "coding")
"""Those first that ask most single questions."""


@dataclass(frozen=True)
class EndpointRun:
    """One run whose files could all be read.

    ``trials`` are without anything that a model wrote and without the times of single fragments.
    """

    manifest: BenchManifest
    summary: BenchSummary
    trials: tuple[BenchTrial, ...]
    trials_bytes: int
    notes: tuple[str, ...] = ()
    """What is odd about its files."""

    @property
    def run_id(self) -> str:
        """Its id, unique among the runs of its model."""
        return self.manifest.run_id

    @property
    def model(self) -> str:
        """Slug of its model."""
        return self.manifest.model

    @property
    def profile(self) -> str:
        """What was run: a profile, suites, an external suite, or load shapes."""
        settings = self.manifest.settings
        if settings.profile:
            return settings.profile
        named = [*settings.suites, *(str(name) for name in [settings.external.get("name")] if name)]
        return ", ".join(named) or "chosen cases"

    @property
    def complete(self) -> bool:
        """Whether everything that was planned was done."""
        return self.summary.ended == "complete"

    @cached_property
    def targets(self) -> dict[str, BenchTarget]:
        """Targets by their ids, in the order of the run."""
        return {target.identifier: target for target in self.manifest.targets}

    @cached_property
    def labels(self) -> dict[str, str]:
        """What each target is called: the label of its mapping, or its id where labels are shared."""
        names = [target.label for target in self.manifest.targets]
        return {
            target.identifier: target.label if names.count(target.label) == 1 else target.identifier
            for target in self.manifest.targets
        }

    def label(self, target: str) -> str:
        """Name of the target with this id."""
        return self.labels.get(target, target)


@dataclass(frozen=True)
class BrokenRun:
    """A folder that should hold a run and does not; ``folder`` is below the store."""

    folder: str
    reason: str


@dataclass(frozen=True)
class EndpointRuns:
    """All runs of one store, by model and then from the oldest to the newest, and what could not be read."""

    runs: tuple[EndpointRun, ...] = ()
    broken: tuple[BrokenRun, ...] = ()

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Slugs of the models that were measured, in order."""
        return tuple(sorted({run.model for run in self.runs}))

    def of(self, model: str) -> tuple[EndpointRun, ...]:
        """Runs of a model from the oldest to the newest."""
        return tuple(run for run in self.runs if run.model == model)

    def rows(self) -> Iterator[tuple[EndpointRun, TargetSummary]]:
        """Every target of every run."""
        for run in self.runs:
            for target in run.summary.targets:
                yield run, target


def best_run(runs: tuple[EndpointRun, ...], profile: str = "standard") -> EndpointRun | None:
    """The run that a model's page shows of those that have a figure; None of none.

    Of the newest methodology: a complete run before one that is not, one of ``profile`` before others, a
    newer run before an older one.
    """
    if not runs:
        return None
    newest = max(run.summary.methodology for run in runs)

    def preference(run: EndpointRun) -> tuple[bool, int, str]:
        """A complete run first, then the profile that comes first in the order, then the latest."""
        order = (profile, *(name for name in PROFILE_ORDER if name != profile))
        named = run.manifest.settings.profile or ""
        place = -order.index(named) if named in order else -len(order)
        return run.complete, place, run.manifest.created_at.isoformat() + run.run_id

    return max((run for run in runs if run.summary.methodology == newest), key=preference)


def load_endpoint_runs(root: Path, *, demonstration: bool) -> EndpointRuns:
    """The runs of the store at ``root``. What cannot be read is named, and never ends the build.

    Args:
        demonstration: whether the store is that of the built-in server; runs of the other kind are broken.
    """
    runs: list[EndpointRun] = []
    broken: list[BrokenRun] = []
    area = root / layout.ENDPOINT
    for folder in sorted(area.glob("*/*")) if area.is_dir() else ():
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        name = f"{layout.ENDPOINT}/{folder.parent.name}/{folder.name}"
        try:
            runs.append(_run(root, folder, demonstration))
        except StoreError as error:
            broken.append(BrokenRun(name, error.what))
    runs.sort(key=lambda run: (run.model, run.manifest.created_at, run.run_id))
    return EndpointRuns(tuple(runs), tuple(broken))


def _run(root: Path, folder: Path, demonstration: bool) -> EndpointRun:
    stored = BenchRun(root, component(folder.parent.name), component(folder.name))
    if not stored.manifest_path.is_file():
        raise StoreError("there is no manifest: the run never began")
    manifest = stored.manifest()
    if (manifest.model, manifest.run_id) != (stored.model, stored.run_id):
        raise StoreError(f"its manifest is of another run, {manifest.model}/{manifest.run_id}")
    if manifest.demonstration != demonstration:
        kind = "the built-in server" if manifest.demonstration else "a real endpoint"
        raise StoreError(f"it measured {kind}, and lies in the store of the other kind")
    trials = stored.trials() if stored.trials_path.is_file() else ()
    summary = stored.summary()
    if summary is None:
        raise StoreError(
            f"it was ended before its figures were made, with {len(trials)} trials: {RESUME} {stored.run_id}"
        )
    if summary.run_id != manifest.run_id:
        raise StoreError(f"its figures are of another run, {summary.run_id}")
    size = stored.trials_path.stat().st_size if stored.trials_path.is_file() else 0
    return EndpointRun(
        manifest, summary, tuple(map(_without_words, trials)), size, tuple(_notes(stored, manifest, summary))
    )


def _notes(stored: BenchRun, manifest: BenchManifest, summary: BenchSummary) -> Iterator[str]:
    if summary.manifest_sha256 != manifest.digest():
        yield f"the figures were made from another plan: {RESUME} {stored.run_id}"
    if not stored.trials_path.is_file():
        yield "the file of trials is missing; the figures cannot be made again"
    elif summary.trials_sha256 != stored.trials_sha256():
        yield f"the trials have changed since the figures were made: {RESUME} {stored.run_id}"


def _without_words(trial: BenchTrial) -> BenchTrial:
    """The trial without what a model wrote, and without its fragments, which fill the memory."""
    requests = tuple(
        request.model_copy(
            update={"fragments": (), "text": "", "reasoning": "", "refusal": "", "tool_calls": ()}
        )
        for request in trial.requests
    )
    agent = trial.agent and trial.agent.model_copy(update={"calls": ()})
    score = trial.score.model_copy(update={"answer": None})
    return trial.model_copy(update={"requests": requests, "agent": agent, "score": score})
