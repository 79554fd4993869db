"""Rubrics: which files are judged together, what scores zero unasked, and what a rubric file must hold."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runner.errors import ConfigurationError, UsageError
from runner.judges.rubric import FOLDER, MARKS, RUBRICS, load_rubric, rubric, rubric_for
from runner.skills import skill
from runner.skills.registry import SKILLS
from tests.judges.made import FIX, WHOLE


@pytest.mark.parametrize("name", SKILLS)
def test_every_skill_has_a_rubric_that_shows_each_of_its_artifacts(name: str) -> None:
    assert set(rubric_for(name).files) == set(skill(name).artifacts)


def test_a_change_alone_is_judged_by_another_rubric_than_a_design() -> None:
    assert rubric_for("fix").identity == "implementation-1"
    assert rubric_for("swe3").identity == rubric_for("swe2").identity == "five-artifacts-1"
    assert rubric_for("fix").digest != rubric_for("swe3").digest


def test_a_skill_that_no_rubric_declares_needs_one_named() -> None:
    with pytest.raises(UsageError, match="no rubric is for skill 'bake'"):
        rubric_for("bake")
    assert rubric_for("bake", "implementation").name == "implementation"


def test_an_unknown_rubric_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="five-artifacts"):
        rubric("five-artefacts")


def test_an_import_path_must_lead_to_a_rubric() -> None:
    with pytest.raises(ConfigurationError, match="is no rubric"):
        rubric("runner.judges.rubric:FOLDER")
    assert rubric("tests.judges.test_rubric:OWN").name == "implementation"


OWN = load_rubric(FOLDER / "implementation")


def test_everything_that_is_there_is_asked_about() -> None:
    asked, missing = rubric("five-artifacts").parts(WHOLE)
    assert [each.name for each in asked] == ["github_issue", "lld", "review", "testing", "implementation"]
    assert missing == ()


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        ("lld.md", ("lld",)),
        ("patch.diff", ("implementation",)),
        ("implementation.md", ()),
    ],
)
def test_an_artifact_without_what_it_needs_is_not_asked_about(gone: str, missing: tuple[str, ...]) -> None:
    files = {name: data for name, data in WHOLE.items() if name != gone}
    assert rubric("five-artifacts").parts(files)[1] == missing


def test_a_blank_file_is_no_artifact() -> None:
    assert rubric("implementation").parts({**FIX, "patch.diff": b" \n\t\n"}) == ((), ("implementation",))


def copied(folder: Path) -> Path:
    shutil.copytree(FOLDER / "implementation", folder / "own")
    shutil.copy(FOLDER / "instructions.md", folder / "instructions.md")
    return folder / "own"


def test_any_change_of_rubric_or_instructions_changes_the_digest(tmp_path: Path) -> None:
    own = copied(tmp_path)
    before = load_rubric(own).digest
    assert before == rubric("implementation").digest
    for path in (own / "rubric.yaml", tmp_path / "instructions.md"):
        path.write_text(path.read_text().replace("Whole", "Entire").replace("honestly", "frankly") + "\n")
        assert load_rubric(own).digest != before
        before = load_rubric(own).digest


def test_a_rubric_may_bring_instructions_of_its_own(tmp_path: Path) -> None:
    own = copied(tmp_path)
    text = " ".join(f"{{{{{mark}}}}}" for mark in MARKS)
    (own / "instructions.md").write_text(text)
    assert load_rubric(own).instructions == text


@pytest.mark.parametrize("mark", MARKS)
def test_instructions_that_leave_something_out_are_refused(mark: str, tmp_path: Path) -> None:
    own = copied(tmp_path)
    path = tmp_path / "instructions.md"
    path.write_text(path.read_text().replace(f"{{{{{mark}}}}}", ""))
    with pytest.raises(ConfigurationError, match=mark):
        load_rubric(own)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("version:", "edition:", "version"),
        ("  risk_awareness:", "  beauty:", "in this order"),
        ("files: [implementation.md, patch.diff]", "files: []", "files"),
        ("name: implementation", "name: Not A Slug", "name"),
        ("schema_version: 1", "schema_version: 2", "schema_version"),
        ("schema_version: 1", "- a list\n#", "cannot be read"),
    ],
)
def test_a_faulty_rubric_says_what_is_wrong(old: str, new: str, complaint: str, tmp_path: Path) -> None:
    own = copied(tmp_path)
    path = own / "rubric.yaml"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ConfigurationError, match=complaint):
        load_rubric(own)


def test_a_folder_without_a_rubric_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_rubric(tmp_path)


def test_every_registered_rubric_can_be_loaded() -> None:
    assert {rubric(name).name for name in RUBRICS} == set(RUBRICS)
