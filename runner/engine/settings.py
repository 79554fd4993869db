"""RunSettings: what a user asks of ``invoke run``, from a YAML file and from flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, field_validator, model_validator

from runner.costs import TokenPrices
from runner.engine.settings_file import read_settings_file, settings_from
from runner.engine.spending import Budget
from runner.harnesses.endpoint import WireProtocol
from runner.records import Hosting, Limits, Part, VariableName

LOCAL = ("notify",)
"""Settings that no plan keeps: a command may name folders and addresses of its user's."""
LISTS = ("judge", "harness", "skill", "model", "tasks", "faults", "protocol")


class RunSettings(Part):
    """Everything that shapes a run. Lists make cells: every model x harness x skill is one.

    Only the names of secrets are held here, never their values.
    """

    harness: tuple[str, ...] = ("loop",)
    skill: tuple[str, ...] = ("fix",)
    provider: str = ""
    endpoint: str | None = None
    model: tuple[str, ...] = ()
    api_key_env: VariableName | None = None
    protocol: Annotated[tuple[WireProtocol, ...], Field(description="the only ones the server speaks")] = ()
    backend_model: Annotated[str | None, Field(description="the model's id behind the proxy")] = None
    backend_protocol: Annotated[
        WireProtocol | None, Field(description="what the server behind the proxy speaks")
    ] = None
    recipe: Annotated[str | None, Field(description="serving recipe, by name or path")] = None
    dataset: str = "hello-world"
    tasks: tuple[str, ...] = ()
    count: Annotated[int, Field(ge=0, description="first N tasks of the selection; 0 = all")] = 0
    trials: Annotated[int, Field(ge=1, description="attempts per task and cell")] = 1
    seed: Annotated[int, Field(ge=0, description="orders the trials")] = 0
    effort: str | None = None
    concurrency: Annotated[int, Field(ge=1, le=256)] = 2
    max_turns: Annotated[int, Field(ge=1)] = 250
    max_output_tokens: Annotated[int, Field(ge=1, description="per model answer")] = 16_000
    max_tokens: Annotated[int | None, Field(ge=1, description="all tokens of one invocation")] = None
    max_cost_usd: Annotated[float | None, Field(ge=0, description="per trial")] = None
    max_trial_tokens: Annotated[int | None, Field(ge=1, description="all invocations of a trial")] = None
    max_trial_seconds: Annotated[float | None, Field(gt=0, description="all invocations of a trial")] = None
    cell_budget_usd: Annotated[float | None, Field(ge=0, description="no trial of a cell starts above")] = (
        None
    )
    cell_budget_tokens: Annotated[int | None, Field(ge=1)] = None
    cell_budget_seconds: Annotated[float | None, Field(gt=0)] = None
    budget_usd: Annotated[float | None, Field(ge=0, description="whole run; no trial starts above it")] = None
    budget_tokens: Annotated[int | None, Field(ge=1)] = None
    budget_seconds: Annotated[float | None, Field(gt=0, description="time of all trials together")] = None
    max_hours: Annotated[
        float | None, Field(gt=0, description="hours at work on the run; no trial starts after")
    ] = None
    end_hours: Annotated[
        float | None, Field(gt=0, description="hours at work on the run; trials in flight stop too")
    ] = None
    timeout_seconds: Annotated[float, Field(gt=0, description="wall clock per invocation")] = 7200
    price_input: Annotated[float | None, Field(ge=0, description="dollars per million fresh tokens")] = None
    price_output: Annotated[float | None, Field(ge=0, description="dollars per million tokens")] = None
    price_cache_read: Annotated[float | None, Field(ge=0, description="dollars per million tokens")] = None
    price_cache_write: Annotated[float | None, Field(ge=0, description="dollars per million tokens")] = None
    max_repeats: Annotated[int, Field(ge=0, description="same action so often in turn; 0 = no limit")] = 40
    idle_seconds: Annotated[
        float, Field(gt=0, description="longest time without output and without model traffic")
    ] = 900
    isolation: Annotated[
        Literal["none", "sandbox", "container"] | None, Field(description="default: the strongest that works")
    ] = None
    max_retries: Annotated[int, Field(ge=0)] = 1
    max_topups: Annotated[int, Field(ge=0)] = 1
    context_window: Annotated[int, Field(ge=0, description="0 = ask the server")] = 0
    allow_small_window: bool = False
    hosting: Annotated[Hosting | None, Field(description="who runs the model's machines")] = None
    faults: Annotated[tuple[str, ...], Field(description="what the replay server does wrong")] = ()
    instance_type: str | None = None
    tensor_parallel_size: Annotated[int | None, Field(ge=1)] = None
    precision: str | None = None
    aws_region: str | None = None
    aws_profile: str | None = None
    kiro_dollars_per_credit: Annotated[float | None, Field(ge=0)] = None
    notify: Annotated[
        str | None, Field(description="command that is run when something happens; stays on this machine")
    ] = None
    judge: Annotated[tuple[str, ...], Field(description="judges of finished trials")] = ()
    judge_mode: Annotated[
        Literal["inline", "async", "skip"] | None, Field(description="default: async once a judge is named")
    ] = None
    judge_concurrency: Annotated[int, Field(ge=1, le=64, description="judgements at a time")] = 1
    fail_under: Annotated[
        float | None, Field(ge=0, le=100, description="exit 2 below this share of resolved trials, in %")
    ] = None

    @field_validator(*LISTS, mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        """A comma list or a single name stands for a list."""
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not isinstance(value, list | tuple):
            return value
        # A name given twice is one cell, not two that get in each other's way.
        names = all(isinstance(each, str) for each in value)
        return tuple(dict.fromkeys(value)) if names else tuple(value)

    @model_validator(mode="after")
    def _prices_come_in_pairs(self) -> RunSettings:
        given = [self.price_input, self.price_output, self.price_cache_read, self.price_cache_write]
        if any(price is not None for price in given) and None in given[:2]:
            raise ValueError("a price needs both price_input and price_output")
        return self

    def prices(self) -> TokenPrices | None:
        """The model's prices where the user gave them."""
        if self.price_input is None or self.price_output is None:
            return None
        return TokenPrices(
            input=self.price_input,
            output=self.price_output,
            cache_read=self.price_cache_read,
            cache_write=self.price_cache_write,
        )

    def limits(self) -> Limits:
        """What stops one invocation."""
        return Limits(
            max_turns=self.max_turns,
            max_tokens=self.max_tokens,
            max_output_tokens=self.max_output_tokens,
            max_cost_usd=self.max_cost_usd,
            timeout_seconds=self.timeout_seconds,
        )

    def run_budget(self) -> Budget:
        """What the whole run may spend."""
        return Budget(self.budget_usd, self.budget_tokens, self.budget_seconds)

    def cell_budget(self) -> Budget:
        """What each cell may spend."""
        return Budget(self.cell_budget_usd, self.cell_budget_tokens, self.cell_budget_seconds)


GROUPS: TypeAdapter[tuple[RunSettings, ...]] = TypeAdapter(tuple[RunSettings, ...])


def settings_to_strings(groups: Sequence[RunSettings]) -> dict[str, str]:
    """For the plan: of each group each setting that differs from its default, as JSON.

    What says something about this machine or its user only is left out.
    """
    kept = tuple(group.model_copy(update=dict.fromkeys(LOCAL)) for group in groups)
    return {"groups": GROUPS.dump_json(kept, exclude_defaults=True).decode()}


def settings_from_strings(strings: Mapping[str, str]) -> tuple[RunSettings, ...]:
    """The settings a plan was made with, group by group; older plans have one group."""
    if "run_settings" in strings:
        return (RunSettings.model_validate_json(strings["run_settings"]),)
    return GROUPS.validate_json(strings["groups"])


def read_settings(config: Path | None, flags: Mapping[str, object]) -> RunSettings:
    """Settings from an optional YAML file, overridden by the flags that were given (not None).

    Raises:
        ConfigurationError: every fault of file and flags in one report.
    """
    faults: list[str] = []
    merged = _one_name(read_settings_file(config, "run configuration"), faults) if config is not None else {}
    merged |= _one_name({name: value for name, value in flags.items() if value is not None}, faults)
    return settings_from(
        RunSettings,
        merged,
        of="this run",
        where=str(config) if config is not None else "command line",
        command="run",
        faults=faults,
    )


def changed(settings: RunSettings, flags: Mapping[str, object]) -> RunSettings:
    """``settings`` with the flags that were given (not None) in place of its own."""
    return read_settings(None, {**settings.model_dump(), **{n: v for n, v in flags.items() if v is not None}})


def _one_name(given: Mapping[str, object], faults: list[str]) -> dict[str, object]:
    """``given`` with the harness under its own name, where it was called agent."""
    if "agent" in given and "harness" in given:
        faults.append("agent: another name for harness; give one of the two")
    return {"harness" if name == "agent" else name: value for name, value in given.items()}
