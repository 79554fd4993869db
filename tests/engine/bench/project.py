"""A small project with targets that the built-in server plays, for whole runs in a temporary folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.engine.bench.command import BenchCall, bench_command
from runner.engine.bench.options import BenchOptions
from runner.engine.places import Places
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_summary import BenchSummary
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import BenchRun, find_runs, newest

REPOSITORY = Path(__file__).parents[3]
MODEL = "replay-truth"
MAPPING = """
  - provider: {provider}
    region: {region}
    model_id: replay-careful
    protocol: chat-completions
    replay: {{scenario: hello-world/fair-rounding, faults: [{faults}]}}
    context_tokens: 200000
    capabilities: {{efforts: [none, low, high], json_schema: true, thinking: never}}
    source: built in
    checked_on: 2026-11-30
"""


@dataclass
class Project:
    """A project below ``root``."""

    root: Path
    said: list[str] = field(default_factory=list)

    @property
    def places(self) -> Places:
        """Its folders."""
        return Places(self.root)

    def bench(self, options: BenchOptions | None = None, **how: object) -> int:
        """One call of the command."""
        call = BenchCall(options or options_of(), **how)  # type: ignore[arg-type]
        return bench_command(self.places, self.said.append, call, {})

    def run(self) -> BenchRun:
        """The newest run."""
        run = newest(find_runs(self.places.roots().demonstration))
        assert run is not None
        return run

    def read(self) -> tuple[BenchManifest, tuple[BenchTrial, ...], BenchSummary]:
        """Everything of the newest run."""
        run = self.run()
        summary = run.summary()
        assert summary is not None
        return run.manifest(), run.trials(), summary


def make_project(root: Path, mappings: Sequence[tuple[str, Sequence[str]]]) -> Project:
    """A project whose one model has these mappings: region and faults of each."""
    folder = root / "datasets"
    (folder / "targets").mkdir(parents=True)
    (folder / "prices" / "tokens").mkdir(parents=True)
    (folder / "cassettes").symlink_to(REPOSITORY / "datasets" / "cassettes")
    (root / "tests").symlink_to(REPOSITORY / "tests")
    entries = "".join(
        MAPPING.format(provider="replay", region=region, faults=", ".join(faults))
        for region, faults in mappings
    )
    text = f"schema_version: 1\nmodel: {MODEL}\ntitle: Truth\nmappings:{entries}"
    (folder / "targets" / f"{MODEL}.yaml").write_text(text, encoding="utf-8")
    return Project(root)


def options_of(**changes: object) -> BenchOptions:
    """Options of a short run without calibration."""
    usual: dict[str, object] = {"models": (MODEL,), "calibrate": False, "warm_ups": 0, "runs": 1}
    return BenchOptions(**{**usual, **changes})  # type: ignore[arg-type]


def server_log(path: Path) -> dict[str, dict[str, object]]:
    """What the built-in server noted of each model request, by its id."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {entry["id"]: entry for entry in entries}
