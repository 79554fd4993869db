"""A dataset file loads, or one report names every fault with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.datasets import ProblemSource, all_datasets, find_dataset, load_dataset
from runner.errors import DatasetError, UsageError
from tests.datasets.samples import VALID, write_dataset


def report_of(folder: Path, text: str) -> str:
    """The message for a faulty file."""
    with pytest.raises(DatasetError) as caught:
        load_dataset(write_dataset(folder, text))
    return caught.value.message()


def test_a_valid_file_loads_with_refs_filled_in(tmp_path: Path) -> None:
    dataset = load_dataset(write_dataset(tmp_path))
    assert [task.ref for task in dataset.tasks] == ["v1", "v2"]
    assert [task.problem_source for task in dataset.tasks] == [ProblemSource.TEXT, ProblemSource.ISSUE]
    assert [task.repository_name for task in dataset.tasks] == ["project", "project"]
    assert dataset.tasks_per_complexity() == {"low": 1, "high": 1}
    assert dataset.scope == "sample"


def test_an_output_scope_names_the_results(tmp_path: Path) -> None:
    text = VALID.replace("metrics:", "output_scope: elsewhere\nmetrics:")
    assert load_dataset(write_dataset(tmp_path, text)).scope == "elsewhere"


def test_text_is_taken_as_it_was_written(tmp_path: Path) -> None:
    text = VALID.replace("default_ref: v1", "default_ref: 1.20\ncreated: 2026-01-02").replace('"1"', "1.0")
    text = text.replace("[low, high]", "[low, high, no, 0x10]")
    dataset = load_dataset(write_dataset(tmp_path, text))
    assert dataset.tasks[0].ref == "1.20"
    assert dataset.created == "2026-01-02"
    assert dataset.version == "1.0"
    assert dataset.complexity_levels == ("low", "high", "no", "0x10")


def test_all_faults_stand_in_one_report_in_the_order_of_lines(tmp_path: Path) -> None:
    text = VALID.replace("name: sample", "name: Sample_Set").replace("\nversion: ", "\nversoin: ")
    text = text.replace("visibility: public", "visibility: open").replace(
        "complexity: high", "complexity: hihg"
    )
    message = report_of(tmp_path, text)
    assert message.splitlines()[0] == "5 faults in the dataset sample.yaml"
    assert [line.split(": ")[0].strip() for line in message.splitlines()[1:6]] == [
        "sample.yaml",
        "sample.yaml:2",
        "sample.yaml:5",
        "sample.yaml:6",
        "sample.yaml:18",
    ]
    assert "versoin: is no key here; did you mean 'version'?" in message
    assert "tasks[second].complexity: 'hihg' is not one of low, high; did you mean 'high'?" in message


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("title: A sample", "title:", 3, "title: is empty"),
        ("title: A sample", "title: [a]", 3, "title: must be text"),
        ('"1.1"', '"1.0"', 1, "schema_version: 1.0 has no version and visibility"),
        ('"1.1"', '"9"', 1, "schema_version: is '9'; expected '1.1'"),
        ("title: A sample", 'title: "a\\nb"', 3, "title: must be one line of text"),
        ("title: A sample", 'title: "a \\e[31m"', 3, "title: must be one line of text"),
        ("Two tasks.", '"red \\e[31m"', 4, "description: must be text, without control characters"),
        ("Two tasks.", '" "', 4, "description: must be text"),
        (
            "metrics: [checks]",
            "source: {commit: abc}\nmetrics: [c]",
            8,
            "source.commit: expected a full commit id",
        ),
        ("metrics: [checks]", "metrics: []", 8, "metrics: needs at least one item"),
        ("metrics: [checks]", "metrics: checks", 8, "metrics: must be a list"),
        (
            "metrics: [checks]",
            "created: 31.1.2026\nmetrics: [c]",
            8,
            "created: is '31.1.2026'; expected a date",
        ),
        ("metrics: [checks]", "created: 2026-02-30\nmetrics: [c]", 8, "there is no such day"),
        (
            "default_ref: v1",
            "default_ref: --upload-pack=x",
            7,
            "default_ref: is '--upload-pack=x'; not a tag",
        ),
        ("ref: v2", "ref: a..b", 17, "tasks[second].ref: is 'a..b'; not a tag, branch or commit id"),
        ("id: second", "id: ../second", 15, "tasks[../second].id: is '../second'; use lower-case letters"),
        ("id: second", "id: first", 15, "tasks[first].id: 'first' is taken by the item on line 11"),
        ("    problem_statement: Do it.\n", "", 11, "tasks[first]: needs problem_statement"),
        ("    complexity: low\n", "", 11, "tasks[first]: complexity is missing"),
        ("project.git", "project.git?x=1", 16, "the address must name a repository"),
        ("https://example.org/team/project.git", "http://example.org/a", 16, "http:// is not supported"),
        ("https://example.org/team/project.git", "ext::sh -c id", 16, "printable characters without spaces"),
        ("https://example.org/team/project.git", "ext::sh", 16, "transport helpers"),
        ("https://example.org/team/project.git", "--upload-pack=id", 16, "cannot begin with a dash"),
        ("https://example.org/issues/2", "javascript:alert(1)", 19, "not an address"),
        (
            "id: first",
            "id: first\n    kind: play",
            12,
            "tasks[first].kind: is 'play'; expected 'quality' or 'load'",
        ),
        ("id: first", "id: first\n    gist: a\n    gist: b", 13, "tasks[first].gist: stands twice"),
        ("id: first", "id: first\n    <<: {a: b}", 12, "merge keys (<<) are not read"),
        ("id: first", "id: first\n    ? [a]\n    : b", 12, "a key must be plain text"),
        ("id: first", "id: first\n    gist: !!python/name:os.system x", 12, "tag"),
        ("id: first", "id: first\n    problem_missing: lost", 12, "the task has a problem; remove this key"),
        ("id: first", "id: first\n    ground_truth: {aproach: x}", 12, "did you mean 'approach'?"),
        ("tasks:\n", "tasks:\n  - a task\n", 11, "tasks[0]: must hold keys and values"),
    ],
)
def test_a_fault_is_named_with_key_and_line(
    tmp_path: Path, old: str, new: str, line: int, expected: str
) -> None:
    assert VALID.count(old) >= 1
    message = report_of(tmp_path, VALID.replace(old, new, 1))
    assert any(
        text.startswith(f"  sample.yaml:{line}: ") and expected in text for text in message.splitlines()
    ), message


def test_a_password_in_an_address_is_refused_and_not_repeated(tmp_path: Path) -> None:
    message = report_of(
        tmp_path, VALID.replace("https://example.org/team/project.git", "https://u:hunter2@e.org/p")
    )
    assert "carries credentials" in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("{name: a, command: [x], timeout_seconds: soon}", "timeout_seconds: must be a number"),
        (
            "{name: a, command: [x], timeout_seconds: 0}",
            "timeout_seconds: is '0'; must be greater than 0",
        ),
        ("{name: a, command: [x], timeout_seconds: .nan}", "timeout_seconds: must be a number"),
        (
            "{name: a, command: [x], timeout_seconds: 1e9}",
            "timeout_seconds: is '1e9'; must be 86,400 or less",
        ),
        ("{name: a, command: []}", "command: needs at least one item"),
        ("{name: a, command: rm -rf}", "command: must be a list"),
        ("{name: a_b, command: [x]}", "name: is 'a_b'; use lower-case letters"),
        ("{name: a, command: [x], hidden_files: [../secret]}", "must be a path below the folder"),
        ("{name: a, command: [x], hidden_files: [/etc]}", "must be a path below the folder"),
        ("{name: a, command: [x], hidden_files: [nowhere]}", "there is no folder 'nowhere'"),
        ("{name: a, command: [x], hidden_files: [empty]}", "the folder 'empty' holds no files"),
        ("{name: a, command: [x], hidden_files: [linked]}", "linked/out is a link or no plain file"),
        ("{name: a, command: [x], hidden_files: [link]}", "there is no folder 'link'"),
        ("{name: a, command: [x], hiden_files: [empty]}", "did you mean 'hidden_files'?"),
        ("{name: a, command: [x]}, {name: a, command: [y]}", "'a' is taken by the item on line"),
    ],
)
def test_a_faulty_check_is_named(tmp_path: Path, check: str, expected: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "out").symlink_to("/etc/passwd")
    (tmp_path / "link").symlink_to("/etc")
    text = VALID.replace("    problem_statement", f"    checks: [{check}]\n    problem_statement")
    line = next(line for line in report_of(tmp_path, text).splitlines() if expected in line)
    assert line.startswith("  sample.yaml:14: tasks[first].checks[")


@pytest.mark.parametrize(
    ("solution", "expected"),
    [
        ("gone.patch", "there is no file 'gone.patch'"),
        ("../x.patch", "must be a path below the folder"),
        ("out.patch", "there is no file 'out.patch'"),
        ("here.patch", "nothing can prove it: the task has no checks"),
    ],
)
def test_a_reference_solution_must_be_a_file_beside_the_dataset(
    tmp_path: Path, solution: str, expected: str
) -> None:
    (tmp_path / "here.patch").write_text("x")
    (tmp_path / "out.patch").symlink_to("/etc/passwd")
    text = VALID.replace(
        "    problem_statement", f"    reference_solution: {solution}\n    problem_statement"
    )
    assert f"sample.yaml:14: tasks[first].reference_solution: {expected}" in report_of(
        tmp_path, text
    ) or expected in report_of(tmp_path, text)


def test_a_task_of_kind_load_needs_no_complexity(tmp_path: Path) -> None:
    text = VALID.replace("    complexity: low\n", "    kind: load\n")
    task = load_dataset(write_dataset(tmp_path, text)).tasks[0]
    assert task.complexity is None
    assert task.runnable


def test_a_task_without_a_problem_is_kept_when_it_says_why(tmp_path: Path) -> None:
    text = VALID.replace(
        "problem_statement: Do it.", "problem_missing: It was never published.\n    gist: Does it."
    )
    task = load_dataset(write_dataset(tmp_path, text)).tasks[0]
    assert task.problem_source is ProblemSource.NONE
    assert not task.runnable


def test_a_ref_that_a_bundle_does_not_hold_is_named_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "a.bundle").write_bytes(b"# v2 git bundle\n" + b"1" * 40 + b" refs/tags/v2.0\n\nPACK")
    text = VALID.replace("https://example.org/team/project.git", "a.bundle").replace(
        "ref: v2\n", "ref: v2.1\n"
    )
    assert "tasks[second].ref: 'v2.1' is not in a.bundle; did you mean 'v2.0'?" in report_of(tmp_path, text)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(DatasetError) as caught:
            load_dataset(path)
        assert str(path) in caught.value.message()


def test_a_dataset_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    path = write_dataset(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    assert find_dataset("sample", tmp_path) == path
    assert find_dataset(str(path), tmp_path / "elsewhere") == path
    assert all_datasets(tmp_path) == [path]
    assert all_datasets(tmp_path / "none") == []


def test_an_unknown_dataset_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    write_dataset(tmp_path)
    with pytest.raises(UsageError, match="did you mean 'sample'"):
        find_dataset("smaple", tmp_path)
    with pytest.raises(UsageError, match="no dataset file at this path"):
        find_dataset("./none.yaml", tmp_path)


def test_an_unknown_task_is_answered_with_the_nearest_id(tmp_path: Path) -> None:
    dataset = load_dataset(write_dataset(tmp_path))
    assert dataset.task_by_id("second").id == "second"
    with pytest.raises(UsageError, match="did you mean 'second'"):
        dataset.task_by_id("secnd")
