"""Cell: the trials of one model x harness x skill x dataset, with its figures and what was left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from generators.tables.facts import TrialFacts, derive_facts
from generators.tables.figures import compute_all
from generators.tables.sample import Sample, Value
from generators.tables.scoring import ScoreState
from generators.tables.yardstick import Yardstick, admitted, main_yardstick
from runner.costs.bases import Pricing
from runner.costs.scoring import priced_anew
from runner.records import CellIdentity, Cost, CostBasis, DataWarning, Hosting, PlanRecord
from runner.store import StoredTrial

CellKey = tuple[str, str, str, str]
Tiers = Mapping[tuple[str, str], str]
"""Complexity tier by (dataset, task)."""


@dataclass(frozen=True)
class Cell:
    """One cell. Figures rest on ``counted`` only; ``excluded`` trials are named on the cell's page."""

    identity: CellIdentity
    counted: tuple[TrialFacts, ...]
    excluded: tuple[TrialFacts, ...]
    missing: tuple[tuple[str, int], ...]
    """Planned trials without a record, as (task, trial number)."""
    yardstick: Yardstick | None
    """Judge and rubric of its scores; None where nothing is judged."""
    dataset_digest: str | None
    demonstration: bool
    notes: tuple[DataWarning, ...]
    """Oddities of the cell as a whole; those of single trials are on the trials."""

    @property
    def rubric(self) -> str | None:
        """Rubric of its scores."""
        return self.yardstick.rubric if self.yardstick else None

    @property
    def key(self) -> CellKey:
        """What makes two cells the same."""
        return self.identity.key

    @cached_property
    def sample(self) -> Sample:
        """What the figures are computed from."""
        return Sample(self.counted, len(self.counted) + len(self.missing))

    @cached_property
    def figures(self) -> dict[str, Value]:
        """Every figure by name."""
        return compute_all(self.sample)

    @property
    def basis(self) -> CostBasis | None:
        """The one basis of the cell's cost figures; None where no cost is known."""
        return self.sample.basis

    def cost_of(self, trial: TrialFacts) -> Cost | None:
        """What a trial cost on the basis of the cell; None where that is not known."""
        return trial.cost_on(self.basis)

    @property
    def free_by_design(self) -> bool:
        """Whether every trial says that no cost arises by design, as in a demonstration."""
        return bool(self.counted) and all(trial.free_by_design for trial in self.counted)

    @property
    def hosting(self) -> Hosting:
        """Who ran the model's machines; unknown when the trials disagree."""
        kinds = {trial.record.serving.hosting for trial in self.trials}
        return kinds.pop() if len(kinds) == 1 else Hosting.UNKNOWN

    @property
    def trials(self) -> tuple[TrialFacts, ...]:
        """All recorded trials, counted and excluded."""
        return self.counted + self.excluded

    @property
    def raw_ids(self) -> tuple[str, ...]:
        """Every raw model id seen under this cell's slug."""
        return tuple(sorted({trial.record.identity.cell.model.raw_id for trial in self.trials}))

    @property
    def run_date(self) -> date | None:
        """The newest day on which a trial of the cell ran, as far as known."""
        return max((trial.run_date for trial in self.trials if trial.run_date is not None), default=None)

    @property
    def has_scores(self) -> bool:
        """Whether a judge scored at least one trial."""
        return bool(self.sample.scores)

    @property
    def has_checks(self) -> bool:
        """Whether execution checks graded at least one trial."""
        return self.figures["resolved_share"].amount is not None

    @cached_property
    def by_task(self) -> dict[str, list[TrialFacts]]:
        """Counted trials by task."""
        grouped: dict[str, list[TrialFacts]] = defaultdict(list)
        for trial in self.counted:
            grouped[trial.task].append(trial)
        return dict(grouped)

    def warnings(self) -> list[tuple[DataWarning, str | None]]:
        """What to know before using the cell's figures, with the task it is about or None for all of it.

        A trial that enters no figure says nothing about them; only a cell of such trials has its own here.
        """
        found: list[tuple[DataWarning, str | None]] = [(note, None) for note in self.notes]
        for trial in self.counted or self.excluded:
            found.extend((warning, trial.task) for warning in trial.record.warnings)
        return found

    def warnings_left_out(self) -> list[tuple[DataWarning, TrialFacts]]:
        """Warnings of trials that stand beside the cell's figures."""
        if not self.counted:
            return []
        return [(warning, trial) for trial in self.excluded for warning in trial.record.warnings]


def build_cells(
    trials: Iterable[StoredTrial], plans: Iterable[PlanRecord], pricing: Pricing, tiers: Tiers
) -> list[Cell]:
    """Cells of a store in order of their keys. Demonstration trials make cells of their own.

    Args:
        trials: all trials of the store.
        plans: all plans of the store; their trials are the denominators.
        pricing: the prices at which costs are worked out.
        tiers: complexity tier by dataset and task.
    """
    grouped: dict[tuple[CellKey, bool], list[StoredTrial]] = defaultdict(list)
    for trial in trials:
        grouped[trial.record.identity.cell.key, trial.record.demonstration].append(trial)
    planned: dict[tuple[CellKey, bool], set[tuple[str, int]]] = defaultdict(set)
    identities: dict[tuple[CellKey, bool], CellIdentity] = {}
    for plan in plans:
        for entry in plan.trials:
            key = (entry.identity.cell.key, plan.demonstration)
            planned[key].add((entry.identity.task, entry.identity.trial))
            identities.setdefault(key, entry.identity.cell)
    for key, members in grouped.items():
        identities[key] = members[0].record.identity.cell
    return [
        _build_cell(identities[key], grouped.get(key, []), planned.get(key, set()), key[1], pricing, tiers)
        for key in sorted(identities)
    ]


def _build_cell(
    identity: CellIdentity,
    members: Sequence[StoredTrial],
    planned: set[tuple[str, int]],
    demonstration: bool,
    pricing: Pricing,
    tiers: Tiers,
) -> Cell:
    members = [
        replace(each, judgements=tuple(priced_anew(judged, pricing) for judged in each.judgements))
        for each in members
    ]
    yardstick = main_yardstick(members)
    digest = _main_digest(members)
    facts = []
    for member in members:
        other = member.record.fingerprint.dataset_digest != digest
        facts.append(
            derive_facts(
                member,
                pricing,
                yardstick,
                tiers.get((identity.dataset, member.record.identity.task)),
                excluded="made from another version of the dataset" if other else "",
            )
        )
    recorded = {(fact.task, fact.record.identity.trial) for fact in facts}
    return Cell(
        identity=identity,
        counted=tuple(fact for fact in facts if fact.state is not ScoreState.EXCLUDED),
        excluded=tuple(fact for fact in facts if fact.state is ScoreState.EXCLUDED),
        missing=tuple(sorted(planned - recorded)),
        yardstick=yardstick,
        dataset_digest=digest,
        demonstration=demonstration,
        notes=tuple(_notes(members, yardstick)),
    )


def _main_digest(members: Sequence[StoredTrial]) -> str | None:
    """The dataset digest that most trials carry; of equally many the one seen last. None is a digest, too."""
    counts = Counter(member.record.fingerprint.dataset_digest for member in members)
    if not counts:
        return None
    order = {member.record.fingerprint.dataset_digest: place for place, member in enumerate(members)}
    return max(counts, key=lambda digest: (counts[digest], order[digest]))


def _notes(members: Sequence[StoredTrial], yardstick: Yardstick | None) -> Iterable[DataWarning]:
    raw_ids = sorted({member.record.identity.cell.model.raw_id for member in members})
    if len(raw_ids) > 1:
        listed = ", ".join(raw_ids)[:800]
        yield DataWarning(
            code="several-raw-model-ids", text=f"One model name covers {len(raw_ids)} raw ids: {listed}."
        )
    if yardstick is not None:
        yield from _left_out(members, yardstick)
    digests = {member.record.fingerprint.dataset_digest for member in members}
    if len(digests) > 1:
        yield DataWarning(
            code="other-dataset-version-left-out",
            text="Trials made from another version of the dataset are left out of the figures.",
        )


def _left_out(members: Sequence[StoredTrial], main: Yardstick) -> Iterable[DataWarning]:
    """What was judged with something else than ``main``, and enters no figure."""
    used = {Yardstick.of(judgement) for member in members for judgement in admitted(member)}
    rubrics = sorted({each.rubric for each in used} - {main.rubric})
    judges = sorted({each.judge_label for each in used if each.rubric == main.rubric} - {main.judge_label})
    if rubrics:
        yield DataWarning(
            code="other-rubric-left-out",
            text=f"Scores by {', '.join(rubrics)[:400]} are left out; the figures use {main.rubric[:300]}.",
        )
    if judges:
        yield DataWarning(
            code="other-judge-left-out",
            text=f"Scores by {', '.join(judges)[:400]} are left out; the figures use {main.judge_label}."[
                :900
            ],
        )
