"""Slugs and path components: every published example, and nothing that leaves the root."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import PathEscapeError
from runner.records import CellIdentity, ModelName, TrialIdentity
from runner.store import below, component, model_slug, slug, wire_id
from runner.store.layout import trial_folder

ROOT = Path("results")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("us.anthropic.claude-opus-4-8[1m]", "claude-opus-4-8"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("glm-5.2", "glm-5.2"),
        ("moonshotai.kimi-k2.5", "moonshotai.kimi-k2.5"),
        ("us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("global.anthropic.claude-sonnet-5", "claude-sonnet-5"),
        ("apac.anthropic.claude-x", "claude-x"),
        ("eu.amazon.nova-pro-v1:0", "nova-pro"),
        ("deepseek-v3", "deepseek-v3"),
        ("deepseek-v3.2", "deepseek-v3.2"),
        ("zai-org/GLM-5.2-FP8", "zai-org-glm-5.2-fp8"),
        ("a/b", "a-b"),
        ("model_with_underscores", "model-with-underscores"),
        ("  spaced  ", "spaced"),
    ],
)
def test_a_raw_model_id_becomes_its_slug(raw: str, expected: str) -> None:
    assert model_slug(raw) == expected


def test_kiro_names_get_dashes_for_dots() -> None:
    assert model_slug("claude-haiku-4.5", dots_become_dashes=True) == "claude-haiku-4-5"


@pytest.mark.parametrize(
    "raw", ["../x", "..", ".", "/etc/passwd", "a/../b", "a\\..\\b", "\\\\host\\share", "./x"]
)
def test_a_model_id_written_like_a_path_is_refused(raw: str) -> None:
    with pytest.raises(PathEscapeError, match="written like a path"):
        model_slug(raw)


@pytest.mark.parametrize("raw", ["", "   ", "[1m]", "...", "---", "日本"])
def test_a_model_id_that_leaves_nothing_is_refused(raw: str) -> None:
    with pytest.raises(PathEscapeError):
        model_slug(raw)


def test_the_wire_id_loses_only_the_bracket_suffix() -> None:
    assert wire_id("us.anthropic.claude-opus-4-8[1m]") == "us.anthropic.claude-opus-4-8"


@given(st.text(max_size=300))
def test_no_text_makes_a_slug_outside_the_alphabet(text: str) -> None:
    try:
        made = slug(text)
    except PathEscapeError:
        return
    assert re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", made)
    assert component(made) == made


@given(st.text(max_size=200))
def test_a_slug_of_a_slug_is_itself(text: str) -> None:
    try:
        made = slug(text)
    except PathEscapeError:
        return
    assert slug(made) == made


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.from_regex(r"(\.{1,3}[/\\]|[/\\]|~|%2e|\x00|[a-z0-9._-]){1,12}", fullmatch=True),
    st.sampled_from(["..", ".", "", "a/..", "..%2f", "con", "a" * 400, "a.", "A", "-x", "_x", "a\n"]),
)


@given(HOSTILE)
def test_no_component_leaves_the_root(name: str) -> None:
    try:
        path = below(ROOT, name)
    except PathEscapeError:
        return
    assert path.parent == ROOT
    assert path.resolve().parent == ROOT.resolve()
    assert path.name not in {".", ".."}


@given(model=HOSTILE, task=HOSTILE, dataset=HOSTILE)
def test_no_model_task_or_dataset_name_leaves_the_root(model: str, task: str, dataset: str) -> None:
    try:
        cell = CellIdentity(
            model=ModelName(raw_id=model or "x", slug=model_slug(model)),
            provider="endpoint",
            harness="loop",
            skill="fix",
            dataset=dataset,
        )
        folder = trial_folder(TrialIdentity(cell=cell, task=task, trial=1))
    except (PathEscapeError, ValueError):
        return
    assert len(folder.parts) == 7
    assert (ROOT / folder).resolve().is_relative_to(ROOT.resolve() / "swe")


def test_a_record_that_was_tampered_with_cannot_lead_out_of_the_root() -> None:
    cell = CellIdentity.model_construct(
        model=ModelName.model_construct(raw_id="x", slug="../../etc"),
        provider="endpoint",
        effort=None,
        harness="loop",
        skill="fix",
        dataset="d",
    )
    with pytest.raises(PathEscapeError):
        trial_folder(TrialIdentity.model_construct(cell=cell, task="t", trial=1))
