"""Bench figures: the parts that a summary of an endpoint benchmark is made of; each carries its n."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from runner.records.base import Count, Part


class Tally(Part):
    """What a figure rests on. ``attempted = used + sum(excluded)``; ``skipped`` have no result."""

    attempted: Count
    used: Count
    excluded: Mapping[str, Count] = Field(default={}, description="attempted and not used, by reason")
    skipped: Mapping[str, Count] = Field(default={}, description="planned, and never sent or cut, by reason")


class RateFigure(Part):
    """``count`` of ``of`` with its 95 % interval by Wilson; all null where ``of`` is 0."""

    count: Count
    of: Count
    rate: float | None = None
    low: float | None = None
    high: float | None = None


class QuantileFigure(Part):
    """A percentile by nearest rank with a 95 % interval from order statistics.

    ``low`` or ``high`` is null where the sample is too small to bound it on that side; then
    ``value`` is null above the 90th percentile.
    """

    q: float = Field(gt=0, lt=1)
    value: float | None = None
    low: float | None = None
    high: float | None = None


class AdjustedQuantile(Part):
    """A percentile in which every failed request took for ever; ``infinite``: it is one of these."""

    q: float = Field(gt=0, lt=1)
    value: float | None = None
    infinite: bool = False


class Distribution(Part):
    """One measured quantity over a group of requests or trials."""

    tally: Tally
    mean: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    standard_deviation: float | None = Field(default=None, description="of the sample (n - 1)")
    median_deviation: float | None = Field(default=None, description="median of |x - median|, unscaled")
    variation: float | None = Field(default=None, description="standard deviation over mean")
    quantiles: tuple[QuantileFigure, ...] = Field(default=(), description="0.5, 0.9, 0.95, 0.99")
    adjusted: tuple[AdjustedQuantile, ...] = ()
    curve: tuple[float, ...] = Field(
        default=(), description="the sorted sample, thinned to at most 101 nearest ranks at even shares"
    )

    def quantile(self, q: float) -> QuantileFigure | None:
        """The figure of that percentile."""
        return next((figure for figure in self.quantiles if abs(figure.q - q) < 1e-9), None)


class ScoreFigure(Part):
    """Right answers over all that was asked, and over what was answered."""

    over_attempted: RateFigure
    over_answered: RateFigure
    verdicts: Mapping[str, Count] = {}
    mean_value: float | None = None
    first_pass: RateFigure | None = Field(default=None, description="cases whose first instance passed")
    consistency: float | None = Field(
        default=None, description="mean share of the most frequent answer over repeats of one instance"
    )
    consistency_groups: Count = 0
    answer_entropy_bits: float | None = Field(default=None, description="mean over repeats of one instance")
    brier: float | None = None
    mean_confidence: float | None = Field(default=None, description="that models gave to their own answers")
    confidences: Count = 0
    instructions: RateFigure | None = Field(
        default=None, description="single instructions followed, of all in the answers that have such"
    )
    robustness_drop: float | None = Field(
        default=None, description="mean over variants: score of the plain case less that of the variant"
    )


class Reliability(Part):
    """How requests ended; every rate is over all requests that were sent."""

    requests: Count
    outcomes: Mapping[str, Count] = {}
    failures: Mapping[str, Count] = Field(default={}, description="by code")
    answered: RateFigure
    succeeded: RateFigure = Field(description="with a good end: outcome ok")
    rate_limited: RateFigure
    timed_out: RateFigure
    truncated: RateFigure = Field(description="cut by a limit, or ended without a word")
    incomplete: RateFigure = Field(description="ended without a finish reason")
    malformed: RateFigure
    broken_stream: RateFigure
    refused: RateFigure
    http_error: RateFigure
    empty: RateFigure = Field(description="answered with nothing at all")
    buffered: RateFigure = Field(description="over requests long enough to tell")
    usage_missing: RateFigure = Field(description="over answered requests")
    not_streamed: RateFigure = Field(description="over requests with a response")
    other_model: Mapping[str, Count] = Field(default={}, description="models that answered, as they say")


class Money(Part):
    """Dollars; null with any unknown part, which ``unknown`` counts by reason."""

    total_usd: float | None = None
    known_usd: float = Field(default=0.0, ge=0, description="what is known of it: a lower bound")
    requests: Count = 0
    priced_requests: Count = 0
    unknown: Mapping[str, Count] = {}
    reported_usd: float | None = Field(default=None, description="what the gateway says, all requests")
    per_attempt_usd: float | None = None
    per_solved_usd: float | None = Field(
        default=None, description="money of all attempts, unsolved included, over what was solved"
    )
    solved: Count = 0
    attempts: Count = Field(default=0, description="of one kind of case: the one that is scored")


class Tokens(Part):
    """Sums over requests that tell them, and of how many that is."""

    prompt: Count | None = None
    cached: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None
    reasoning_share: float | None = Field(default=None, description="reasoning over output, where both told")
    cached_share: float | None = None
    told_by: Count = 0
    of: Count = 0
    characters_per_token: float | None = Field(
        default=None, description="visible text as we count it, over the visible tokens that are told"
    )
    compared: Count = Field(default=0, description="answers long enough to hold both against each other")
    misfits: Count = Field(default=0, description="of these: more or less text than so many tokens can be")


class PairedDifference(Part):
    """``target - reference`` of one figure over instances that both answered, with a bootstrap interval.

    ``pairs`` counts instances, of which repeats are averaged; ``unpaired`` trials that one target alone has.
    """

    metric: str
    reference: str
    target: str
    pairs: Count
    unpaired: Count = 0
    reference_value: float | None = None
    target_value: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    resamples: Count = 0
    seed: Count = 0
    verdict: str = Field(default="unknown", description="lower, higher, no difference shown, unknown")


class Agreement(Part):
    """How often two targets gave the same answer to the same instance."""

    left: str
    right: str
    same: RateFigure
    same_low: float | None = Field(default=None, description="bootstrap over cases")
    same_high: float | None = None
    same_errors: RateFigure = Field(description="of the instances the left one got wrong")
    rare_errors: float | None = Field(
        default=None, description="wrong answers of the left one shared, each weighted by its rarity"
    )
    category_similarity: float | None = None
    reasoning_share_difference: float | None = None
    similarity: float | None = Field(default=None, description="mean of the parts that are known")
    seed: Count = 0
