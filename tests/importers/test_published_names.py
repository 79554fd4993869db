"""What the indexes say about hosts, machines, names and codes is what the committed records say."""

from __future__ import annotations

from collections import Counter

from runner.records import (
    CODES,
    Hosting,
)
from tests.importers import figures
from tests.importers.figures import V1, V2
from tests.importers.lookup import (
    FAISS,
    codes,
    record,
    text,
    with_code,
)


def test_every_code_in_the_store_is_explained() -> None:
    used = Counter(code for found in figures.committed() for code in codes(found.record))
    used.update(warning.code for sweep in figures.sweeps() for warning in sweep.warnings)
    assert set(used) <= set(CODES)
    # These two guard against files that are not among the published ones; test_rules raises them.
    assert {"slug-differs", "tokens-repaired"} <= set(CODES) - set(used)
    assert all(sentence.endswith(".") and len(sentence) < 120 for sentence in CODES.values())


def test_no_warning_is_given_twice_for_a_trial() -> None:
    for found in figures.committed():
        given = [warning.code for warning in found.record.warnings]
        assert len(given) == len(set(given)), found.record.identity.key


class TestHosting:
    """Who ran the model, and on what."""

    def test_it_follows_from_the_provider_explicitly(self) -> None:
        seen = {
            (found.record.identity.cell.provider, found.record.serving.hosting)
            for found in figures.committed()
        }
        assert seen == {
            ("bedrock", Hosting.CLOUD),
            ("endpoint", Hosting.SELF_HOSTED),
            ("kiro", Hosting.VENDOR_MANAGED),
        }

    def test_the_box_that_ran_the_agent_is_never_shown_as_the_models_machine(self) -> None:
        for found in figures.committed():
            serving = found.record.serving
            if serving.hosting is Hosting.SELF_HOSTED:
                assert serving.orchestrator_instance_type is None
            else:
                assert serving.instance_type is None
        boxes = {
            found.record.serving.orchestrator_instance_type
            for found in figures.committed()
            if found.record.serving.hosting is not Hosting.SELF_HOSTED
        }
        assert boxes == {"g6e.12xlarge", "g6e.4xlarge", "t3.medium", "t3.2xlarge", None}

    def test_a_run_without_a_serving_block_has_an_unknown_machine(self) -> None:
        trial = record("claude-code", "swe2", "kimi-k2.7-code", FAISS)
        assert (trial.serving.hosting, trial.serving.instance_type) == (Hosting.SELF_HOSTED, None)

    def test_precision_is_spelled_in_one_way(self) -> None:
        assert {found.record.serving.precision for found in figures.committed()} == {
            None,
            "FP8",
            "BF16",
            "NVFP4",
        }
        assert text(record("pi", "swe3", "nemotron-ultra-550b", FAISS), "precision-respelled") == (
            "The source writes nvfp4; here it is NVFP4."
        )

    def test_a_window_of_200000_beside_a_million_in_the_id_is_doubted(self) -> None:
        assert {trial.identity.cell.key for trial in with_code("context-window-doubtful")} == {
            ("claude-opus-5_bedrock", "pi", "swe3", V2),
            ("claude-sonnet-5_bedrock", "pi", "swe3", V2),
        }


class TestIdentity:
    """Names."""

    def test_one_slug_may_have_several_raw_ids_and_each_trial_keeps_its_own(self) -> None:
        raw = {
            found.record.identity.cell.model.raw_id
            for found in figures.committed()
            if found.record.identity.cell.model.slug == "claude-opus-4-8"
        }
        assert raw == {"us.anthropic.claude-opus-4-8", "us.anthropic.claude-opus-4-8[1m]"}

    def test_kiro_names_become_slugs_with_dashes(self) -> None:
        trial = record("kiro-cli", "swe3", "deepseek-3-2", FAISS)
        assert trial.identity.cell.model.raw_id == "deepseek-3.2"

    def test_the_sanity_dataset_is_not_taken_for_our_own(self) -> None:
        assert {found.record.identity.cell.dataset for found in figures.committed()} == {
            V1,
            V2,
            "hello-world-sanity",
        }

    def test_tasks_on_a_branch_are_marked(self) -> None:
        assert len(with_code("moving-ref")) == 10
        assert {trial.identity.cell.dataset for trial in with_code("moving-ref")} == {"hello-world-sanity"}

    def test_the_retiered_task_is_marked_in_every_cell(self) -> None:
        marked = with_code("task-retiered")
        assert {trial.identity.task for trial in marked} == {"build-docker-images-from-uv-lock"}
        assert len(marked) == 7

    def test_each_task_of_the_second_dataset_keeps_its_own_ref(self) -> None:
        refs = {
            found.record.published.task_ref
            for found in figures.cell("pi", "swe3", V2, "claude-opus-5").trials
            if found.record.published is not None
        }
        assert len(refs) == 10
