"""Order: everything a sweep was asked for, so that it can go on in the same way another day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from runner.costs.hardware import LatencyLimit
from runner.engine.settings import RunSettings, read_settings
from runner.errors import UsageError
from runner.records import Part, SessionShape
from runner.records.base import Slug
from runner.records.plain_words import in_plain_words
from runner.serving.talks import DEFAULT_SHAPE

SWEEP_LEVELS = (1, 2, 5, 7, 10, 15, 20)
MOST_SESSIONS = 1000
SHAPE_FLAGS = ("shared_tokens", "first_tokens", "added_tokens", "output_tokens", "turns", "think_seconds")
RUN_FLAGS = (
    "provider",
    "endpoint",
    "model",
    "api_key_env",
    "recipe",
    "protocol",
    "aws_region",
    "aws_profile",
    "harness",
    "skill",
    "dataset",
    "tasks",
    "isolation",
    "timeout_seconds",
    "max_output_tokens",
    "seed",
    "context_window",
    "instance_type",
    "tensor_parallel_size",
    "precision",
    "backend_model",
    "faults",
)
"""Flags that mean what they mean to ``invoke run``."""


class SweepOrder(Part):
    """What is to be measured. Holds the names of secrets only."""

    settings: RunSettings
    load: Literal["agents", "synthetic"] = "synthetic"
    levels: tuple[Annotated[int, Field(ge=1, le=MOST_SESSIONS)], ...] = Field(
        default=SWEEP_LEVELS, min_length=1
    )
    window_seconds: float = Field(default=600.0, ge=1, le=86_400)
    interval_seconds: float = Field(default=1.0, ge=0.05, le=60)
    idle_limit_seconds: float = Field(default=900.0, gt=0)
    shape: SessionShape = DEFAULT_SHAPE
    ignore_eos: bool | None = None
    """None: where the provider is vllm."""
    metrics_url: str | None = None
    deployment: Slug | None = None
    instance_share: float | None = Field(default=None, gt=0, le=1)
    ttft_p90_ms: float | None = Field(default=None, gt=0)
    tpot_mean_ms: float | None = Field(default=None, gt=0)

    @field_validator("levels", mode="after")
    @classmethod
    def _once_each(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(value)))

    @property
    def limit(self) -> LatencyLimit:
        """What a level must keep to be recommended."""
        return LatencyLimit(self.ttft_p90_ms, self.tpot_mean_ms)


def order_of(given: Mapping[str, Any]) -> SweepOrder:
    """The order that the flags ``given`` stand for.

    Raises:
        ConfigurationError, UsageError: flags have faults; all of each kind in one report.
    """
    settings = read_settings(None, {name: given[name] for name in RUN_FLAGS if given.get(name) is not None})
    shape = {name: given[name] for name in SHAPE_FLAGS if given.get(name) is not None}
    own = {
        name: given[name]
        for name in SweepOrder.model_fields
        if name not in {"settings", "shape", "levels"} and given.get(name) not in (None, False)
    }
    if shape and own.get("load") == "agents":
        flags = ", ".join("--" + name.replace("_", "-") for name in shape)
        raise UsageError(f"{flags} shape made-up sessions, not those of agents", remedy="leave them out")
    if given.get("levels"):
        own["levels"] = tuple(given["levels"].replace(",", " ").split())
    try:
        return SweepOrder.model_validate(
            {"settings": settings, "shape": {**DEFAULT_SHAPE.model_dump(), **shape}, **own}, strict=False
        )
    except ValidationError as error:
        faults = [
            f"--{_flag_of(fault)}: {in_plain_words(fault)}"
            for fault in error.errors()
            # Of levels that are none, no list is left either; that would say the same once more.
            if fault["type"] != "too_short" or error.error_count() == 1
        ]
        raise UsageError(
            "the flags of this sweep have faults:\n    " + "\n    ".join(faults),
            remedy="invoke --help sweep lists every flag",
        ) from None


def _flag_of(fault: ErrorDetails) -> str:
    """The flag that a wrong value was given with; each of the levels is given with one."""
    location = fault["loc"]
    return "levels" if location[0] == "levels" else "".join(map(str, location[-1:])).replace("_", "-")
