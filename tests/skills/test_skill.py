"""Skills: what an agent is told, what it is never told, and what it must leave behind."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import runner.skills
from runner.datasets import load_dataset
from runner.errors import ConfigurationError, UsageError
from runner.skills import SKILLS, load_skill, skill

ROOT = Path(__file__).parents[2]
FIX = Path(runner.skills.__file__).parent / "fix"
WORKSPACE, ARTIFACTS = Path("/w/checkout"), Path("/w/artifacts")


@dataclass(frozen=True)
class Issue:
    """A task with more than a skill may look at."""

    problem_statement: str | None = "Make it work."
    problem_issue_url: str | None = None
    clarifying_answers: str | None = None
    ground_truth: str = "the answer is forty-two"
    looked_at: list[str] = field(default_factory=list)


def prompt(task: Issue, *present: str) -> str:
    return skill("fix").prompt(task, artifacts=ARTIFACTS, workspace=WORKSPACE, present=present)


@pytest.mark.parametrize("name", sorted(SKILLS))
def test_a_registered_skill_has_a_contract_and_a_digest(name: str) -> None:
    found = skill(name)
    assert found.name == name
    assert found.version
    assert len(found.digest) == 64
    assert "patch.diff" in found.artifacts
    assert len(set(found.artifacts)) == len(found.artifacts)


def test_fix_asks_the_agent_for_the_note_and_makes_the_patch_itself() -> None:
    found = skill("fix")
    assert {rule.name: rule.made_by for rule in found.contract.artifacts} == {
        "patch.diff": "runner",
        "implementation.md": "agent",
    }


def test_the_prompt_names_both_folders_verbatim_and_every_required_heading() -> None:
    text = prompt(Issue())
    assert f"\nworkspace: {WORKSPACE}\n" in text
    assert f"\nartifacts_dir: {ARTIFACTS}\n" in text
    assert f"`{ARTIFACTS}/implementation.md`" in text
    assert "Make it work." in text
    for rule in skill("fix").contract.artifacts:
        for heading in rule.required_headings:
            assert f"`## {heading}`" in text
    assert "{{" not in text
    assert "artifacts_present" not in text


def test_answers_and_reference_are_given_where_there_are_any() -> None:
    with_both = prompt(Issue(clarifying_answers="Yes.", problem_issue_url="https://example.org/1"))
    assert "Answers to questions you may have: Yes." in with_both
    assert "Reference: https://example.org/1" in with_both
    without = prompt(Issue(clarifying_answers="  "))
    assert "None were given." in without
    assert "Reference:" not in without


def test_a_completion_pass_names_what_is_there_and_what_is_missing() -> None:
    text = prompt(Issue(), "patch.diff")
    assert "\nartifacts_present: patch.diff\nartifacts_missing: implementation.md\n" in text


def test_nothing_of_the_ground_truth_reaches_a_prompt() -> None:
    assert "forty-two" not in prompt(Issue())
    dataset = load_dataset(ROOT / "datasets" / "hello-world.yaml")
    for task in dataset.tasks:
        text = skill("fix").prompt(task, artifacts=ARTIFACTS, workspace=WORKSPACE)
        assert task.ground_truth is not None
        assert str(task.ground_truth)[:40] not in text
        assert "hidden" not in text
        assert str(task.canary) not in text


@pytest.mark.parametrize("statement", [None, "", "  \n"])
def test_a_task_without_a_statement_cannot_be_asked(statement: str | None) -> None:
    with pytest.raises(ConfigurationError, match="no problem statement"):
        prompt(Issue(problem_statement=statement))


@pytest.mark.parametrize("folder", [Path("relative"), Path("/two\nlines")])
def test_a_folder_must_be_absolute_and_on_one_line(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="absolute"):
        skill("fix").prompt(Issue(), artifacts=folder, workspace=WORKSPACE)


@given(st.text(min_size=1, max_size=80) | st.sampled_from(["{{artifacts}}", "{{answers}}", r"\g<0>", r"\1"]))
def test_a_statement_arrives_as_it_is_whatever_it_holds(statement: str) -> None:
    if statement.strip():
        assert statement.strip() in prompt(Issue(problem_statement=statement))


def test_missing_headings_are_found_without_regard_to_case_and_level() -> None:
    found = skill("fix")
    text = "# what changed\n### FILES ##\ntext\n## Verification\n    ## Left open\n"
    assert found.missing_headings("implementation.md", text) == ("Left open",)
    assert found.missing_headings("implementation.md", "") == (
        "What changed",
        "Files",
        "Verification",
        "Left open",
    )
    assert found.missing_headings("patch.diff", "") == ()


def copy_of_fix(folder: Path) -> Path:
    return Path(shutil.copytree(FIX, folder / "fix"))


@pytest.mark.parametrize("name", ["prompt.md", "contract.yaml"])
def test_any_changed_byte_changes_the_digest(name: str, tmp_path: Path) -> None:
    folder = copy_of_fix(tmp_path)
    before = load_skill(folder).digest
    assert before == skill("fix").digest
    with (folder / name).open("a", encoding="utf-8") as stream:
        stream.write("\n")
    assert load_skill(folder).digest != before


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("contract.yaml", "version:", "verison:", "verison"),
        ("contract.yaml", "made_by: agent", "made_by: magic", "artifacts.1.made_by"),
        ("contract.yaml", "name: patch.diff", "name: ../patch.diff", "artifacts.0.name"),
        ("contract.yaml", "schema_version: 1", "schema_version: [", "cannot be read"),
        ("prompt.md", "{{artifacts}}", "the folder", r"lacks marks: \{\{artifacts\}\}"),
    ],
)
def test_a_fault_in_a_skill_is_named(name: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    path = copy_of_fix(tmp_path) / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words):
        load_skill(path.parent)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_skill(tmp_path)


def test_an_unknown_skill_offers_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'fix'"):
        skill("fixx")
    with pytest.raises(ConfigurationError, match="is no skill"):
        skill("pathlib:Path")


DESIGN = ("swe2", "swe3")
SIX = ("github-issue.md", "lld.md", "review.md", "testing.md", "patch.diff", "implementation.md")


@pytest.mark.parametrize("name", sorted(SKILLS))
def test_a_prompt_names_its_skill_its_folders_and_every_required_heading(name: str) -> None:
    found = skill(name)
    text = found.prompt(Issue(), artifacts=ARTIFACTS, workspace=WORKSPACE)
    for line in (f"skill: {name}", f"workspace: {WORKSPACE}", f"artifacts_dir: {ARTIFACTS}"):
        assert f"\n{line}\n" in text
    for rule in found.contract.artifacts:
        assert f"`{rule.name}`" in text or rule.name in text or rule.made_by == "runner"
        for heading in rule.required_headings:
            assert f"`## {heading}`" in text, heading
    assert "{{" not in text


@pytest.mark.parametrize("name", DESIGN)
def test_the_design_skills_ask_for_six_artifacts_and_make_the_patch_themselves(name: str) -> None:
    found = skill(name)
    assert found.artifacts == SIX
    made = {rule.name: rule.made_by for rule in found.contract.artifacts}
    assert [artifact for artifact, maker in made.items() if maker == "runner"] == ["patch.diff"]
    text = " ".join(found.template.split())
    for words in ("Do not run the project", "`Resolution:`", "absolute paths", "refused twice", "no network"):
        assert words in text, words


def test_one_design_skill_forbids_helpers_and_the_other_wants_them() -> None:
    alone, group = (skill(name) for name in ("swe3", "swe2"))
    assert "start none" in alone.template
    assert "Start five agents at the same time" in group.template
    assert alone.contract.artifacts == group.contract.artifacts
    assert alone.digest != group.digest


@pytest.mark.parametrize("name", DESIGN)
def test_a_completion_pass_of_a_design_skill_names_what_is_missing(name: str) -> None:
    text = skill(name).prompt(
        Issue(), artifacts=ARTIFACTS, workspace=WORKSPACE, present=["github-issue.md", "lld.md"]
    )
    assert "\nartifacts_present: github-issue.md, lld.md\n" in text
    assert "\nartifacts_missing: review.md, testing.md, implementation.md\n" in text


def test_the_packaged_skills_are_those_of_the_registry() -> None:
    folder = Path(runner.skills.__file__).parent
    assert {path.parent.name for path in folder.glob("*/prompt.md")} == set(SKILLS.values())
