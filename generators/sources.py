"""Sources: store, dataset files and price lists, loaded into the worlds that pages are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from generators.pages.links import DEMONSTRATION
from generators.pages.world import World
from generators.reference import Reference
from generators.tables.aliases import ModelAliases, load_model_aliases
from generators.tables.cells import build_cells
from generators.tables.endpoint_runs import load_endpoint_runs
from runner.costs.price_choice import PriceChoice
from runner.costs.scoring import priced_anew
from runner.datasets import Dataset, all_datasets, load_dataset
from runner.errors import ConfigurationError
from runner.store import ResultsStore, StoreRoots

MODEL_ALIASES = Path("models") / "aliases.yaml"
PUBLIC = "public"


def load_worlds(
    results: Path, datasets: Path, reference: Reference | None = None, choice: PriceChoice | None = None
) -> tuple[World, World | None]:
    """The real results and, where there are any, those of the demonstration.

    Private results are never read, and private datasets are never described (their stores and files may lie
    in the same folders).

    Raises:
        StoreError: a record cannot be read.
        ConfigurationError: a dataset, a price list or the table of model names has faults, or two
            datasets claim one name.
    """
    described = load_datasets(datasets)
    aliases = load_model_aliases(datasets / MODEL_ALIASES)
    roots = StoreRoots(results)
    described_code = reference or Reference()
    sources = _Sources(datasets, described, aliases, choice or PriceChoice())
    real = replace(_world(roots.public, sources, ""), reference=described_code)
    if not roots.demonstration.is_dir():
        return real, None
    demonstration = _world(roots.demonstration, sources, DEMONSTRATION)
    return real, demonstration if demonstration.cells or demonstration.endpoints.runs else None


def load_datasets(folder: Path) -> dict[str, Dataset]:
    """Public datasets by the name that result paths carry.

    Raises:
        ConfigurationError: a file has faults, or two files claim one name.
    """
    found: dict[str, Dataset] = {}
    for path in all_datasets(folder):
        dataset = load_dataset(path)
        if dataset.visibility != PUBLIC:
            continue
        if dataset.scope in found:
            raise ConfigurationError(
                f"two datasets write their results under the name {dataset.scope!r}",
                where=str(path),
                remedy="give one of them another output_scope",
            )
        found[dataset.scope] = dataset
    return found


@dataclass(frozen=True)
class _Sources:
    """What both worlds are made with."""

    folder: Path
    datasets: Mapping[str, Dataset]
    aliases: ModelAliases
    choice: PriceChoice


def _world(root: Path, sources: _Sources, prefix: str) -> World:
    store = ResultsStore(root)
    plans = tuple(store.plans())
    sweeps = tuple(store.sweeps())
    pricing = sources.choice.pricing(sources.folder, sweeps)
    tiers = {
        (scope, task.id): task.complexity
        for scope, dataset in sources.datasets.items()
        for task in dataset.tasks
        if task.complexity is not None
    }
    cells = build_cells(store.trials(), plans, pricing, tiers)
    return World(
        cells=tuple(cell for cell in cells if cell.demonstration == bool(prefix)),
        datasets=sources.datasets,
        pricing=pricing,
        sweeps=sweeps,
        plans=plans,
        aliases=sources.aliases,
        prefix=prefix,
        choice=sources.choice,
        proofs=tuple(
            priced_anew(proof, pricing) for proof in store.proofs() if proof.demonstration == bool(prefix)
        ),
        endpoints=load_endpoint_runs(root, demonstration=bool(prefix)),
    )
