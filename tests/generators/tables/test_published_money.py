"""Published money: every oddity about money in the published data is recognised by name in the records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import pytest

from generators.tables.cells import build_cells
from generators.tables.reconciliation import Reconciled, ReconciledCell, ReconciledTrial, reconcile
from runner.costs.bases import Pricing, Way
from runner.costs.comparison import Comparison, Pair
from runner.costs.disagreement import Agreement, Reason
from runner.costs.hardware import HardwareRates
from runner.costs.instances import Commitment
from runner.costs.price_book import load_price_book
from runner.records import CostBasis, Hosting, PlanRecord, ThroughputRecord
from runner.store import ResultsStore, StoredTrial
from tests.generators.tables.made import ROOT, prices

V1, V2, HELLO = "mcp-gateway-registry", "mcp-gateway-registry-v2", "hello-world-sanity"
SSRF = "ssrf-hardening-outbound-url-validation"
EFS = "remove-efs-from-terraform-aws-ecs"
ENV = "migrate-ecs-env-vars-to-secrets-manager"
KEYCLOAK = "replace-keycloak-db-password-with-rds-iam"
FAISS = "remove-faiss"
EVERY = "every task"


@dataclass(frozen=True)
class Oddity:
    """What an index file says of a cell, or of some of its tasks, and the class that must be found."""

    harness: str
    model: str
    skill: str
    dataset: str
    reason: Reason
    tasks: tuple[str, ...] = (EVERY,)
    only: bool = False
    """No other counted task of the cell may have the class."""

    @property
    def name(self) -> str:
        """For reports of tests."""
        return f"{self.harness}-{self.model}-{self.skill}-{self.dataset}-{self.reason.value}"


def of_all(harness: str, models: str, skill: str, reason: Reason, dataset: str = V1) -> list[Oddity]:
    """The same oddity of several models."""
    return [Oddity(harness, model, skill, dataset, reason) for model in models.split()]


OWN = "deepseek-v3.2 devstral-2-123b glm-5.2 kimi-k2.7-code minimax-m2.5 nemotron-ultra-550b qwen3-coder-480b"
CLAUDE = "claude-opus-5 claude-opus-4-8 claude-sonnet-5 claude-haiku-4-5"
CODE, PI, STRANDS, KIRO = "claude-code", "pi", "strands", "kiro-cli"

# Rows follow the index files of the published data: claude-code, pi, strands, kiro-cli, throughput.
ODDITIES: tuple[Oddity, ...] = (
    # claude-code: self-hosted costs are 5 / 25 USD per million tokens, 10 to 150 times the report's cost.
    *of_all(CODE, f"{OWN} qwen3.6-35b", "swe3", Reason.NOTIONAL),
    *of_all(CODE, f"{OWN} qwen3.6-35b", "swe3", Reason.DEFAULT_PRICE),
    *of_all(CODE, f"{OWN} qwen3.6-35b gemma-4-31b qwen3-coder-30b", "swe2", Reason.NOTIONAL),
    Oddity(CODE, "qwen3.6-35b", "swe2", HELLO, Reason.NOTIONAL),
    Oddity(CODE, "qwen3.6-35b", "swe2", HELLO, Reason.SUBAGENTS),
    # claude-code: self-hosted swe2 costs lie above tokens times that price, kimi's ssrf 58-fold.
    Oddity(CODE, "kimi-k2.7-code", "swe2", V1, Reason.SUBAGENTS),
    Oddity(CODE, "glm-5.2", "swe2", V1, Reason.SUBAGENTS),
    Oddity(CODE, "nemotron-ultra-550b", "swe2", V1, Reason.SUBAGENTS),
    Oddity(CODE, "qwen3.6-35b", "swe2", V1, Reason.SUBAGENTS, (SSRF, FAISS)),
    Oddity(CODE, "devstral-2-123b", "swe2", V1, Reason.SUBAGENTS, (SSRF,), only=True),
    # claude-code: Bedrock costs follow 5/25, 3/15 and 1/5, not the regional rows; four tasks lie above.
    *of_all(CODE, CLAUDE, "swe3", Reason.OTHER_LIST),
    Oddity(CODE, "claude-haiku-4-5", "swe3", HELLO, Reason.OTHER_LIST),
    Oddity(CODE, "claude-opus-4-8", "swe3", V1, Reason.SMALL_EXCESS, (FAISS, ENV, SSRF), only=True),
    Oddity(CODE, "claude-sonnet-5", "swe3", V1, Reason.SMALL_EXCESS, (SSRF,), only=True),
    # claude-code: Bedrock swe2 costs exceed the tokens' price by 1.1 to 2.3, opus-5 by 5.1 and 10.8.
    Oddity(CODE, "claude-haiku-4-5", "swe2", V1, Reason.SUBAGENTS),
    Oddity(CODE, "claude-opus-4-8", "swe2", V1, Reason.SUBAGENTS),
    Oddity(CODE, "claude-sonnet-5", "swe2", V1, Reason.SUBAGENTS, (SSRF, EFS, ENV, KEYCLOAK), only=True),
    Oddity(CODE, "claude-sonnet-5", "swe2", V1, Reason.SESSIONS, (FAISS,), only=True),
    Oddity(CODE, "claude-opus-5", "swe2", V1, Reason.SUBAGENTS, (SSRF, EFS, ENV), only=True),
    Oddity(CODE, "claude-opus-5", "swe2", V1, Reason.SESSIONS, (FAISS,), only=True),
    Oddity(CODE, "claude-sonnet-5", "swe2", HELLO, Reason.SUBAGENTS),
    Oddity(CODE, "claude-opus-4-8", "swe2", HELLO, Reason.SMALL_EXCESS),
    # claude-code: 0 tokens, yet 0.003195 USD.
    Oddity(CODE, "qwen3-coder-next", "swe2", V1, Reason.WITHOUT_TOKENS),
    # pi: totals of most self-hosted runs add the cache to an input that holds it already.
    *of_all(PI, "glm-5.2 kimi-k2.7-code deepseek-v3.2 qwen3.6-35b minimax-m2.5", "swe3", Reason.CACHE_TWICE),
    *of_all(PI, "qwen3-coder-480b gemma-4-31b", "swe3", Reason.CACHE_TWICE),
    # pi: counters of the last turn only, in self-hosted swe2 runs and in the superseded run of opus-5.
    *of_all(PI, "qwen3.6-35b gemma-4-31b qwen3-coder-30b", "swe2", Reason.LAST_TURN),
    Oddity(PI, "qwen3.6-35b", "swe2", HELLO, Reason.LAST_TURN),
    # pi: 0 instead of null for tasks of several invocations.
    Oddity(PI, "kimi-k2.7-code", "swe3", V1, Reason.ZERO_COST, (FAISS, ENV), only=True),
    Oddity(PI, "devstral-2-123b", "swe3", V1, Reason.ZERO_COST, (EFS, KEYCLOAK), only=True),
    Oddity(PI, "qwen3-coder-30b", "swe3", V1, Reason.ZERO_COST),
    # pi: an almost uncached metered run, cache writes null, at the agent's default price.
    Oddity(PI, "grok-4.6", "swe3", V1, Reason.CACHE_COUNTS_ABSENT),
    Oddity(PI, "grok-4.6", "swe3", V1, Reason.DEFAULT_PRICE),
    # pi: Bedrock costs follow the global rows for regional profiles.
    *of_all(PI, CLAUDE, "swe3", Reason.OTHER_LIST),
    *of_all(PI, "claude-opus-5 claude-sonnet-5 claude-haiku-4-5", "swe3", Reason.OTHER_LIST, V2),
    # pi, extra files: two probes printed a cost of 0, two have a cost and no score.
    Oddity(PI, "claude-sonnet-5", "swe3", HELLO, Reason.ZERO_COST),
    Oddity(PI, "claude-haiku-4-5", "swe3", HELLO, Reason.OTHER_LIST),
    # strands: a cost that is null although the provider bills; 0 on the three tasks of two invocations.
    Oddity(STRANDS, "claude-opus-4-8", "swe3", HELLO, Reason.NOT_REPORTED),
    # kiro-cli: credits times 0.04, zero tokens that mean "not reported".
    *of_all(KIRO, "claude-opus-5 claude-sonnet-5 deepseek-3-2", "swe3", Reason.CREDITS_ONLY),
    *of_all(KIRO, "claude-haiku-4-5 minimax-m2-5", "swe3", Reason.CREDITS_ONLY),
)

FAILED_IN_SPEND = ("kimi-k2.7-code", "nemotron-ultra-550b", "qwen3-coder-480b", "qwen3-coder-30b")
"""claude-code: the report's run cost includes a failed task, the mean does not."""
REPORT_COSTS = {
    ("glm-5.2", "swe3"): 42.11,
    ("kimi-k2.7-code", "swe3"): 21.08,
    ("deepseek-v3.2", "swe3"): 17.73,
    ("qwen3.6-35b", "swe3"): 1.28,
    ("kimi-k2.7-code", "swe2"): 3.28,
    ("nemotron-ultra-550b", "swe2"): 6.28,
    ("qwen3-coder-480b", "swe2"): 15.63,
    ("qwen3-coder-30b", "swe2"): 3.63,
}
"""Run costs of the source's generated report, failed tasks included."""
OLDER_RATES = {"deepseek-v3.2": 54.92, "devstral-2-123b": 27.46, "qwen3-coder-480b": 27.46}
"""throughput: hourly rates in the files of sweeps that are not those of the price list."""


@cache
def stored() -> tuple[list[StoredTrial], list[PlanRecord], list[ThroughputRecord]]:
    store = ResultsStore(ROOT / "results")
    return list(store.trials()), list(store.plans()), list(store.sweeps())


@cache
def found(commitment: Commitment = Commitment.COMMIT_3YR, usd_per_credit: float | None = None) -> Reconciled:
    trials, plans, sweeps = stored()
    book = load_price_book(ROOT / "datasets" / "prices" / "tokens")
    pricing = Pricing(book, HardwareRates(sweeps, prices(), commitment), None, usd_per_credit)
    return reconcile(build_cells(trials, plans, pricing, {}), pricing, sweeps)


def cell_of(harness: str, model: str, skill: str, dataset: str) -> ReconciledCell:
    (only,) = [
        each
        for each in found().cells
        if (each.cell.identity.harness, each.cell.identity.model.slug) == (harness, model)
        and (each.cell.identity.skill, each.cell.identity.dataset) == (skill, dataset)
        # One model is reached through two providers under kiro-cli and others; harness tells them apart.
    ]
    return only


def counted(cell: ReconciledCell) -> tuple[ReconciledTrial, ...]:
    return cell.trials[: len(cell.cell.counted)] or cell.trials


def listed(each: ReconciledTrial) -> Comparison:
    return next(one for one in each.found.comparisons if one.pair is Pair.LIST)


@pytest.mark.parametrize("oddity", ODDITIES, ids=lambda oddity: oddity.name)
def test_an_oddity_of_the_published_data_has_its_name(oddity: Oddity) -> None:
    cell = cell_of(oddity.harness, oddity.model, oddity.skill, oddity.dataset)
    having = {each.trial.task for each in counted(cell) if oddity.reason in each.found.reasons}
    every = {each.trial.task for each in counted(cell)}
    wanted = every if oddity.tasks == (EVERY,) else set(oddity.tasks)
    assert wanted <= having
    assert not oddity.only or wanted == having


def test_43_of_51_self_hosted_swe2_costs_lie_above_their_tokens() -> None:
    trials = [
        each
        for each in found().trials
        if each.cell.identity.harness == CODE
        and each.cell.identity.skill == "swe2"
        and each.trial.record.serving.hosting is Hosting.SELF_HOSTED
        and each.trial.record.usage is not None
    ]
    above = [each for each in trials if (listed(each).ratio or 0) > 1.0001]
    assert (len(above), len(trials)) == (43, 51)
    for each in above:
        assert {Reason.SUBAGENTS, Reason.SESSIONS, Reason.SMALL_EXCESS} & set(each.found.reasons)
        assert Reason.UNEXPLAINED not in each.found.reasons


def test_kimi_ssrf_is_explained_to_one_part_in_58() -> None:
    cell = cell_of(CODE, "kimi-k2.7-code", "swe2", V1)
    (each,) = [one for one in cell.trials if one.trial.task == SSRF]
    assert listed(each).second.amount_usd == pytest.approx(0.74, abs=0.005)
    assert listed(each).ratio == pytest.approx(57.84, abs=0.01)
    assert listed(each).explanation.likely, "the source does not say so"


def test_self_hosted_swe3_dollars_equal_the_default_price_to_the_cent() -> None:
    for model in f"{OWN} qwen3.6-35b".split():
        for each in cell_of(CODE, model, "swe3", V1).trials:
            first, second = listed(each).first.amount_usd, listed(each).second.amount_usd
            assert first == pytest.approx(second, abs=0.005)


@pytest.mark.parametrize("model", FAILED_IN_SPEND)
def test_failed_tasks_in_the_spend_are_named(model: str) -> None:
    cell = cell_of(CODE, model, "swe2", V1)
    assert Reason.FAILED_TASKS in [note.reason for note in cell.found.notes]


@pytest.mark.parametrize(("cell", "usd"), REPORT_COSTS.items(), ids=lambda value: str(value))
def test_the_second_figure_is_the_run_cost_of_the_report(cell: tuple[str, str], usd: float) -> None:
    whole = cell_of(CODE, *cell, V1)
    (own,) = [each for each in whole.found.comparisons if each.pair is Pair.NOTIONAL]
    assert own.second.amount_usd == pytest.approx(usd, abs=0.006)
    assert own.ratio is not None
    assert 10 <= own.ratio <= 310


def test_a_report_of_another_revision_is_the_same_tokens_at_another_commitment() -> None:
    at = found(Commitment.ON_DEMAND)
    (glm,) = [
        each
        for each in at.cells
        if each.cell.identity.harness == CODE
        and (each.cell.identity.model.slug, each.cell.identity.skill) == ("glm-5.2", "swe3")
    ]
    (own,) = [each for each in glm.found.comparisons if each.pair is Pair.NOTIONAL]
    assert own.second.amount_usd == pytest.approx(96.16, abs=0.006)


@pytest.mark.parametrize(("model", "hourly"), OLDER_RATES.items())
def test_older_hourly_rates_of_a_sweep_are_named(model: str, hourly: float) -> None:
    cell = cell_of(PI, model, "swe3", V1)
    (note,) = [each for each in cell.found.notes if each.reason is Reason.OTHER_HOURLY_RATE]
    assert str(hourly) in note.text
    assert note.ratio == pytest.approx(1.9812, abs=0.0001)


def test_opus_and_sonnet_follow_the_lists_that_the_index_names() -> None:
    wanted = {
        (CODE, "claude-opus-5"): "5 / 25",
        (CODE, "claude-sonnet-5"): "3 / 15",
        (CODE, "claude-haiku-4-5"): "1 / 5",
        (PI, "claude-sonnet-5"): "2 / 10",
    }
    for (harness, model), said in wanted.items():
        mains = [each.found.main for each in cell_of(harness, model, "swe3", V1).trials]
        texts = [main.explanation.text for main in mains if main]
        assert any(said in text for text in texts)


def test_the_regional_list_of_haiku_under_strands_agrees_with_the_book() -> None:
    cell = cell_of(STRANDS, "claude-haiku-4-5", "swe3", V2)
    assert cell.found.agreement is Agreement.AGREES
    assert cell.found.main is not None
    assert cell.found.main.ratio == pytest.approx(1, abs=1e-4)


def test_zero_on_three_tasks_of_two_invocations() -> None:
    cell = cell_of(STRANDS, "minicpm5-2b", "swe3", V2)
    zeros = [each for each in cell.trials if Reason.ZERO_COST in each.found.reasons]
    assert len(zeros) == 3
    rows = [each.trial.record.published for each in zeros]
    assert [row.agent_invocations for row in rows if row] == [2, 2, 2]


def test_the_superseded_run_agrees_with_itself_and_is_doubtful() -> None:
    cell = cell_of(PI, "claude-opus-5", "swe3", V1)
    old = cell.trials[len(cell.cell.counted) :]
    assert len(old) == 5
    assert all(Reason.LAST_TURN in each.found.reasons for each in old)
    assert all(not {Reason.UNEXPLAINED, Reason.SUBAGENTS} & set(each.found.reasons) for each in old)


@pytest.mark.parametrize(("rate", "agreement"), [(0.04, Agreement.AGREES), (0.02, Agreement.BEYOND)])
def test_every_published_kiro_trial_is_priced_at_the_price_of_a_credit_that_a_reader_gives(
    rate: float, agreement: Agreement
) -> None:
    trials = [
        each
        for cell in found(usd_per_credit=rate).cells
        if cell.cell.identity.harness == KIRO
        for each in cell.trials
    ]
    assert len(trials) == 25
    for each in trials:
        (stated,) = each.trial.record.costs
        assert stated.amount_usd is not None
        (way,) = [one.cost for one in each.trial.costs.ways if one.way is Way.CREDITS]
        assert way.amount_usd == pytest.approx(stated.amount_usd * rate / 0.04, abs=1e-9)
        assert each.found.agreement is agreement
        assert (Reason.CREDITS_PLAN in each.found.reasons) == (agreement is Agreement.BEYOND)


def test_every_published_dollar_figure_is_reproduced_or_its_class_is_named() -> None:
    looked_at = 0
    for each in found().trials:
        published = each.trial.record.published
        said = published.total_cost_usd if published else None
        if said is None:
            continue
        looked_at += 1
        amounts = [way.cost.amount_usd for way in each.trial.costs.ways]
        same = any(usd is not None and abs(usd - said) <= 0.005 for usd in amounts if said)
        assert same or each.found.reasons, each.trial.record.identity.key
        # What is shown is never a price that nobody was billed at.
        assert each.trial.cost.basis is not CostBasis.NOTIONAL
    assert looked_at > 300


def test_nothing_published_stays_without_a_name() -> None:
    loud = {Agreement.BEYOND, Agreement.ONE_WAY, Agreement.NO_AMOUNT}
    for each in found().trials:
        assert each.found.agreement not in loud or each.found.reasons, each.trial.task
    assert Reason.UNEXPLAINED not in found().classes()


def test_every_trial_and_cell_has_one_agreement() -> None:
    agreements = found().agreements()
    assert sum(trials for trials, _ in agreements.values()) == len(found().trials)
    assert sum(cells for _, cells in agreements.values()) == len(found().cells)


def test_a_cell_of_another_world_is_not_found() -> None:
    cell = found().cells[0].cell
    assert found().cell(cell) is not None
    assert found().trial(cell.trials[0]) is not None
    stranger = replace(cell, identity=cell.identity.model_copy(update={"harness": "nobody"}))
    assert found().cell(stranger) is None
