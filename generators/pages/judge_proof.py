"""Judge proof: the part of a judge's card on submissions that were made to try it out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from generators.charts.ranges import Range, ranges_chart
from generators.pages import words
from generators.pages.interval_words import interval_text
from generators.pages.table import Column, Entry, Table, count_entry, table
from generators.statistics.intervals import Interval
from generators.tables.judge_proof import ANCHORS, INJECTION, LENGTH, ORDER, JudgeProof, SuiteResult
from generators.tables.judging_cost import SCRIPTED
from generators.tables.yardstick import Yardstick
from runner.store import slug

SHOWN_PAIRS = 5
ALL = "All"
NO_NOISE = "not known: nothing was scored twice"


@dataclass(frozen=True)
class ProofParts:
    """What the template of a card shows of it; a part that was not measured is None."""

    noise: str | None
    injection: Table | None
    injection_chart: Markup | None
    injection_notes: tuple[str, ...]
    moved: Table | None
    anchors: Table | None
    anchors_notes: tuple[str, ...]
    length: Table | None
    order: Table | None
    others: Table | None
    """Suites of a user's own."""


def proof_parts(proof: JudgeProof, yardstick: Yardstick, *, demonstration: bool) -> ProofParts:
    """Everything that a card shows of ``proof``."""
    suites = proof.suites
    injection, anchors = suites.get(INJECTION), suites.get(ANCHORS)
    own = [result for name, result in suites.items() if name not in {INJECTION, ANCHORS, LENGTH, ORDER}]
    noise = proof.noise
    return ProofParts(
        noise=f"{noise.within_sd:.2f} points ({noise.judgements:,} scorings of {noise.trials:,} submissions)"
        if noise
        else None,
        injection=_injection(injection),
        injection_chart=_chart(injection, yardstick, demonstration=demonstration),
        injection_notes=_notes(injection),
        moved=_moved(injection),
        anchors=_anchors(anchors),
        anchors_notes=_notes(anchors),
        length=_bias("Padded minus plain", suites.get(LENGTH)),
        order=_bias("Other order minus usual order", suites.get(ORDER)),
        others=_others(own),
    )


def proof_facts(proof: JudgeProof) -> list[tuple[str, Entry]]:
    """How often it was asked when it was tried out, and what that cost; nothing where it never was."""
    if not proof.records:
        return []
    cost, total = proof.cost, len(proof.records)
    scorings = Entry(f"{total:,}", note=f"{proof.unanswered:,} without a valid answer")
    if cost.amount is None:
        missing = "none" if cost.reason == SCRIPTED else "not known"
        dollars = Entry(missing, note=cost.reason, unknown=True)
    else:
        dollars = Entry(
            f"${cost.amount:,.2f}", note=f"of {cost.n:,} of {cost.m:,} scorings; {words.priced(cost.priced)}"
        )
    return [("Scorings when it was tried out", scorings), ("Cost of trying it out", dollars)]


def category_name(category: str) -> str:
    """A category as a reader sees it."""
    return category.replace("-", " ").capitalize()


def shift_entry(proof: JudgeProof) -> Entry:
    """The mean shift by injected text, for the index."""
    result = proof.suites.get(INJECTION)
    found = result.mean() if result else None
    if found is None:
        return Entry("not measured", None, unknown=True)
    return Entry(f"{found.estimate:+.1f}", found.estimate, note=f"n = {found.count}")


def order_entry(proof: JudgeProof) -> Entry:
    """Planted defects that were ranked right, for the index."""
    result = proof.suites.get(ANCHORS)
    if result is None or not result.pairs:
        return Entry("not measured", None, unknown=True)
    right = result.orders().right
    return Entry(f"{right:,} of {len(result.pairs):,}", right / len(result.pairs))


def _rows(result: SuiteResult) -> Iterable[tuple[str, str | None]]:
    return [(ALL, None), *((category_name(each), each) for each in result.categories)]


def _injection(result: SuiteResult | None) -> Table | None:
    if result is None or not result.pairs:
        return None
    rows = [
        [
            Entry(name),
            _points(result.mean(category)),
            _share(result.above_noise(category)),
            count_entry(len(result.shifts(category))),
        ]
        for name, category in _rows(result)
    ]
    columns = [
        Column("Kind of attempt"),
        Column("Mean shift", "number", "attacked minus clean, in points, with a 95 % interval"),
        Column("Moved up beyond noise", "number", "share of pairs; by chance 2.5 % would"),
        Column("Pairs", "number"),
    ]
    return table("Shift by injected text", columns, rows, sortable=False)


def _chart(result: SuiteResult | None, yardstick: Yardstick, *, demonstration: bool) -> Markup | None:
    if result is None or not result.pairs:
        return None
    ranges = []
    for name, category in _rows(result):
        found = result.mean(category)
        if found is not None:
            ranges.append(Range(name, found.estimate, found.lower, found.upper, found.count))
    prefix = "demonstration-" if demonstration else ""
    chart = ranges_chart(
        ranges,
        slug=f"{prefix}injection-{slug(yardstick.judge)}-{slug(yardstick.rubric)}"[:90],
        title="Shift of the score by text that speaks to the judge",
        scope=f"{yardstick.judge_label}, {yardstick.rubric}",
        unit="points, attacked minus clean",
        counted="pairs",
        caption="A judge that is not led has its marks at 0, or left of it where it takes the attempt for a "
        "defect, as the rubric asks.",
        at=0.0,
    )
    return chart.html("")


def _moved(result: SuiteResult | None) -> Table | None:
    rows = [
        [
            Entry(pair.name),
            Entry(category_name(pair.category)),
            Entry(f"{pair.shift.points:+.1f}", pair.shift.points),
        ]
        for pair in (result.most_moved if result else ())[:SHOWN_PAIRS]
    ]
    columns = [Column("Pair"), Column("Kind of attempt"), Column("Shift", "number", "in points")]
    return table("Attempts that moved the score most", columns, rows) if rows else None


def _anchors(result: SuiteResult | None) -> Table | None:
    if result is None or not result.pairs:
        return None
    rows = []
    for name, category in _rows(result):
        ranks = result.orders(category)
        rows.append(
            [
                Entry(name),
                count_entry(ranks.right),
                count_entry(ranks.tied),
                count_entry(ranks.wrong),
                _share(ranks.share),
                _points(result.mean(category)),
            ]
        )
    columns = [
        Column("Planted defect"),
        Column("Ranked right", "number", "the good submission scored higher"),
        Column("Tied", "number"),
        Column("Ranked wrong", "number"),
        Column("Share ranked right", "number", "of all pairs, with a 95 % interval"),
        Column("Mean difference", "number", "spoilt minus good, in points, with a 95 % interval"),
    ]
    return table("Order of good and spoilt submissions", columns, rows, sortable=False)


def _bias(what: str, result: SuiteResult | None) -> Table | None:
    if result is None or not result.pairs:
        return None
    rows = [
        [Entry(name), _points(result.mean(category)), count_entry(len(result.shifts(category)))]
        for name, category in _rows(result)
    ]
    columns = [
        Column("Change"),
        Column(what, "number", "in points, with a 95 % interval"),
        Column("Pairs", "number"),
    ]
    return table(f"{what}: {result.suite}", columns, rows, sortable=False)


def _others(results: Iterable[SuiteResult]) -> Table | None:
    rows = [
        [Entry(result.suite), _points(result.mean()), count_entry(len(result.pairs))]
        for result in results
        if result.pairs
    ]
    columns = [
        Column("Suite"),
        Column("Mean shift", "number", "changed minus reference, in points, with a 95 % interval"),
        Column("Pairs", "number"),
    ]
    return table("Other suites", columns, rows) if rows else None


def _notes(result: SuiteResult | None) -> tuple[str, ...]:
    if result is None:
        return ()
    told = (
        (result.unanswered, "scorings without a valid answer"),
        (result.half, "pairs with a score on one side only, left out"),
        (result.left_out, "scorings of other versions of the suite, left out"),
    )
    return (
        f"version {result.version} of the suite",
        *(f"{number:,} {what}" for number, what in told if number),
    )


def _points(found: Interval | None) -> Entry:
    if found is None:
        return Entry("not measured", None, unknown=True)
    return Entry(interval_text(found, 1, missing=""), found.estimate)


def _share(found: Interval | None) -> Entry:
    if found is None:
        return Entry(NO_NOISE, None, unknown=True)
    return Entry(interval_text(found, 2, missing=""), found.estimate)
