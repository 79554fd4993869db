"""The rules of the import on single rows, where no published file shows them or shows their edges."""

from __future__ import annotations

import pytest

from runner.errors import UsageError
from runner.importers.published.folders import import_published
from runner.importers.published.identity import cell_of, plan_id_of, role_of, serving_of
from runner.importers.published.judging import judgement_warnings, rubric_of, status_of
from runner.importers.published.money import cost_warnings, costs_of
from runner.importers.published.outcome import artifacts_of, outcome_of
from runner.importers.published.plausibility import last_turn_only, task_warnings
from runner.importers.published.trials import records_of
from runner.importers.published.usage import usage_of, usage_warnings
from runner.importers.registry import IMPORTERS, importer
from runner.records import ArtifactState, CacheSemantics, CostBasis, JudgementStatus, Outcome, TrialRecord
from tests.importers import figures
from tests.importers.documents import METERED, OWN_MACHINE, changed, one_task, parsed


def trial(*changes: tuple[tuple[str | int, ...], object]) -> TrialRecord:
    """The first trial of a changed run."""
    run = parsed(changed(METERED, (("published_summary",), ...), *changes))
    role = role_of(METERED)
    assert role is not None
    return records_of(run, role).trials[0]


def codes_of(record: TrialRecord) -> set[str]:
    """Codes of its warnings."""
    return {warning.code for warning in record.warnings}


@pytest.mark.parametrize(
    ("subtype", "error", "turns", "produced", "outcome"),
    [
        ("success", False, 50, 6, Outcome.COMPLETED),
        (None, False, 50, 6, Outcome.COMPLETED),
        ("success", False, 50, 5, Outcome.INCOMPLETE),
        ("success", False, 502, 5, Outcome.INCOMPLETE),
        ("error_max_turns", True, 251, 6, Outcome.BUDGET),
        ("length", True, 10, 0, Outcome.BUDGET),
        ("length", False, 10, 6, Outcome.BUDGET),
        (None, True, 251, 3, Outcome.BUDGET),
        (None, True, 250, 3, Outcome.MODEL_ERROR),
        ("exit_1", True, 251, 0, Outcome.MODEL_ERROR),
    ],
)
def test_the_outcome(subtype: str | None, error: bool, turns: int, produced: int, outcome: Outcome) -> None:
    run = one_task(result_subtype=subtype, is_error=error, num_turns=turns, artifacts_produced=produced)
    found, reason = outcome_of(run.tasks[0])
    assert found is outcome
    assert f"{produced} of 6 artifacts" in reason


@pytest.mark.parametrize(
    ("produced", "states"),
    [(6, {ArtifactState.NOT_PUBLISHED}), (0, {ArtifactState.MISSING}), (4, set())],
)
def test_only_all_or_none_tells_which_artifacts_there_are(produced: int, states: set[ArtifactState]) -> None:
    artifacts = artifacts_of(one_task(artifacts_produced=produced).tasks[0])
    assert {artifact.state for artifact in artifacts} == states
    assert len(artifacts) == (6 if states else 0)


def test_a_contract_of_another_size_names_no_artifacts() -> None:
    assert artifacts_of(one_task(artifacts_produced=3, artifacts_expected=3).tasks[0]) == ()


@pytest.mark.parametrize(
    ("score", "scores", "produced", "status"),
    [
        (None, None, 6, None),
        (0.0, None, 0, JudgementStatus.ZERO_BY_MISSING_ARTIFACTS),
        (0.0, None, 6, JudgementStatus.SCORED),
        (12.0, None, 2, JudgementStatus.SCORED),
    ],
)
def test_the_status_of_a_judgement(
    score: float | None, scores: None, produced: int, status: JudgementStatus | None
) -> None:
    run = one_task(task_score=score, scores=scores, artifacts_produced=produced)
    assert status_of(run.tasks[0]) is status
    assert rubric_of(run.tasks[0]) == "published-unknown-artifacts"


def test_a_slug_of_the_source_that_is_not_ours_is_named() -> None:
    record = trial((("model",), "us.anthropic.claude-opus-4-6-v1"), (("model_slug",), "claude-opus-4-6-v1"))
    assert record.identity.cell.model.slug == "claude-opus-4-6"
    assert record.identity.cell.model.raw_id == "us.anthropic.claude-opus-4-6-v1"
    (warning,) = [warning for warning in record.warnings if warning.code == "slug-differs"]
    assert "claude-opus-4-6-v1" in warning.text


def test_repaired_tokens_are_marked() -> None:
    record = trial((("tasks", 0, "token_accounting_repair"), {"method": "imputed_from_turns"}))
    assert "tokens-repaired" in codes_of(record)


def test_the_same_run_has_the_same_records_in_any_file() -> None:
    role = role_of(METERED)
    assert role is not None
    run = parsed(figures.read(METERED))
    assert records_of(run, role) == records_of(run, role)
    assert plan_id_of(cell_of(run), role) == "published-pi-claude-opus-5-swe3-mcp-gateway-registry"


def test_only_a_self_hosted_model_has_a_machine() -> None:
    for provider, own in (("bedrock", False), ("endpoint", True), ("kiro", False)):
        serving = serving_of(parsed(changed(METERED, (("provider",), provider))))
        assert (serving.instance_type is not None) is own
        assert (serving.orchestrator_instance_type is not None) is not own


@pytest.mark.parametrize(
    ("path", "cost", "basis", "amount"),
    [
        (METERED, 1.25, CostBasis.METERED, 1.25),
        (METERED, None, CostBasis.METERED, None),
        (METERED, 0, CostBasis.METERED, None),
        (OWN_MACHINE, 1.25, CostBasis.NOTIONAL, 1.25),
        (OWN_MACHINE, None, None, None),
        (OWN_MACHINE, 0, None, None),
    ],
)
def test_what_a_cost_rests_on(
    path: object, cost: float | None, basis: CostBasis | None, amount: float
) -> None:
    run = one_task(METERED if path == METERED else OWN_MACHINE, total_cost_usd=cost)
    costs = costs_of(run, run.tasks[0])
    assert [found.basis for found in costs] == ([] if basis is None else [basis])
    assert [found.amount_usd for found in costs] == ([] if basis is None else [amount])


@pytest.mark.parametrize(("factor", "doubted"), [(1.0, False), (1.0019, False), (1.003, True), (0.5, False)])
def test_a_cost_is_doubted_only_above_its_tokens(factor: float, doubted: bool) -> None:
    run = one_task()
    (row,) = run.tasks
    assert row.total_cost_usd is not None
    run = one_task(total_cost_usd=row.total_cost_usd * factor)
    (row,) = run.tasks
    found = cost_warnings(run, "claude-opus-5", row, usage_of(run, row))
    assert ("cost-above-tokens" in {warning.code for warning in found}) is doubted


@pytest.mark.parametrize(
    ("turns", "output", "low"), [(5, 99, True), (5, 100, False), (4, 1, False), (100, 1999, True)]
)
def test_the_edge_of_too_little_output(turns: int, output: int, low: bool) -> None:
    run = one_task()
    (row,) = run.tasks
    total = row.total_tokens - row.output_tokens + output
    run = one_task(num_turns=turns, output_tokens=output, total_tokens=total)
    (row,) = run.tasks
    found = task_warnings(row, usage_of(run, row), None)
    assert ("low-output-per-turn" in {warning.code for warning in found}) is low


@pytest.mark.parametrize(
    ("rate", "odd"), [(5.9, True), (6.0, False), (300.0, False), (300.1, True), (None, False)]
)
def test_the_edges_of_a_plausible_rate(rate: float | None, odd: bool) -> None:
    run = one_task(generation_tokens_per_sec=rate)
    (row,) = run.tasks
    found = task_warnings(row, usage_of(run, row), None)
    assert ("generation-rate-implausible" in {warning.code for warning in found}) is odd


def test_one_slow_task_of_three_makes_no_run_of_last_turns() -> None:
    document = changed(METERED, (("published_summary",), ...))
    for suspects, expected in ((0, False), (2, False), (3, True), (5, True)):
        for number, row in enumerate(document["tasks"]):
            row["generation_tokens_per_sec"] = 1.0 if number < suspects else 80.0
        assert (last_turn_only(parsed(document)) is not None) is expected


@pytest.mark.parametrize(
    ("read", "write", "hits", "known", "semantics"),
    [
        (0, 0, 0.8, False, CacheSemantics.PARTITION),
        (None, None, None, False, CacheSemantics.PARTITION),
        (0, 0, 0.0, True, CacheSemantics.DISJOINT),
        (0, 0, None, True, CacheSemantics.DISJOINT),
        (0, 5_000, 0.8, True, CacheSemantics.DISJOINT),
        (None, 5_000, 0.8, True, CacheSemantics.UNKNOWN),
    ],
)
def test_cache_counts_of_a_self_hosted_row(
    read: int | None, write: int | None, hits: float | None, known: bool, semantics: CacheSemantics
) -> None:
    counts = {"input_tokens": 1_000_000, "output_tokens": 5_000}
    run = one_task(
        OWN_MACHINE,
        **counts,
        cache_read_tokens=read,
        cache_write_tokens=write,
        prefix_cache_hit_rate=hits,
        total_tokens=1_005_000 + (write or 0),
    )
    (row,) = run.tasks
    usage = usage_of(run, row)
    assert usage is not None
    assert usage.cache_semantics is semantics
    assert (usage.cache_write_tokens == write) is (known or write is None)
    warned = {warning.code for warning in usage_warnings(run, row, usage)}
    assert ("cache-counters-not-reported" in warned) is (read == 0 and not known)


def test_known_counts_say_where_they_were_read() -> None:
    run = one_task(OWN_MACHINE)
    usage = usage_of(run, run.tasks[0])
    assert usage is not None
    assert set(usage.sources) == {
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
    }


def test_an_error_flag_beside_a_failure_is_no_contradiction() -> None:
    run = one_task(is_error=True, failed=True)
    warned = {warning.code for warning in judgement_warnings(run, run.tasks[0])}
    assert not warned & {"error-but-scored", "failed-without-error"}


def test_the_registry_finds_an_importer_by_name_and_by_path() -> None:
    assert importer("published") is import_published
    assert importer(IMPORTERS["published"]) is import_published


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("publish", "did you mean published?"),
        ("zzz", "known: published"),
        ("nowhere.module:thing", "cannot be loaded"),
        ("runner.importers.published:nothing", "cannot be loaded"),
        ("runner.importers.registry:IMPORTERS", "is not a function"),
    ],
)
def test_an_importer_that_is_not_there_is_a_users_mistake(name: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        importer(name)
    assert expected in caught.value.message()
