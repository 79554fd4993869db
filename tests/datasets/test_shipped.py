"""The datasets that come with the program are sound and say where they come from."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from runner.datasets import (
    ProblemSource,
    apply_patch,
    build_bundle,
    check_dataset,
    list_dataset,
    list_datasets,
    load_dataset,
    reveal_hidden_files,
    run_check,
    seal,
)
from runner.datasets.bundle import bundle_refs
from runner.datasets.git import must_git
from runner.records import CheckStatus
from tests.datasets.samples import write_dataset

DATASETS = Path(__file__).parents[2] / "datasets"
HELLO = DATASETS / "hello-world.yaml"
REPOSITORIES = DATASETS / "repositories"
BUNDLE = REPOSITORIES / "clockbook.bundle"


def show(path: str, ref: str = "v0.3.0", folder: Path | None = None) -> bytes:
    """A file of the bundled repository."""
    assert folder is not None
    if not (folder / "HEAD").exists():
        must_git("init", "--quiet", "--bare", "--template=", str(folder))
        must_git("fetch", "--quiet", str(BUNDLE), "+refs/*:refs/*", git_dir=folder)
    return must_git("show", f"{ref}:{path}", git_dir=folder)


def test_every_shipped_file_is_valid() -> None:
    listings = {listing.name: listing for listing in list_datasets(DATASETS)}
    assert {name: len(listing.tasks) for name, listing in listings.items()} == {
        "hello-world": 5,
        "hello-world-sanity": 1,
        "mcp-gateway-registry": 5,
        "mcp-gateway-registry-v2": 21,
        "multi-repo-throughput": 25,
    }
    assert [listing.faults for listing in listings.values()] == [None] * 5
    assert all(path.stem == name for name, path in ((x.name, x.path) for x in listings.values()))


def test_a_faulty_file_is_listed_with_its_faults(tmp_path: Path) -> None:
    write_dataset(tmp_path)
    write_dataset(tmp_path, "name: [", "broken.yaml")
    broken, sound = list_datasets(tmp_path)
    assert (broken.ok, sound.ok) == (False, True)
    assert "not YAML" in (broken.faults or "")
    assert [line.problem_source for line in sound.tasks] == ["text", "issue"]
    assert list_dataset(tmp_path / "none.yaml").ok is False


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("mcp-gateway-registry", {"low": 0, "medium": 3, "high": 2}),
        ("mcp-gateway-registry-v2", {"trivial": 5, "low": 5, "medium": 6, "high": 5}),
        ("hello-world-sanity", {"low": 1, "medium": 0, "high": 0}),
    ],
)
def test_imported_facts_have_their_tiers(name: str, levels: dict[str, int]) -> None:
    assert load_dataset(DATASETS / f"{name}.yaml").tasks_per_complexity() == levels


def test_imported_facts_name_their_source_and_pass_nothing_off_as_the_original() -> None:
    for name in (
        "mcp-gateway-registry",
        "mcp-gateway-registry-v2",
        "hello-world-sanity",
        "multi-repo-throughput",
    ):
        dataset = load_dataset(DATASETS / f"{name}.yaml")
        source = dataset.source
        assert source is not None
        assert source.repository
        assert source.commit
        assert source.path
        assert source.license == "MIT-0"
        for task in dataset.tasks:
            assert task.problem_statement is None
            assert task.checks == ()
            if task.problem_source is ProblemSource.NONE:
                assert task.problem_missing
            else:
                assert re.fullmatch(rf"{re.escape(task.repo)}/issues/\d+", task.problem_issue_url or "")


def test_the_load_set_covers_25_repositories_in_six_languages() -> None:
    dataset = load_dataset(DATASETS / "multi-repo-throughput.yaml")
    assert len({task.repo for task in dataset.tasks}) == 25
    assert {task.kind for task in dataset.tasks} == {"load"}
    assert {task.complexity for task in dataset.tasks} == {None}
    assert Counter("/".join(task.tags) for task in dataset.tasks) == {
        "python": 10,
        "java": 5,
        "rust": 3,
        "go": 2,
        "javascript": 2,
        "html/css": 3,
    }


def test_every_hello_world_task_is_proven(tmp_path: Path) -> None:
    proofs = check_dataset(HELLO, cache=tmp_path)
    assert [(proof.task, proof.problems) for proof in proofs] == [
        ("quarter-hour-default", ()),
        ("entry-across-midnight", ()),
        ("totals-by-tag", ()),
        ("whole-minutes", ()),
        ("fair-rounding", ()),
    ]
    assert all(proof.reference_passes and proof.empty_patch_fails for proof in proofs)


def test_the_bundle_is_built_from_its_patches(tmp_path: Path) -> None:
    refs = build_bundle(REPOSITORIES / "clockbook", tmp_path / "again.bundle")
    assert refs == bundle_refs(BUNDLE)
    assert refs["refs/tags/v0.3.0"] == "c289c55a94d9b41c79182ddf12b6b1c9a745574d"
    assert bundle_refs(tmp_path / "again.bundle") == refs


def test_later_commits_of_the_bundle_hold_solutions(tmp_path: Path) -> None:
    assert b"DEFAULT_STEP_MINUTES = 10" in show("clockbook/duration.py", folder=tmp_path)
    assert b"DEFAULT_STEP_MINUTES = 15" in show("clockbook/duration.py", "v0.4.0", tmp_path)


def test_the_visible_tests_used_for_grading_are_those_of_the_repository(tmp_path: Path) -> None:
    visible = DATASETS / "hello-world" / "hidden" / "visible"
    names = {path.relative_to(visible).as_posix() for path in visible.rglob("*.py")}
    tree = must_git("ls-tree", "--name-only", "v0.3.0", "tests/", git_dir=_bare(tmp_path)).decode().split()
    assert names == set(tree)
    for name in names:
        assert (visible / name).read_bytes() == show(name, folder=tmp_path)


def test_hidden_files_and_canary_are_not_in_the_repository(tmp_path: Path) -> None:
    dataset = load_dataset(HELLO)
    canaries = {task.canary for task in dataset.tasks}
    assert len(canaries) == 1
    canary = (canaries.pop() or "").encode()
    everything = must_git("cat-file", "--batch-all-objects", "--batch", git_dir=_bare(tmp_path))
    assert canary not in everything
    assert b"hidden_checks" not in everything
    for task in dataset.tasks:
        tests = DATASETS / "hello-world" / "hidden" / task.id / "hidden_checks" / "test_task.py"
        assert canary in tests.read_bytes()


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("clockbook/__init__.py", "import os\nos._exit(0)\n"),
        ("clockbook/__init__.py", "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)\n"),
        ("unittest.py", "raise SystemExit(0)\n"),
        ("hidden_checks/run.py", "raise SystemExit(0)\n"),
        ("sitecustomize.py", "import os\nos._exit(0)\n"),
        ("tests/__init__.py", "raise SystemExit(0)\n"),
    ],
)
def test_code_that_ends_the_interpreter_or_shadows_the_tests_does_not_pass(
    tmp_path: Path, file: str, code: str
) -> None:
    task = load_dataset(HELLO).task_by_id("fair-rounding")
    checkout = seal(
        task.repo,
        task.ref,
        beside=DATASETS,
        cache=tmp_path / "cache",
        workspace=tmp_path / "workspace",
        git_dir=tmp_path / "git",
    )
    path = checkout.workspace / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code)
    check = task.checks[0]
    reveal_hidden_files(check, HELLO, checkout.workspace)
    run = run_check(check.command, workspace=checkout.workspace, timeout_seconds=check.timeout_seconds)
    assert run.status is CheckStatus.FAILED, run.output_tail


def test_the_reference_solutions_also_pass_the_tests_that_they_bring(tmp_path: Path) -> None:
    for number, task in enumerate(load_dataset(HELLO).tasks):
        checkout = seal(
            task.repo,
            task.ref,
            beside=DATASETS,
            cache=tmp_path / "cache",
            workspace=tmp_path / str(number) / "workspace",
            git_dir=tmp_path / str(number) / "git",
        )
        assert apply_patch(checkout, (DATASETS / (task.reference_solution or "")).read_bytes()).ok
        command = ["python", "-m", "unittest", "discover", "-s", "tests", "-t", "."]
        run = run_check(command, workspace=checkout.workspace, timeout_seconds=300)
        assert run.status is CheckStatus.PASSED, run.output_tail


def _bare(folder: Path) -> Path:
    show("README.md", folder=folder)
    return folder


def test_tasks_without_a_level_are_not_listed_as_zeros_of_levels() -> None:
    [listing] = [each for each in list_datasets(DATASETS) if each.name == "multi-repo-throughput"]
    first, *tasks = [line for line in listing.lines(in_full=True) if not line.startswith("digest")]
    assert first.endswith("; 25 tasks: 25 without a level")
    assert all("(no level)" in line for line in tasks)
