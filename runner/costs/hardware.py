"""Hardware-derived rates: dollars per token from a throughput sweep and the price of its machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.costs.instances import DEFAULT_COMMITMENT, Commitment, InstancePrices
from runner.records import Deployment, Level, Serving, ThroughputRecord

SECONDS_PER_HOUR = 3600
INPUT_WEIGHT = 0.25
"""What an input token costs of an output token in the split rate."""


@dataclass(frozen=True)
class SplitRates:
    """US dollars per input and per output token."""

    input_usd: float
    output_usd: float


@dataclass(frozen=True)
class LatencyLimit:
    """What a level must keep to be chosen: upper bounds in milliseconds; None is no limit."""

    ttft_p90_ms: float | None = None
    tpot_mean_ms: float | None = None

    def kept_by(self, level: Level) -> bool:
        """Whether ``level`` keeps the limits; an unknown latency keeps none.

        The quantile is the estimate within its bucket, or the bucket's upper bound where there is none.
        """
        known = (each for each in (level.ttft_ms_estimate, level.ttft_ms_upper) if each is not None)
        ttft = next((each.p90 for each in known if each.p90 is not None), None)
        pairs = ((ttft, self.ttft_p90_ms), (level.tpot_ms_mean, self.tpot_mean_ms))
        return all(limit is None or (value is not None and value <= limit) for value, limit in pairs)


NO_LIMIT = LatencyLimit()


@dataclass(frozen=True)
class HardwareRate:
    """A rate and everything it rests on. ``hardware_matches`` is None where it cannot be told."""

    usd_per_token: float
    deployment: Deployment
    sweep_id: str
    level: Level
    commitment: Commitment
    usd_per_hour: float
    hardware_matches: bool | None = None
    hardware_note: str = ""


@dataclass(frozen=True)
class MissingRate:
    """Why there is no rate."""

    reason: str


def blended_rate(usd_per_hour: float, prompt_tps: float, output_tps: float) -> float:
    """US dollars per processed token of any kind: ``usd_per_hour / 3600 / (prompt_tps + output_tps)``.

    Tokens per second are those of the whole machine share that ``usd_per_hour`` pays for.
    Source: specification 5.6.

    Raises:
        ValueError: no token is processed.
    """
    if prompt_tps + output_tps <= 0:
        raise ValueError("a level that processes no tokens has no rate")
    return usd_per_hour / SECONDS_PER_HOUR / (prompt_tps + output_tps)


def split_rates(
    usd_per_hour: float, prompt_tps: float, output_tps: float, input_weight: float = INPUT_WEIGHT
) -> SplitRates:
    """Separate rates: ``output = usd/s / (output_tps + w x prompt_tps)`` and ``input = w x output``.

    Source: specification 5.6.

    Raises:
        ValueError: nothing is processed at this weight.
    """
    weighted = output_tps + input_weight * prompt_tps
    if weighted <= 0:
        raise ValueError("a level that processes no tokens has no rate")
    output = usd_per_hour / SECONDS_PER_HOUR / weighted
    return SplitRates(input_usd=input_weight * output, output_usd=output)


def cheapest_level(
    levels: Sequence[Level], usd_per_hour: float, limit: LatencyLimit = NO_LIMIT
) -> tuple[Level, float] | None:
    """The level with the lowest blended rate among those that keep ``limit``, and that rate.

    Often not the level with the highest output rate, because prompt throughput dominates the sum. Of equal
    rates the lower concurrency wins. None where no level has both throughputs.
    """
    priced = [
        (blended_rate(usd_per_hour, level.prompt_tokens_per_second, level.output_tokens_per_second), level)
        for level in levels
        if level.prompt_tokens_per_second is not None
        and level.output_tokens_per_second is not None
        and level.prompt_tokens_per_second + level.output_tokens_per_second > 0
        and limit.kept_by(level)
    ]
    if not priced:
        return None
    rate, level = min(priced, key=lambda pair: (pair[0], pair[1].concurrency))
    return level, rate


def wall_clock_cost(duration_seconds: float, usd_per_hour: float) -> float:
    """US dollars of a machine for a whole duration. Kept apart: one stream leaves the machine mostly idle."""
    return duration_seconds * usd_per_hour / SECONDS_PER_HOUR


class HardwareRates:
    """Rates by deployment, at one commitment level.

    Which sweep prices a model: the deployment that the price list names for it (``default_deployments``),
    else the deployment named like the model. Of several sweeps of one deployment the last by date, then id.
    """

    def __init__(
        self,
        sweeps: Iterable[ThroughputRecord],
        prices: InstancePrices,
        commitment: Commitment = DEFAULT_COMMITMENT,
        limit: LatencyLimit = NO_LIMIT,
    ) -> None:
        self.prices = prices
        self.commitment = commitment
        self.limit = limit
        self._sweeps: dict[str, ThroughputRecord] = {}
        for sweep in sorted(sweeps, key=lambda sweep: (sweep.sweep_date or "", sweep.sweep_id)):
            self._sweeps[sweep.deployment.name] = sweep

    def deployments(self) -> tuple[str, ...]:
        """Names of all deployments with a sweep, in order."""
        return tuple(sorted(self._sweeps))

    def sweep_of(self, deployment: str) -> ThroughputRecord | None:
        """The sweep that prices ``deployment``; None where there is none."""
        return self._sweeps.get(deployment)

    def default_deployment(self, model_slug: str) -> str:
        """The deployment whose sweep prices ``model_slug``."""
        return self.prices.default_deployments.get(model_slug, model_slug)

    def rate_of(self, deployment: str) -> HardwareRate | MissingRate:
        """The cheapest rate of one deployment, or why there is none."""
        sweep = self._sweeps.get(deployment)
        if sweep is None:
            return MissingRate(f"no throughput sweep of a deployment named {deployment}")
        return self.rate_of_sweep(sweep)

    def rate_of_sweep(self, sweep: ThroughputRecord) -> HardwareRate | MissingRate:
        """The cheapest rate of one sweep, or why there is none."""
        hourly, machine = self.hourly_of(sweep.deployment), sweep.deployment
        if isinstance(hourly, MissingRate):
            return hourly
        found = cheapest_level(sweep.levels, hourly, self.limit)
        if found is None:
            return MissingRate(f"no level of the sweep of {machine.name} has the throughputs a rate needs")
        level, rate = found
        return HardwareRate(rate, machine, sweep.sweep_id, level, self.commitment, hourly)

    def hourly_of(self, machine: Deployment) -> float | MissingRate:
        """US dollars an hour of the share of a machine that a deployment uses, or why they are not known."""
        whole = self.prices.hourly(machine.instance_type, self.commitment)
        if whole is None:
            return MissingRate(self.prices.missing_reason(machine.instance_type, self.commitment))
        if machine.instance_share is None:
            return MissingRate(
                f"the share of the {machine.instance_type} that {machine.name} uses is unknown"
            )
        return whole * machine.instance_share

    def rate_for(self, model_slug: str, serving: Serving | None = None) -> HardwareRate | MissingRate:
        """The rate of the model's default deployment, with a flag for other hardware than ``serving``'s.

        A cell may have run on other machines than the sweep: then the rate still stands, marked (T-33).
        """
        rate = self.rate_of(self.default_deployment(model_slug))
        if isinstance(rate, MissingRate) or serving is None:
            return rate
        matches, note = self._compare(rate.deployment, serving)
        return HardwareRate(
            rate.usd_per_token,
            rate.deployment,
            rate.sweep_id,
            rate.level,
            rate.commitment,
            rate.usd_per_hour,
            matches,
            note,
        )

    def _compare(self, swept: Deployment, serving: Serving) -> tuple[bool | None, str]:
        if serving.instance_type is None:
            return None, "the machine that served this run is unknown"
        if serving.instance_type != swept.instance_type:
            return False, f"run on {serving.instance_type}, priced by a sweep on {swept.instance_type}"
        size = swept.tensor_parallel_size
        price = self.prices.instances.get(swept.instance_type)
        if size is None and price is not None and swept.instance_share is not None:
            size = round(price.gpus * swept.instance_share)
        if None not in (size, serving.tensor_parallel_size) and size != serving.tensor_parallel_size:
            return False, f"run on {serving.tensor_parallel_size} accelerators, priced by a sweep on {size}"
        if swept.precision and serving.precision and swept.precision.lower() != serving.precision.lower():
            return False, f"run in {serving.precision}, priced by a sweep in {swept.precision}"
        return True, ""
