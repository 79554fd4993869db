"""Tasks of a run: recordings for its dataset, and repositories that can be had, with the cause where not."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.inquiry import inquire
from runner.engine.preflight.tasks import repository_checks, task_questions
from runner.engine.resolution import complete, resolve
from runner.engine.settings import RunSettings
from runner.providers.checks import Check, CheckState

BUNDLE = "repositories/clockbook.bundle"


def group(places: Places, **settings: object) -> Group:
    whole = complete(RunSettings(**settings), places)  # type: ignore[arg-type]
    return Group(whole, resolve(whole, places))


def found(places: Places, *groups: Group) -> list[Check]:
    return [line.check for line in inquire(task_questions(groups, places))]


def failed(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.state is CheckState.FAIL]


def test_datasets_skills_recordings_and_repositories_are_listed(places: Places) -> None:
    checks = found(places, group(places))
    assert failed(checks) == []
    assert {check.name for check in checks} == {"dataset", "skill", "recording", "repository"}


def test_one_repository_is_asked_for_once_for_all_its_tasks(places: Places) -> None:
    checks = found(places, group(places), group(places, model="replay-hasty"))
    assert len([check for check in checks if check.name == "repository"]) == 1


def test_a_model_without_a_recording_of_the_dataset_offers_those_with_one(places: Places) -> None:
    [check] = failed(found(places, group(places, model="replay-scripted")))
    assert (check.name, check.fix) == ("recording", "--model replay-careful,replay-hasty")


def test_a_dataset_that_nobody_recorded_offers_those_that_are(places: Places) -> None:
    text = (places.datasets / "hello-world.yaml").read_text(encoding="utf-8")
    text = text.replace("name: hello-world", "name: other").replace("scope: hello-world", "scope: other")
    (places.datasets / "other.yaml").write_text(text, encoding="utf-8")
    [check] = failed(found(places, group(places, model="replay-careful", dataset="other")))
    assert "no model has a recording of dataset other" in check.found
    assert "hello-world" in check.fix


@pytest.mark.parametrize(
    ("repo", "ref", "words"),
    [
        (BUNDLE, "v9.9.9", "no tag or branch 'v9.9.9'"),
        ("./nothing-here", "v1", "there is no repository at this path"),
        ("https://no-such-host.invalid/team/project", "v1", "the host is unknown"),
        ("https://127.0.0.1:9/team/project", "v1", "the server did not answer"),
        ("--upload-pack=x", "v1", "cannot begin with a dash"),
    ],
)
def test_each_cause_of_a_missing_repository_is_named(places: Places, repo: str, ref: str, words: str) -> None:
    [check] = repository_checks(repo, (ref,), places.datasets, places.repositories)
    assert check.state is CheckState.FAIL
    assert words in check.found
    assert check.fix
    assert not places.repositories.exists()


def test_looking_fetches_nothing(places: Places) -> None:
    [check] = repository_checks(BUNDLE, ("v0.3.0",), places.datasets, places.repositories)
    assert check.state is CheckState.PASS
    assert not places.repositories.exists()


def test_every_missing_ref_of_a_repository_is_named(places: Places, tmp_path: Path) -> None:
    checks = list(repository_checks(BUNDLE, ("v8", "v0.3.0", "v9"), places.datasets, tmp_path))
    assert [check.state for check in checks] == [CheckState.FAIL] * 2
