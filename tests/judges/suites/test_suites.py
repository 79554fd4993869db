"""The shipped suites: how many pairs there are, that the sides differ in what they say, and broken suites."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from runner.datasets import load_dataset, seal
from runner.errors import ConfigurationError, UsageError
from runner.judges.brief import Sealing, make_brief
from runner.judges.rubric import rubric
from runner.judges.suites import Pair, Suite, load_suite, suite_names
from runner.judges.suites.patching import path_of, sections
from runner.judges.suites.suite import SUITES
from runner.records import CHANGED, REFERENCE

DATASETS = Path(__file__).parents[3] / "datasets"
SEALING = Sealing("candidate-0badcafe", "aaaa1111bbbb2222cccc3333")


@pytest.fixture(scope="module")
def suites() -> dict[str, Suite]:
    """Every shipped suite."""
    return {name: load_suite(name, DATASETS) for name in suite_names(DATASETS)}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of the tasks, as an agent finds it."""
    folder = tmp_path_factory.mktemp("checkout")
    task = load_dataset(DATASETS / "hello-world.yaml").tasks[0]
    sealed = seal(
        task.repo,
        task.ref,
        beside=DATASETS,
        cache=folder / "cache",
        workspace=folder / "workspace",
        git_dir=folder / "trusted.git",
    )
    return sealed.workspace


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Datasets whose suites a test may spoil."""
    shutil.copytree(DATASETS, tmp_path / "datasets", ignore=shutil.ignore_patterns("cassettes", "prices"))
    return tmp_path / "datasets"


def change(datasets: Path, suite: str, /, **changes: object) -> None:
    """Other values at the top of the file of a suite."""
    path = datasets / "judge-suites" / f"{suite}.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | changes), encoding="utf-8")


def prompt(pair: Pair, side: str) -> str:
    """What a judge is asked about a side."""
    by = pair.rubric(side, rubric("implementation"))
    return make_brief(pair.case(side), by, SEALING, workspace=None).prompt


def test_there_are_the_four_suites_with_enough_pairs(suites: dict[str, Suite]) -> None:
    assert tuple(suites) == SUITES
    assert {name: len(suite.pairs) for name, suite in suites.items()} == {
        "injection": 126,
        "anchors": 49,
        "length": 30,
        "order": 18,
    }


def test_a_hundred_attacked_submissions_are_of_many_kinds_and_all_different(suites: dict[str, Suite]) -> None:
    injection = suites["injection"]
    assert len({pair.digest(CHANGED) for pair in injection.pairs}) == len(injection.pairs) >= 100
    kinds = Counter(pair.category for pair in injection.pairs)
    assert len(kinds) == 14
    assert set(kinds) == set(injection.categories)
    assert min(kinds.values()) == 9


def test_the_first_pairs_are_of_as_many_kinds_as_they_can_be(suites: dict[str, Suite]) -> None:
    first = suites["injection"].pairs[:14]
    assert len({pair.category for pair in first}) == 14
    assert len({pair.task.id for pair in first}) == 5


def test_both_sides_are_put_to_the_judge_and_differ(suites: dict[str, Suite]) -> None:
    for suite in suites.values():
        assert len({pair.id for pair in suite.pairs}) == len(suite.pairs)
        for pair in suite.pairs:
            assert prompt(pair, REFERENCE) != prompt(pair, CHANGED), pair.id


def test_hidden_orders_reach_the_judge_spelled_out(suites: dict[str, Suite]) -> None:
    hidden = [pair for pair in suites["injection"].pairs if pair.category == "invisible-characters"]
    for pair in hidden:
        assert "<U+" in prompt(pair, CHANGED)
        assert "<U+" not in prompt(pair, REFERENCE)


def test_every_patch_applies_but_those_for_files_that_are_not_there(
    suites: dict[str, Suite], checkout: Path
) -> None:
    refused = set()
    patches = {
        (side.patch, pair.id)
        for suite in suites.values()
        for pair in suite.pairs
        for side in pair.sides.values()
    }
    for patch in {patch for patch, _ in patches}:
        done = subprocess.run(
            ["git", "apply", "--check", "-"],
            cwd=checkout,
            input=patch.encode(),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            refused |= {name for text, name in patches if text == patch}
    assert {name.partition(".")[0] for name in refused} == {"wrong-files"}


def test_the_order_is_all_that_changes_in_the_order_suite(suites: dict[str, Suite]) -> None:
    for pair in suites["order"].pairs:
        reference, changed = pair.sides[REFERENCE], pair.sides[CHANGED]
        assert reference.note == changed.note
        assert sorted(sections(reference.patch)) == sorted(sections(changed.patch))
        first, second = prompt(pair, REFERENCE), prompt(pair, CHANGED)
        assert sorted(first) == sorted(second)
        if pair.category == "files":
            assert first.index("BEGIN implementation.md") < first.index("BEGIN patch.diff")
            assert second.index("BEGIN patch.diff") < second.index("BEGIN implementation.md")


def test_the_order_of_what_is_shown_is_no_other_rubric(suites: dict[str, Suite]) -> None:
    pair, plain = suites["order"].pairs[0], rubric("implementation")
    assert pair.rubric(REFERENCE, plain) is plain
    turned = pair.rubric(CHANGED, plain)
    assert (turned.identity, turned.digest) == (plain.identity, plain.digest)
    assert turned.files == plain.files[::-1]


def test_planted_defects_are_what_they_are_called(suites: dict[str, Suite]) -> None:
    by_category = {pair.category: pair for pair in suites["anchors"].pairs}
    patches = {name: pair.sides[CHANGED].patch for name, pair in by_category.items()}
    assert "deleted file mode" in patches["deleted-tests"]
    assert [path_of(part) for part in sections(patches["no-op"])] == ["docs/changes.md"]
    assert not any(path_of(part).startswith("tests/") for part in sections(patches["missing-tests"]))
    assert "tests/" in by_category["missing-tests"].sides[CHANGED].note
    assert "clockbook/" not in patches["wrong-files"]
    other = by_category["another-task"]
    assert other.sides[CHANGED].patch != other.sides[REFERENCE].patch


def test_padding_only_adds(suites: dict[str, Suite]) -> None:
    for pair in suites["length"].pairs:
        reference, changed = pair.sides[REFERENCE], pair.sides[CHANGED]
        assert changed.patch == reference.patch
        assert changed.note.startswith(reference.note.rstrip())
        assert len(changed.note) > len(reference.note) + 200


def test_a_digest_is_that_of_every_letter(suites: dict[str, Suite], broken: Path) -> None:
    assert load_suite("length", broken).digest == suites["length"].digest
    note = broken / "judge-suites" / "work" / "fair-rounding" / "partial.md"
    note.write_text(note.read_text() + "\nOne word more.\n", encoding="utf-8")
    assert load_suite("length", broken).digest != suites["length"].digest


def test_an_unknown_suite_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no suite 'injektion'") as caught:
        load_suite("injektion", DATASETS)
    assert "injection, anchors, length, order" in (caught.value.remedy or "")


def test_a_suite_of_ones_own_stands_behind_the_shipped_ones(broken: Path) -> None:
    shutil.copy(broken / "judge-suites" / "order.yaml", broken / "judge-suites" / "anew.yaml")
    change(broken, "anew", name="anew")
    assert suite_names(broken) == (*SUITES, "anew")
    assert len(load_suite("anew", broken).pairs) == 18


NOTE = {"do": "note", "text": "x"}


def with_case(**case: object) -> list[dict[str, object]]:
    """Categories with one case."""
    return [{"name": "one", "title": "One", "cases": [{"id": "only", "edits": [NOTE], **case}]}]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"surprise": 1}, "surprise"),
        ({"name": "other"}, "its name is 'other'"),
        ({"categories": []}, "categories"),
        ({"categories": with_case(edits=[{"do": "magic"}])}, "magic"),
        ({"categories": with_case(edits=[])}, "edits"),
        ({"categories": with_case(tasks=["no-such-task"])}, "one.only, task no-such-task"),
        ({"categories": with_case() + with_case()}, "named twice: only"),
        (
            {"categories": with_case(edits=[{"do": "replace", "old": "never there", "new": "x"}])},
            "does not hold 'never there'",
        ),
        (
            {"categories": with_case(edits=[{"do": "leave-out", "under": "nowhere/"}])},
            "nothing below nowhere/",
        ),
        (
            {"categories": with_case(edits=[{"do": "delete", "path": "a", "content_from": "../../secret"}])},
            "leads out of the folder",
        ),
        (
            {"categories": with_case(edits=[{"do": "delete", "path": "a", "content_from": "no-such-file"}])},
            "No such file",
        ),
        ({"categories": with_case(edits=[{**NOTE, "filler": 10**9}])}, "filler"),
    ],
)
def test_a_faulty_suite_says_what_is_wrong(changes: dict[str, object], complaint: str, broken: Path) -> None:
    change(broken, "length", **changes)
    with pytest.raises(ConfigurationError) as caught:
        load_suite("length", broken)
    assert complaint in caught.value.what
    assert caught.value.where == "judge-suites/length.yaml"


@pytest.mark.parametrize("text", ["", "- a list\n", "{", "\x00"])
def test_a_file_that_is_no_suite_is_refused(text: str, broken: Path) -> None:
    (broken / "judge-suites" / "length.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError):
        load_suite("length", broken)


def test_a_submission_that_is_not_there_is_named(broken: Path) -> None:
    (broken / "judge-suites" / "work" / "whole-minutes" / "good.md").unlink()
    with pytest.raises(ConfigurationError) as caught:
        load_suite("order", broken)
    assert caught.value.where == "judge-suites/work/whole-minutes"
    shutil.rmtree(broken / "judge-suites" / "work")
    with pytest.raises(ConfigurationError, match="no submissions"):
        load_suite("order", broken)
