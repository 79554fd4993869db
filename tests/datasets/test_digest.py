"""A digest stands for what defines a task, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from runner.datasets import Dataset, load_dataset
from tests.datasets.samples import new_repository, write_dataset

FULL = """\
schema_version: "1.1"
name: sample
title: A sample
description: One task.
version: "1"
visibility: public
license: MIT
created: 2026-01-01
default_ref: v1
output_scope: sample
metrics: [checks]
complexity_levels: [low, high]
source: {description: Made for a test.}
tasks:
  - id: first
    repo: https://example.org/team/project
    complexity: low
    tags: [a]
    problem_statement: Do it.
    problem_issue_url: https://example.org/1
    gist: Does it.
    clarifying_answers: Yes.
    ground_truth: {approach: Simply., expectations: [Works.], reference_url: https://example.org/2}
    checks:
      - {name: tests, command: [python, run.py], timeout_seconds: 60, hidden_files: [hidden]}
    reference_solution: solution.patch
    public_since: 2026-01-01
    canary: c-1
"""


def load(folder: Path, text: str = FULL) -> Dataset:
    hidden = folder / "hidden"
    hidden.mkdir(exist_ok=True)
    if not (hidden / "run.py").exists():
        (hidden / "run.py").write_text("1")
    (folder / "solution.patch").touch()
    return load_dataset(write_dataset(folder, text))


def test_layout_comments_quotes_order_and_number_format_do_not_matter(tmp_path: Path) -> None:
    dataset = load(tmp_path)
    document = yaml.safe_load(FULL.replace("2026-01-01", '"2026-01-01"').replace(": 60,", ": 60.0,"))
    for style in (
        yaml.safe_dump(document, sort_keys=True, default_flow_style=False),
        yaml.safe_dump(document, sort_keys=False, default_flow_style=True, width=1000),
        "# a comment\n" + FULL.replace("\n  - id", "\n\n  # more\n  - id"),
        FULL.replace("\n", "\r\n"),
    ):
        again = load(tmp_path, style)
        assert again.digest() == dataset.digest()
        assert again.tasks[0].digest() == dataset.tasks[0].digest()


def test_a_default_written_out_does_not_matter(tmp_path: Path) -> None:
    plain = FULL.replace(", timeout_seconds: 60", "")
    assert load(tmp_path, plain).digest() == load(tmp_path, FULL.replace("60", "300")).digest()
    own_ref = FULL.replace("    complexity: low", "    ref: v1\n    complexity: low")
    assert load(tmp_path, own_ref).tasks[0].digest() == load(tmp_path).tasks[0].digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: first", "id: other"),
        ("team/project", "team/other"),
        ("default_ref: v1", "default_ref: v2"),
        ("complexity: low", "complexity: high"),
        ("tags: [a]", "tags: [a, b]"),
        ("Do it.", "Do it!"),
        ("example.org/1", "example.org/9"),
        ("clarifying_answers: Yes.", "clarifying_answers: No."),
        ("Simply.", "Hardly."),
        ("[Works.]", "[Works., Fast.]"),
        ("name: tests", "name: other"),
        ("[python, run.py]", "[python, run.py, -v]"),
        ("timeout_seconds: 60", "timeout_seconds: 61"),
        ("c-1", "c-2"),
        ("    repo:", "    kind: load\n    repo:"),
    ],
)
def test_what_defines_a_task_changes_both_digests(tmp_path: Path, old: str, new: str) -> None:
    before, after = load(tmp_path), load(tmp_path, FULL.replace(old, new, 1))
    assert after.tasks[0].digest() != before.tasks[0].digest()
    assert after.digest() != before.digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: A sample", "title: Another"),
        ("description: One task.", "description: 1 task."),
        ("license: MIT", "license: MIT-0"),
        ("metrics: [checks]", "metrics: [cost]"),
        ("gist: Does it.", "gist: Does that."),
        ("    public_since: 2026-01-01\n", ""),
        ("    reference_solution: solution.patch\n", ""),
        ("visibility: public", "visibility: private"),
    ],
)
def test_what_only_describes_changes_none(tmp_path: Path, old: str, new: str) -> None:
    assert old in FULL
    assert load(tmp_path, FULL.replace(old, new)).digest() == load(tmp_path).digest()


def test_the_version_changes_the_digest_of_the_dataset_alone(tmp_path: Path) -> None:
    before, after = load(tmp_path), load(tmp_path, FULL.replace('version: "1"\nv', 'version: "2"\nv'))
    assert after.digest() != before.digest()
    assert after.tasks[0].digest() == before.tasks[0].digest()


def test_bytes_names_and_modes_of_hidden_files_count(tmp_path: Path) -> None:
    digests = [load(tmp_path).tasks[0].digest()]
    path = tmp_path / "hidden" / "run.py"
    path.write_text("2")
    digests.append(load(tmp_path).tasks[0].digest())
    path.chmod(0o755)
    digests.append(load(tmp_path).tasks[0].digest())
    (tmp_path / "hidden" / "more.py").write_text("")
    digests.append(load(tmp_path).tasks[0].digest())
    assert len(set(digests)) == 4


def test_a_tag_that_moves_in_a_bundle_counts(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "source")
    digests = []
    for content in (b"1", b"2"):
        commit = repository.commit({"a.txt": content})
        repository.git("tag", "--force", "v1")
        repository.git("bundle", "create", "--quiet", str(tmp_path / "b.bundle"), "v1")
        task = load(tmp_path, FULL.replace("https://example.org/team/project", "b.bundle")).tasks[0]
        assert task.pinned_object == commit
        digests.append(task.digest())
    assert digests[0] != digests[1]


def test_the_digest_is_what_it_was_in_earlier_releases(tmp_path: Path) -> None:
    dataset = load(tmp_path)
    assert dataset.tasks[0].digest() == "90e30dd5c447e872aea23ff54a80e310ef76de7635fc3295a83e05acb01feb15"
    assert dataset.digest() == "44af9feec48d567b22fb0c9b7f903e8c26a223218b2a67921c42742f9fd6d99b"
