"""Endpoint tables: the mappings of one run beside each other, with n of m and interval at every figure."""

from __future__ import annotations

from generators.pages import words
from generators.pages.endpoint_entries import (
    NOT_MEASURED,
    client_entry,
    difference_entry,
    dollars_entry,
    interval,
    quantile_entry,
    rate_entry,
    signed,
)
from generators.pages.endpoint_words import BY_NAME, CLASSES, COMPARED, outcome, tally
from generators.pages.table import Column, Entry, Table, count_entry, table
from generators.tables.endpoint_runs import EndpointRun
from runner.records.bench_figures import Agreement, ScoreFigure
from runner.records.bench_summary import TargetSummary

SPEED = (
    ("ttft_ms", 0.5),
    ("ttft_ms", 0.9),
    ("first_visible_ms", 0.5),
    ("tpot_ms", 0.5),
    ("output_tps", 0.5),
    ("latency_ms", 0.5),
    ("latency_ms", 0.9),
)
PERCENTILE_NOTE = "its 95 % interval from order statistics below, and of how many requests"


def speed_table(run: EndpointRun) -> Table:
    """Times and speed of every target."""
    rows = [
        [
            _name(run, target),
            *(quantile_entry(target.measures.get(name), q, BY_NAME[name]) for name, q in SPEED),
            rate_entry(target.reliability.buffered),
            client_entry(target.client, run.manifest.calibration),
        ]
        for target in run.summary.targets
    ]
    columns = [
        Column("Mapping"),
        *(Column(f"{BY_NAME[name].title}, p{100 * q:.0f}", "number", PERCENTILE_NOTE) for name, q in SPEED),
        Column("Buffered", "number", "answers that came nearly all at the end, of those long enough to tell"),
        Column("Client's own error", "number", "bias of the TTFT at p50 / p99, measured before the run"),
    ]
    return table(f"Times and speed, run {run.run_id}", columns, rows)


def reliability_table(run: EndpointRun) -> Table:
    """How requests ended at every target, as rates with Wilson's interval."""
    shown = [
        (name, title)
        for name, title in CLASSES
        if name == "succeeded"
        or any(getattr(target.reliability, name).count for target in run.summary.targets)
    ]
    rows = [
        [
            _name(run, target),
            count_entry(target.reliability.requests),
            *(rate_entry(getattr(target.reliability, name)) for name, _ in shown),
            Entry(tally(dict(target.reliability.failures)) or "none"),
        ]
        for target in run.summary.targets
    ]
    columns = [Column("Mapping"), Column("Requests", "number", "sent, warm-ups and load apart")]
    columns += [Column(title, "number", "share of requests, 95 % interval by Wilson") for _, title in shown]
    columns += [Column("Failures by code", wide=True)]
    return table(f"How requests ended, run {run.run_id}", columns, rows)


def score_table(run: EndpointRun) -> Table | None:
    """Right answers of every target, over what was asked and over what was answered; None without any."""
    scored = [(target, target.score) for target in run.summary.targets if target.score is not None]
    if not scored:
        return None
    rows = [[_name(run, target), *_score_entries(score)] for target, score in scored]
    columns = [
        Column("Mapping"),
        Column("Right of all asked", "number", "a failed request counts as not right"),
        Column("Right of the answered", "number"),
        Column("First pass", "number", "cases whose first instance was right"),
        Column("Instructions followed", "number", "single ones, where a prompt has several that are checked"),
        Column("Consistency", "number", "share of the most frequent answer over repeats of one instance"),
        Column("Brier score", "number", "of the confidence that was told: 0 is best"),
        Column("Robustness drop", "number", "points lost where the same puzzle was worded in another way"),
        Column("Verdicts", wide=True),
    ]
    return table(f"Quality of answers, run {run.run_id}", columns, rows)


def slices_table(run: EndpointRun, by: str) -> Table | None:
    """Share right by dimension, category or difficulty: a row for each, a column for each target."""
    found = {(each.name, each.target): each.score for each in run.summary.slices if each.by == by}
    if not found:
        return None
    names = sorted({name for name, _ in found})
    targets = [target.target for target in run.summary.targets]
    rows = []
    for name in names:
        scores = [found.get((name, target)) for target in targets]
        rows.append([Entry(name), *(rate_entry(score.over_attempted if score else None) for score in scores)])
    columns = [Column(by.capitalize())]
    columns += [
        Column(run.label(target), "number", "right of all asked, 95 % interval by Wilson")
        for target in targets
    ]
    return table(f"Capability by {by}, run {run.run_id}", columns, rows)


def money_table(run: EndpointRun) -> Table:
    """What each target cost, by the prices of the day of the run."""
    rows = []
    for summary in run.summary.targets:
        target, money = run.targets[summary.target], summary.money
        price = target.price
        prices = Entry(words.NOT_PRICED, note=price.missing_reason or "", unknown=True)
        if price.missing_reason is None and price.input is not None and price.output is not None:
            prices = Entry(
                f"${price.input:g} / ${price.output:g}",
                note=f"price table, {price.priced_on.isoformat()}",
            )
        reported = (
            NOT_MEASURED
            if money.reported_usd is None
            else Entry(
                words.dollars(money.reported_usd),
                money.reported_usd,
                note=f"metered, {run.manifest.created_at.date().isoformat()}",
            )
        )
        rows.append(
            [
                _name(run, summary),
                prices,
                dollars_entry(money.total_usd, money, target, of=f"{money.requests:,} requests"),
                dollars_entry(money.per_attempt_usd, money, target, of=f"{money.attempts:,} trials"),
                dollars_entry(money.per_solved_usd, money, target, of=f"{money.solved:,} solved"),
                reported,
                _tokens(summary),
            ]
        )
    columns = [
        Column("Mapping"),
        Column("Price of a million tokens", explanation="USD, input / output, from the price book"),
        Column("All measured trials", "number", "USD"),
        Column("A trial", "number", "USD"),
        Column("A right answer", "number", "USD: all money of the scored cases, the wrong ones included"),
        Column("Told by the gateway", "number", "USD, for all requests"),
        Column("Tokens in / out", explanation="as the endpoint told them"),
    ]
    return table(f"Cost by price table, run {run.run_id}", columns, rows)


def comparisons_table(run: EndpointRun) -> Table | None:
    """Differences from the reference over instances that both answered; None with one target."""
    rows = []
    for found in run.summary.comparisons:
        measure = BY_NAME.get(found.metric)
        if found.metric == "cost_usd" or not found.pairs:
            # Dollars stand in the table of costs, with what they rest on.
            continue
        title = COMPARED.get(found.metric) or (measure.title if measure else outcome(found.metric))
        values = [
            NOT_MEASURED
            if value is None
            else Entry(measure.text(value) if measure else words.percent(value), value)
            for value in (found.reference_value, found.target_value)
        ]
        rows.append(
            [
                Entry(run.label(found.target), note=f"against {run.label(found.reference)}"),
                Entry(title),
                *values,
                difference_entry(found, measure),
                Entry(f"{found.pairs:,}", float(found.pairs), note=f"{found.unpaired:,} without a pair"),
                Entry(found.verdict),
            ]
        )
    if not rows:
        return None
    columns = [Column("Mapping"), Column("Figure")]
    columns += [Column("Reference", "number", "median; mean for the score"), Column("Mapping's", "number")]
    columns += [Column("Difference", "number", "of pairs; 95 % interval by bootstrap over them")]
    columns += [Column("Pairs", "number"), Column("Verdict")]
    return table(f"Differences from the reference, run {run.run_id}", columns, rows)


def agreement_table(run: EndpointRun) -> Table | None:
    """How alike two mappings answer; None where nothing is common."""
    rows = [_agreement_row(run, each) for each in run.summary.agreements if each.same.of]
    if not rows:
        return None
    columns = [
        Column("Mappings"),
        Column("Same answer", "number", "of the instances that both answered"),
        Column("Interval over cases", explanation="bootstrap over cases, whose instances hang together"),
        Column("Same wrong answer", "number", "of the instances that the first one got wrong"),
        Column("Rare errors shared", "number", "wrong answers of the first, weighted by their rarity"),
        Column("Category similarity", "number", "1 less the mean difference of scores"),
        Column("Share of reasoning", "number", "difference of reasoning tokens over output tokens"),
        Column("Similarity", "number", "mean of the parts that are known"),
    ]
    return table(f"Agreement between mappings, run {run.run_id}", columns, rows)


def _agreement_row(run: EndpointRun, each: Agreement) -> list[Entry]:
    over_cases = Entry("no interval", note="fewer than 5 cases, or all alike", unknown=True)
    if each.same_low is not None:
        over_cases = Entry(interval(each.same_low, each.same_high))
    return [
        Entry(f"{run.label(each.left)} and {run.label(each.right)}"),
        rate_entry(each.same),
        over_cases,
        rate_entry(each.same_errors),
        _share(each.rare_errors),
        _share(each.category_similarity),
        NOT_MEASURED
        if each.reasoning_share_difference is None
        else Entry(
            signed(each.reasoning_share_difference, None).lstrip("+±"), each.reasoning_share_difference
        ),
        _share(each.similarity),
    ]


def _score_entries(score: ScoreFigure) -> list[Entry]:
    repeats = words.counted(score.consistency_groups, "repeated instance")
    consistency = Entry("not measured", note="no instance was asked twice", unknown=True)
    if score.consistency is not None:
        consistency = Entry(words.percent(score.consistency), score.consistency, note=repeats)
    brier = Entry("not measured", note="no confidence was told", unknown=True)
    if score.brier is not None:
        told = f"{score.confidences:,} confidences"
        if score.mean_confidence is not None:
            told += f", {words.percent(score.mean_confidence)} on average"
        brier = Entry(f"{score.brier:.3f}", score.brier, note=told)
    drop = NOT_MEASURED
    if score.robustness_drop is not None:
        drop = Entry(signed(score.robustness_drop, None), score.robustness_drop)
    return [
        rate_entry(score.over_attempted),
        rate_entry(score.over_answered),
        rate_entry(score.first_pass),
        Entry("none asked", unknown=True) if score.instructions is None else rate_entry(score.instructions),
        consistency,
        brier,
        drop,
        Entry(tally(dict(score.verdicts))),
    ]


def _tokens(summary: TargetSummary) -> Entry:
    tokens = summary.tokens
    if tokens.prompt is None or tokens.output is None:
        return Entry("not told", unknown=True)
    notes = [f"told by {tokens.told_by:,} of {tokens.of:,}"]
    if tokens.reasoning_share is not None:
        notes.append(f"{words.percent(tokens.reasoning_share)} of output is reasoning")
    if tokens.cached_share is not None:
        notes.append(f"{words.percent(tokens.cached_share)} of input cached")
    if tokens.characters_per_token is not None:
        notes.append(f"{tokens.characters_per_token:.1f} characters per visible token")
    if tokens.misfits:
        notes.append(
            f"counts of {tokens.misfits:,} of {tokens.compared:,} long answers do not fit their text"
        )
    return Entry(f"{words.tokens(tokens.prompt)} / {words.tokens(tokens.output)}", note="; ".join(notes))


def _share(value: float | None) -> Entry:
    return NOT_MEASURED if value is None else Entry(words.percent(value), value)


def _name(run: EndpointRun, summary: TargetSummary) -> Entry:
    notes = ["reference"] if summary.target == run.summary.reference and len(run.targets) > 1 else []
    notes += ["times not to be trusted: see the run"] if summary.flags else []
    return Entry(run.label(summary.target), note="; ".join(notes))
