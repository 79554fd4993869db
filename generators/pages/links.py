"""Links: where each page lives, and relative addresses between pages."""

from __future__ import annotations

import posixpath
from urllib.parse import quote

from runner.records import CellIdentity, TrialIdentity
from runner.store import component

HOME = "index.md"
HARNESSES = "harnesses/index.md"
MODELS = "models/index.md"
DATASETS = "datasets/index.md"
SKILLS = "skills/index.md"
COMPARE = "compare.md"
COMPARE_HARNESSES = "compare/harnesses.md"
METHODOLOGY = "methodology/cost.md"
DATA = "data/index.md"
QUALITY = "data/quality.md"
QUALITY_SECTION = "data-quality"
"""Where a cell's page lists its warnings, task by task."""
ABOUT = "about-a-run.md"
SETUP = "setup/index.md"
NEW_AGENT = "new-agent.md"
OWN_REPOSITORY = "your-own-repository.md"
PROVIDERS = "setup/providers/index.md"
JUDGES = "judges/index.md"
PROOF = "judge-proof.md"
"""How judges are tried out; written by hand."""
ACCOUNTING = "methodology/accounting.md"
SERVING = "serving/index.md"
PRICES = "methodology/prices.md"
WHAT_IF = "what-if.md"
STATISTICS = "methodology/statistics.md"
DEMONSTRATION = "demonstration/"
ENDPOINTS = "endpoints/index.md"
ENDPOINT_METHODOLOGY = "methodology/endpoints.md"
SCHEMAS = "data/schemas"


def reconciliation_page(prefix: str = "") -> str:
    """Source path of the page where the money figures disagree."""
    return f"{prefix}methodology/reconciliation.md"


def cell_page(cell: CellIdentity, prefix: str = "") -> str:
    """Source path of a cell's page; ``prefix`` is ``demonstration/`` for the demonstration."""
    parts = [component(part) for part in cell.key]
    return prefix + posixpath.join("cells", *parts, "index.md")


def trial_page(trial: TrialIdentity, prefix: str = "") -> str:
    """Source path of a trial's page, below the page of its cell."""
    *cell, task, number = (component(part) for part in trial.key)
    return prefix + posixpath.join("cells", *cell, task, f"{number}.md")


def task_page(dataset: str, task: str, prefix: str = "") -> str:
    """Source path of a task's page."""
    return f"{prefix}tasks/{component(dataset)}/{component(task)}.md"


def harness_page(harness: str, prefix: str = "") -> str:
    """Source path of a harness' page."""
    return f"{prefix}harnesses/{component(harness)}.md"


def judge_page(name: str, prefix: str = "") -> str:
    """Source path of a judge's card."""
    return f"{prefix}judges/{component(name)}.md"


def deployment_page(name: str) -> str:
    """Source path of the page of a swept deployment."""
    return f"serving/{component(name)}.md"


def endpoint_model_page(model: str, prefix: str = "") -> str:
    """Source path of the page of a model whose endpoints were measured."""
    return f"{prefix}endpoints/{component(model)}.md"


def endpoint_run_page(model: str, run_id: str, prefix: str = "") -> str:
    """Source path of the page of one endpoint benchmark."""
    return f"{prefix}endpoints/{component(model)}/{component(run_id)}.md"


def endpoint_data(model: str, run_id: str, name: str, prefix: str = "") -> str:
    """Path of a file of an endpoint benchmark among the site's data."""
    return f"{prefix}data/endpoint/{component(model)}/{component(run_id)}/{component(name)}"


def setup_page(harness: str) -> str:
    """Source path of the page on how a harness is set up."""
    return f"setup/{component(harness)}.md"


def harness_skill_page(harness: str, skill: str, prefix: str = "") -> str:
    """Source path of the page of a harness under a skill."""
    return f"{prefix}harnesses/{component(harness)}/{component(skill)}.md"


def skill_page(skill: str, prefix: str = "") -> str:
    """Source path of a skill's page."""
    return f"{prefix}skills/{component(skill)}.md"


def model_page(model: str, prefix: str = "") -> str:
    """Source path of a model's page."""
    return f"{prefix}models/{component(model)}.md"


def dataset_page(dataset: str, prefix: str = "") -> str:
    """Source path of a dataset's page."""
    return f"{prefix}datasets/{component(dataset)}.md"


def frontiers(prefix: str = "") -> str:
    """Source path of the index of frontiers."""
    return f"{prefix}frontier/index.md"


def frontier_page(skill: str, dataset: str, prefix: str = "") -> str:
    """Source path of the page with every cell of a skill and dataset by cost and score."""
    return f"{prefix}frontier/{component(skill)}_{component(dataset)}.md"


def complexity_page(skill: str, dataset: str, prefix: str = "") -> str:
    """Source path of the page on what a skill and dataset show by complexity of the task."""
    return f"{prefix}complexity/{component(skill)}_{component(dataset)}.md"


def compare_page(skill: str, dataset: str) -> str:
    """Source path of the page with every pair of a skill and dataset."""
    return f"compare/{component(skill)}_{component(dataset)}.md"


def pair(origin: str, first: CellIdentity, second: CellIdentity) -> str:
    """Address of the comparison of two cells as seen from the page ``origin``; scripts read its query."""
    one, two = (quote("/".join(cell.key), safe="") for cell in (first, second))
    return f"{relative(origin, COMPARE)}?first={one}&second={two}"


def served_path(page: str) -> str:
    """Path below the site's root at which mkdocs serves a source path (directory addresses).

    Files that are no pages are served under their own path.
    """
    if not page.endswith(".md"):
        return page
    stem = page.removesuffix(".md")
    if stem == "index":
        return ""
    return stem.removesuffix("index") if stem.endswith("/index") else stem + "/"


def relative(origin: str, target: str, fragment: str = "") -> str:
    """Address of ``target`` as seen from the page ``origin``; both are source paths below the docs folder."""
    start = served_path(origin)
    goal = served_path(target)
    address = posixpath.relpath("/" + goal, "/" + start)
    if target.endswith(".md"):
        address += "/"
    return address + (f"#{fragment}" if fragment else "")
