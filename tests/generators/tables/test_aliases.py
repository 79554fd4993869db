"""Aliases: two names are one model only where the table says so, and the table cannot contradict itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.tables.aliases import ModelAliases, load_model_aliases
from generators.tables.pairs import harness_pairs
from runner.errors import ConfigurationError
from tests import examples
from tests.generators.tables.made import Made, aliases, cells, committed

ENTRY = "    model: deepseek-v3.2\n    reason: dashes for dots\n    source: notes\n"


def written(folder: Path, content: str) -> Path:
    """The table in a file."""
    path = folder / "aliases.yaml"
    path.write_text(content, encoding="utf-8")
    return path


def test_the_shipped_table_names_models_that_have_results() -> None:
    known = {cell.identity.model.slug for cell in committed()}
    shipped = aliases()
    assert {"deepseek-3-2", "minimax-m2-5"} == set(shipped.aliases)
    for name, alias in shipped.aliases.items():
        assert name in known
        assert alias.model in known


def test_a_name_is_itself_unless_the_table_says_otherwise() -> None:
    shipped = aliases()
    assert shipped.model("deepseek-3-2") == "deepseek-v3.2"
    assert shipped.model("deepseek-v3.2") == "deepseek-v3.2"
    assert shipped.model("claude-opus-4.8") == "claude-opus-4.8"


def test_other_names_are_found_from_both_sides() -> None:
    shipped = aliases()
    known = ["deepseek-3-2", "deepseek-v3.2", "glm-5.2"]
    assert shipped.others("deepseek-3-2", known) == ["deepseek-v3.2"]
    assert shipped.others("deepseek-v3.2", known) == ["deepseek-3-2"]
    assert shipped.others("glm-5.2", known) == []
    assert "dashes for dots" in shipped.reason("deepseek-v3.2", "deepseek-3-2")
    assert shipped.reason("glm-5.2", "glm-5.2") == ""


@given(st.text(alphabet="abc-.1", min_size=1, max_size=8))
def test_the_model_of_a_model_is_itself(slug: str) -> None:
    shipped = aliases()
    assert shipped.model(shipped.model(slug)) == shipped.model(slug)


def test_pairs_join_the_two_names_of_a_model() -> None:
    joined = {
        (model.first.identity.model.slug, model.second.identity.model.slug)
        for pair in harness_pairs(committed(), aliases())
        if (pair.first, pair.second) == ("kiro-cli", "pi")
        for model in pair.models
    }
    assert {("deepseek-3-2", "deepseek-v3.2"), ("minimax-m2-5", "minimax-m2.5")} <= joined


def test_names_that_only_look_alike_are_not_joined(tmp_path: Path) -> None:
    trials = [
        Made("task-a", cell=examples.cell("model-1.5")),
        Made("task-a", cell=examples.cell("model-1-5", harness="pi")),
    ]
    assert harness_pairs(cells(tmp_path, trials), ModelAliases()) == []


def test_without_a_file_the_table_is_empty(tmp_path: Path) -> None:
    assert load_model_aliases(tmp_path / "none.yaml") == ModelAliases()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("schema_version: 1\naliases:\n  a:\n    model: b\n", "line 3: aliases.a.reason"),
        ("schema_version: 1\naliases:\n  a_b:\n" + ENTRY, "line 3"),
        ("schema_version: 2\n", "line 1: schema_version"),
        ("schema_version: 1\nalias: {}\n", "line 2: alias"),
        ("schema_version: 1\naliases:\n  deepseek-v3.2:\n" + ENTRY, "stands for itself"),
        (
            "schema_version: 1\naliases:\n  a:\n" + ENTRY + "  b:\n" + ENTRY.replace("deepseek-v3.2", "a"),
            "b stands for a, which is another name itself",
        ),
        ("schema_version: 1\naliases:\n  a:\n" + ENTRY + "  a:\n" + ENTRY, "given twice"),
        ("[", "not YAML"),
    ],
)
def test_a_fault_of_the_table_is_named_with_its_line(tmp_path: Path, content: str, fault: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_model_aliases(written(tmp_path, content))
    assert fault in str(caught.value)
    assert "aliases.yaml" in str(caught.value)
