"""Dataset YAML to Dataset and Task, and sealed checkouts."""

from runner.datasets.checking import CheckRun, minimal_environment, run_check
from runner.datasets.checkout import SealedCheckout, seal
from runner.datasets.dataset import Dataset, ProblemSource, Task, TaskCheck
from runner.datasets.loading import all_datasets, find_dataset, load_dataset
from runner.datasets.patch import ApplyResult, apply_patch, make_patch
from runner.datasets.reveal import reveal_hidden_files

__all__ = [
    "ApplyResult",
    "CheckRun",
    "Dataset",
    "ProblemSource",
    "SealedCheckout",
    "Task",
    "TaskCheck",
    "all_datasets",
    "apply_patch",
    "find_dataset",
    "load_dataset",
    "make_patch",
    "minimal_environment",
    "reveal_hidden_files",
    "run_check",
    "seal",
]
