"""The project as a whole: what the README promises, what is pinned, and what must never be committed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from runner.datasets import load_dataset

PROJECT = Path(__file__).parent.parent
PINNED = re.compile(r"[a-z0-9-]+==[A-Za-z0-9.+!]+")
TEXT = {
    ".py",
    ".md",
    ".yaml",
    ".yml",
    ".toml",
    ".txt",
    ".js",
    ".mjs",
    ".css",
    ".j2",
    ".html",
    ".json",
    ".jsonl",
    "",
}
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:home|root|Users|work|tmp/[a-z]+)/[\w.-]+/")
REGISTRIES = re.compile(
    r"(?:pypi\.org|pythonhosted|registry\.npmjs|npmmirror|deb\.debian|index-url|registry=)", re.I
)


def tracked() -> list[Path]:
    """Files git holds, or all of them outside a repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=False).stdout
    names = [name for name in listed.decode().split("\0") if name]
    paths = [PROJECT / name for name in names] or list(PROJECT.rglob("*"))
    return [path for path in paths if path.is_file()]


def texts() -> list[tuple[str, str]]:
    """Tracked text files, without the recorded results and the vendored bundle."""
    found = []
    for path in tracked():
        name = path.relative_to(PROJECT).as_posix()
        vendored = "plotly-" in path.name or name.startswith(("results/", "tests/data/"))
        if path.suffix in TEXT and not vendored:
            found.append((name, path.read_text(encoding="utf-8", errors="replace")))
    return found


def constraints() -> dict[str, str]:
    lines = (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(PINNED.fullmatch(line) for line in pins), [line for line in pins if not PINNED.fullmatch(line)]
    return dict(line.split("==") for line in pins)


def project_table() -> dict[str, object]:
    document = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    table = document["project"]
    assert isinstance(table, dict)
    return table


def requirement_names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~ ]", requirement)[0].lower().replace("_", "-") for requirement in requirements}


def test_every_direct_dependency_is_pinned_extras_included() -> None:
    table = project_table()
    extras = table["optional-dependencies"]
    assert isinstance(extras, dict)
    assert isinstance(table["dependencies"], list)
    wanted = requirement_names(table["dependencies"])
    for requirements in extras.values():
        wanted |= requirement_names(requirements)
    assert wanted - constraints().keys() == set()


def test_the_project_has_the_name_version_and_extras_it_promises() -> None:
    table = project_table()
    assert (table["name"], table["version"], table["requires-python"]) == ("harnessmark", "0.1.0", ">=3.11")
    assert isinstance(table["optional-dependencies"], dict)
    assert set(table["optional-dependencies"]) == {"cluster", "ifeval", "litellm", "test", "uvloop"}


def test_ci_runs_the_readmes_test_command_and_nothing_else() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    script = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [line for line in script.splitlines() if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == ["exec python3 start.py test"]
    assert re.search(r"^python3 start\.py test\b", readme, re.MULTILINE)


@pytest.mark.parametrize(
    ("what", "pattern"), [("path of a machine", MACHINE_PATHS), ("package registry", REGISTRIES)]
)
def test_no_tracked_text_holds(what: str, pattern: re.Pattern[str]) -> None:
    own = {"tests/test_project.py"}
    found = [
        f"{name}: {match.group(0)}"
        for name, text in texts()
        if name not in own
        for match in pattern.finditer(text)
    ]
    assert found == [], what


def test_every_file_the_readme_links_to_is_there() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", readme)
    assert links
    assert [link for link in links if not (PROJECT / link).exists()] == []


def test_the_dataset_in_the_guide_is_valid(tmp_path: Path) -> None:
    guide = (PROJECT / "site_src" / "your-own-repository.md").read_text(encoding="utf-8")
    example = guide.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "our-service.yaml").write_text(example, encoding="utf-8")
    # The folder of the task's hidden test, which the guide tells to put beside the file.
    hidden = tmp_path / "our-service" / "retry"
    hidden.mkdir(parents=True)
    (hidden / "test_retry.py").write_text("", encoding="utf-8")
    dataset = load_dataset(tmp_path / "our-service.yaml")
    assert [task.runnable for task in dataset.tasks] == [True]


def test_python_files_keep_to_the_size_the_project_sets_itself() -> None:
    long = [
        path.relative_to(PROJECT).as_posix()
        for path in tracked()
        if path.suffix == ".py" and path.read_text(encoding="utf-8").count("\n") > 400
    ]
    assert long == []
