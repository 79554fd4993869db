"""Judge: one card per judge, version and rubric on how far its scores can be trusted, and the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from markupsafe import Markup

from generators.charts.ranges import Range, ranges_chart
from generators.pages import links, words
from generators.pages.charting import artifact_name, criterion_name
from generators.pages.interval_words import interval_text
from generators.pages.judge_proof import order_entry, proof_facts, proof_parts, shift_entry
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, count_entry, link_entry, table
from generators.pages.world import World
from generators.tables.judge_card import JudgeCard
from generators.tables.judging_cost import SCRIPTED
from generators.tables.sample import Value
from generators.tables.scoring import ScoreState
from generators.tables.yardstick import Yardstick
from runner.records import CRITERIA, JudgementStatus
from runner.store import slug

FEW = 20
"""Below so many trials a figure is shown, and said to carry no claim."""


def pages(world: World) -> Iterator[Page]:
    """The index, and a card for each judge; none where nothing was ever judged."""
    if not world.judge_cards:
        return
    yield _index(world)
    for card in world.judge_cards:
        yield _page(world, card)


def judge_page(yardstick: Yardstick, prefix: str = "") -> str:
    """Source path of a card."""
    parts = [yardstick.judge, yardstick.model or "", yardstick.version or "", yardstick.rubric]
    return links.judge_page("-".join(slug(part) for part in dict.fromkeys(parts) if part)[:100], prefix)


def _index(world: World) -> Page:
    path = world.prefix + links.JUDGES
    rows = []
    for card in world.judge_cards:
        repeats, area = card.repeats, card.area
        rows.append(
            [
                link_entry(
                    card.yardstick.judge,
                    links.relative(path, judge_page(card.yardstick, world.prefix)),
                    ", ".join(part for part in (card.yardstick.model, card.yardstick.version) if part),
                ),
                Entry(card.yardstick.rubric),
                count_entry(len(card.judged)),
                count_entry(card.trials),
                count_entry(card.statuses.get(JudgementStatus.INVALID, 0)),
                Entry(
                    f"{repeats.within_sd:.1f}",
                    repeats.within_sd,
                    note=f"{repeats.trials} trials judged again",
                )
                if repeats
                else Entry("not measured", None, unknown=True),
                Entry(f"{area.estimate:.2f}", area.estimate, note=f"n = {area.count}")
                if area
                else Entry("not measured", None, unknown=True),
                shift_entry(card.proof),
                order_entry(card.proof),
            ]
        )
    columns = [
        Column("Judge"),
        Column("Rubric", wide=True),
        Column("Judgements", "number"),
        Column("Trials scored", "number"),
        Column("Without a valid answer", "number"),
        Column("Points between repeats", "number", "standard deviation of one judgement of the same trial"),
        Column("Passing trials score higher", "number", "area under the curve; 0.5 is a coin"),
        Column("Shift by injected text", "number", "in points; 0 or below is a judge that is not led"),
        Column("Planted defects ranked right", "number"),
    ]
    return Page(
        path=path,
        title="Judges",
        template="index.md.j2",
        description="How far each judge's scores can be trusted, from the records of its judgements.",
        context={
            "lead": "A judge is a model that scores what an agent left behind. Its card shows how far it "
            "agrees with itself, with other judges, and with tests. Scores by different judges, versions or "
            "rubrics are never mixed in one figure.",
            "table": table("Judges", columns, rows),
            "after": (
                link_entry(
                    "How judges are tried out, and how to try out your own", links.relative(path, links.PROOF)
                ),
            ),
        },
        crumbs=_crumbs(world),
        demonstration=world.demonstration,
        in_search=not world.demonstration,
    )


def _page(world: World, card: JudgeCard) -> Page:
    path = judge_page(card.yardstick, world.prefix)
    return Page(
        path=path,
        title=f"Judge {card.yardstick.judge}",
        template="judge.md.j2",
        description=f"How reliable {card.yardstick.judge_label} is by the rubric {card.yardstick.rubric}.",
        context={
            "facts": _facts(card),
            "few": card.trials < FEW,
            "trials": card.trials,
            "repeats": _repeats(card),
            "pairings": _pairings(world, card, path),
            "area": interval_text(
                card.area, missing="not measured: no trial of this judge has both a score and checks that ran"
            ),
            "calibration": _calibration(world, card),
            "length": interval_text(
                card.length_bias, missing="not measured: what the judge was shown is not recorded"
            ),
            "artifacts": _artifacts(card),
            "criteria": _criteria(card),
            "proof": proof_parts(card.proof, card.yardstick, demonstration=world.demonstration),
            "about_proof": links.relative(path, links.PROOF),
        },
        crumbs=(*_crumbs(world), Crumb("Judges", world.prefix + links.JUDGES)),
        demonstration=world.demonstration,
        in_search=not world.demonstration,
    )


def _crumbs(world: World) -> tuple[Crumb, ...]:
    start = (Crumb("Home", links.HOME),)
    if world.demonstration:
        return (*start, Crumb("Demonstration", links.DEMONSTRATION + links.HOME))
    return start


def _facts(card: JudgeCard) -> list[tuple[str, Entry]]:
    total = len(card.judged)
    grounded = card.grounded
    known = total - grounded.get(None, 0)
    asked = sum(bool(each.judgement.attempts) for each in card.judged)
    return [
        ("Model", Entry(card.yardstick.model or "not recorded", unknown=card.yardstick.model is None)),
        ("Version", Entry(card.yardstick.version or "not recorded", unknown=card.yardstick.version is None)),
        ("Rubric", Entry(card.yardstick.rubric)),
        ("Judgements", Entry(f"{total:,}", note=_scored(card))),
        ("Without a valid answer", Entry(f"{card.statuses.get(JudgementStatus.INVALID, 0):,} of {total:,}")),
        (
            "Zero, because artifacts were missing",
            Entry(f"{card.statuses.get(JudgementStatus.ZERO_BY_MISSING_ARTIFACTS, 0):,} of {total:,}"),
        ),
        (
            "Asked again",
            Entry(f"{card.asked_again:,} of {asked:,}", note="an answer had faults")
            if asked
            else Entry("not recorded", unknown=True),
        ),
        (
            "Read the repository",
            Entry(f"{grounded.get(True, 0):,} of {known:,}", note="as far as it is recorded")
            if known
            else Entry("not recorded", unknown=True),
        ),
        (
            "Cost of a judgement",
            _mean(card.cost, words.dollars),
        ),
        (
            "Time of a judgement",
            _mean(card.seconds, _seconds),
        ),
        *proof_facts(card.proof),
    ]


def _scored(card: JudgeCard) -> str:
    """How many trials it scored, and that some of these are in no other figure."""
    kept = {each.key for each in card.judged if each.trial.state is not ScoreState.EXCLUDED}
    left_out = sum(key not in kept for key in card.scores_by_trial)
    note = f"{card.trials:,} trials have a score from it"
    return f"{note}, {left_out:,} of them left out of all figures but these" if left_out else note


def _seconds(number: float) -> str:
    return f"{number:.1f} s" if number >= 1 else f"{number:.2g} s"


def _mean(value: Value, said: Callable[[float], str]) -> Entry:
    if value.amount is None:
        missing = "none" if value.reason == SCRIPTED else "not known"
        return Entry(missing, note=value.reason, unknown=True)
    note = f"mean of {value.n:,} of {value.m:,}"
    if value.priced is not None:
        note += f"; {words.priced(value.priced)}"
    return Entry(said(value.amount), note=note)


def _repeats(card: JudgeCard) -> list[tuple[str, Entry]]:
    repeats = card.repeats
    if repeats is None:
        return []
    return [
        ("Standard deviation of one judgement", Entry(f"{repeats.within_sd:.2f} points")),
        (
            "Intraclass correlation",
            Entry(
                interval_text(repeats.icc, missing="not computed: it needs two trials judged again"),
                note="share of the variance of single judgements that lies between trials",
            ),
        ),
        ("Trials judged again", Entry(f"{repeats.trials:,}", note=f"{repeats.judgements:,} judgements")),
    ]


def _pairings(world: World, card: JudgeCard, path: str) -> Table | None:
    rows = []
    for pairing in card.pairings:
        limits = pairing.limits
        rows.append(
            [
                link_entry(
                    pairing.other.judge_label,
                    links.relative(path, judge_page(pairing.other, world.prefix)),
                ),
                count_entry(pairing.trials),
                Entry(f"{pairing.kappa:.2f}", pairing.kappa)
                if pairing.kappa is not None
                else Entry("not computed", None, unknown=True),
                Entry(interval_text(limits.bias, 1, missing=""), limits.bias.estimate)
                if limits
                else Entry("needs two trials", None, unknown=True),
                Entry(f"{limits.lower:.1f} to {limits.upper:.1f}")
                if limits
                else Entry("needs two trials", unknown=True),
            ]
        )
    if not rows:
        return None
    columns = [
        Column("Other judge"),
        Column("Common trials", "number"),
        Column("Weighted kappa", "number", "quadratic weights, all criteria; 1 is full agreement, 0 chance"),
        Column("Difference of scores", "number", "this judge minus the other, with a 95 % interval"),
        Column("95 % of differences lie in", explanation="Bland-Altman limits of agreement, in points"),
    ]
    return table("Agreement with other judges", columns, rows)


def _calibration(world: World, card: JudgeCard) -> Markup | None:
    if not card.calibration:
        return None
    ranges = [
        Range(
            f"score {each.lowest:g} to {each.highest:g}",
            each.passed.estimate,
            each.passed.lower,
            each.passed.upper,
            each.passed.count,
            expected=each.mean_score / 100,
        )
        for each in card.calibration
    ]
    name = "demonstration-" if world.demonstration else ""
    chart = ranges_chart(
        ranges,
        slug=f"{name}calibration-{slug(card.yardstick.judge)}-{slug(card.yardstick.rubric)}"[:90],
        title="Trials that passed their checks, by score",
        scope=f"{card.yardstick.judge_label}, {card.yardstick.rubric}",
        unit="share of trials that passed",
        counted="trials",
        caption="A judge whose scores mean what they seem to has its marks on the open ones: of trials "
        "around 80 points, 80 % pass.",
    )
    return chart.html("")


def _artifacts(card: JudgeCard) -> Table | None:
    rows = [
        [
            Entry(artifact_name(each.artifact)),
            Entry(f"{each.mean:.1f}", each.mean),
            Entry(f"{each.deviation:.1f}", each.deviation)
            if each.deviation is not None
            else Entry("needs two trials", None, unknown=True),
            count_entry(each.trials),
        ]
        for each in card.artifacts
    ]
    columns = [
        Column("Artifact"),
        Column("Mean", "number"),
        Column("Spread over trials", "number", "standard deviation, in points"),
        Column("Trials", "number"),
    ]
    return table("Scores by artifact", columns, rows) if rows else None


def _criteria(card: JudgeCard) -> Table | None:
    if not any(card.criteria.values()):
        return None
    rows = []
    for one in CRITERIA:
        row = [Entry(criterion_name(one))]
        for other in CRITERIA:
            found = card.criteria.get((one, other)) or card.criteria.get((other, one))
            if one == other:
                row.append(Entry("1", 1.0))
            elif found is None:
                row.append(Entry("not computed", None, unknown=True))
            else:
                row.append(Entry(f"{found.estimate:.2f}", found.estimate, note=f"n = {found.count:,}"))
        rows.append(row)
    columns = [Column("Criterion"), *(Column(criterion_name(name), "number") for name in CRITERIA)]
    return table("Rank correlation of criteria", columns, rows, sortable=False)
