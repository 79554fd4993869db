"""Places: the folders of a project that a run reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.costs.price_choice import CREDIT_PLANS
from runner.secrets import Scanner, known_secrets, read_allowed
from runner.store import ResultsStore, StoreRoots, below


@dataclass(frozen=True)
class Places:
    """Folders below the root of a project."""

    root: Path

    @property
    def results(self) -> Path:
        """The committed store."""
        return self.root / "results"

    @property
    def datasets(self) -> Path:
        """Dataset files and what lies beside them."""
        return self.root / "datasets"

    @property
    def cassettes(self) -> Path:
        """Recorded model turns of the built-in model server."""
        return self.datasets / "cassettes"

    @property
    def prices(self) -> Path:
        """Files of the price book: what tokens cost, by provider."""
        return self.datasets / "prices" / "tokens"

    @property
    def credit_plans(self) -> Path:
        """The plans of vendors that bill by credits."""
        return self.datasets / CREDIT_PLANS

    @property
    def recipes(self) -> Path:
        """How models are served by servers of one's own."""
        return self.datasets / "recipes"

    @property
    def servers(self) -> Path:
        """Process files and logs of the servers that were started; ignored by git."""
        return self.artifacts / "servers"

    @property
    def artifacts(self) -> Path:
        """Caches, scratch folders and raw streams; ignored by git."""
        return self.root / ".artifacts"

    @property
    def harnesses(self) -> Path:
        """Installed coding agents; ignored by git."""
        return self.root / ".harnesses"

    @property
    def repositories(self) -> Path:
        """Cache of the repositories that tasks come from."""
        return self.artifacts / "repositories"

    @property
    def streams(self) -> Path:
        """Raw event streams, by digest."""
        return self.artifacts / "streams"

    @property
    def metrics(self) -> Path:
        """What was collected of model servers, and its archives."""
        return self.artifacts / "metrics"

    @property
    def quarantine(self) -> Path:
        """Finished trials that hold a secret."""
        return self.artifacts / "quarantine"

    @property
    def reference(self) -> Path:
        """What the code says of itself, for the pages of the site."""
        return self.root / "site_src" / "reference"

    @property
    def not_secret(self) -> Path:
        """Digests of values that look like secrets and are none."""
        return self.datasets / "not-secret.txt"

    def replaced(self, plan_id: str, position: int) -> Path:
        """Artifacts that a later invocation of the trial replaced."""
        return below(self.artifacts / "replaced", plan_id, str(position))

    def scratch(self, plan_id: str, position: int) -> Path:
        """Scratch folder of one trial: no two runs and no two trials share one."""
        return below(self.artifacts / "work", plan_id, str(position))

    def state(self, plan_id: str) -> Path:
        """What the runner of a plan says of itself."""
        return below(self.artifacts / "runs", plan_id, "state.json")

    def order(self, plan_id: str) -> Path:
        """What a detached runner of a plan is asked to do."""
        return below(self.artifacts / "runs", plan_id, "order.json")

    def log(self, plan_id: str) -> Path:
        """What a detached runner of a plan prints."""
        return below(self.artifacts / "runs", plan_id, "run.log")

    def lock(self, name: str) -> Path:
        """Lock file of that name."""
        return below(self.artifacts / "locks", f"{name}.lock")

    def scanner(self, environment: Mapping[str, str], names: Iterable[str] = ()) -> Scanner:
        """Knows the secrets of ``environment``, above all those in the variables ``names``.

        Raises:
            ConfigurationError: the file of values that are no secrets has faults.
        """
        return Scanner(known_secrets(environment, names), allowed=read_allowed(self.not_secret))

    def roots(self) -> StoreRoots:
        """The public store and the two beside it that git ignores."""
        return StoreRoots(self.results)

    def store(self, *, demonstration: bool, private: bool, scanner: Scanner | None = None) -> ResultsStore:
        """The store where results of that kind belong; private wins over demonstration."""
        roots = self.roots()
        if private:
            return ResultsStore(roots.private, scanner=scanner)
        return ResultsStore(roots.demonstration if demonstration else roots.public, scanner=scanner)
