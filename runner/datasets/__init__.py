"""Dataset YAML to Dataset and Task, and sealed checkouts."""

from runner.datasets.bundle import build_bundle
from runner.datasets.checking import CheckRun, minimal_environment, run_check
from runner.datasets.checkout import SealedCheckout, bring, renew, seal, seal_task
from runner.datasets.dataset import Dataset, ProblemSource, Task, TaskCheck
from runner.datasets.listing import DatasetListing, TaskLine, list_dataset, list_datasets
from runner.datasets.loading import all_datasets, find_dataset, load_dataset
from runner.datasets.patch import ApplyResult, apply_patch, check_patch, make_patch
from runner.datasets.proof import TaskProof, check_dataset
from runner.datasets.reach import checkout_bytes, unreachable_refs
from runner.datasets.removal import remove
from runner.datasets.reveal import reveal_hidden_files

__all__ = [
    "ApplyResult",
    "CheckRun",
    "Dataset",
    "DatasetListing",
    "ProblemSource",
    "SealedCheckout",
    "Task",
    "TaskCheck",
    "TaskLine",
    "TaskProof",
    "all_datasets",
    "apply_patch",
    "bring",
    "build_bundle",
    "check_dataset",
    "check_patch",
    "checkout_bytes",
    "find_dataset",
    "list_dataset",
    "list_datasets",
    "load_dataset",
    "make_patch",
    "minimal_environment",
    "remove",
    "renew",
    "reveal_hidden_files",
    "run_check",
    "seal",
    "seal_task",
    "unreachable_refs",
]
