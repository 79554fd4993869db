"""The workflows ask for no more than they need and run pinned actions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.generators.publish.project import HOME

FOLDER = HOME / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.y*ml"))
PINNED = re.compile(r"^\s*uses: (?P<action>[\w.-]+/[\w./-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


def load(path: Path) -> dict[str, Any]:
    """A workflow; its key ``on``, which YAML reads as true, is called "on" again."""
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {"on" if key is True else str(key): value for key, value in read.items()}


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_is_one_workflow_for_tests_and_one_for_pages() -> None:
    assert [path.name for path in WORKFLOWS] == ["pages.yml", "tests.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(path: Path) -> None:
    used = [
        line for line in path.read_text(encoding="utf-8").splitlines() if re.match(r"\s*(- )?uses:", line)
    ]
    assert used
    for line in used:
        match = PINNED.match(line)
        assert match, line
        assert match["action"].startswith("actions/"), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_and_its_jobs_end(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 30
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_that_an_outsider_writes_reaches_a_shell_or_a_secret(path: Path) -> None:
    workflow = load(path)
    assert not {"pull_request_target", "workflow_run", "issue_comment"} & set(workflow["on"])
    assert "secrets." not in path.read_text(encoding="utf-8")
    for step in steps(workflow):
        assert not EXPRESSION.search(step.get("run", "")), step


def test_only_the_deploy_job_may_write_and_only_pages() -> None:
    jobs = load(FOLDER / "pages.yml")["jobs"]
    assert jobs["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert "write" not in jobs["build"]["permissions"].values()
    assert jobs["deploy"]["environment"]["name"] == "github-pages"
    assert jobs["deploy"]["needs"] == "build"
    # A job that may write runs no code of the repository.
    assert [step for step in jobs["deploy"]["steps"] if "run" in step] == []


def test_a_deployment_is_not_cut_off_and_never_comes_from_a_pull_request() -> None:
    workflow = load(FOLDER / "pages.yml")
    assert workflow["concurrency"] == {"group": "pages", "cancel-in-progress": False}
    assert set(workflow["on"]) == {"push", "workflow_dispatch"}
    assert workflow["on"]["push"]["branches"] == ["main"]


def test_the_site_is_built_for_the_address_that_pages_gives() -> None:
    job = load(FOLDER / "pages.yml")["jobs"]["build"]
    build = next(step for step in job["steps"] if "run" in step)
    assert build["run"] == "python3 start.py publish"
    source = EXPRESSION.fullmatch(build["env"]["SITE_URL"])
    assert source is not None
    step = source[1].strip().split(".")[1]
    asked = next(found["uses"] for found in job["steps"] if found.get("id") == step)
    assert asked.startswith("actions/configure-pages@")
    upload = next(found for found in job["steps"] if "upload-pages-artifact" in found.get("uses", ""))
    assert upload["with"]["path"] == "site"


def test_the_tests_run_the_readme_s_command_on_every_supported_python() -> None:
    job = load(FOLDER / "tests.yml")["jobs"]["tests"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[-1] == ".ci/run"
    # What comes before it only lets the runner's system make sandboxes.
    assert all("bubblewrap" in command and "pip" not in command for command in commands[:-1])
    assert (HOME / ".ci" / "run").stat().st_mode & 0o111
