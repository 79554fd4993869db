"""JudgeSettings: who judges, with which model, how often; from a YAML file and from flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from runner.costs import TokenPrices
from runner.engine.settings_file import read_settings_file, settings_from
from runner.errors import UsageError
from runner.harnesses.endpoint import WireProtocol
from runner.judges.base import AGENTIC
from runner.judges.registry import judge
from runner.judges.replay import SCRIPTED_MODEL, SCRIPTED_READER
from runner.records import Limits, Part, VariableName
from runner.store import model_slug, slug

USUAL_PROVIDERS = {"claude-code": "anthropic", "codex": "openai", "replay": "replay"}
"""Where the judges that belong to a vendor find their models."""


class JudgeSettings(Part):
    """One judge. Only names of secrets are held here, never their values."""

    judge: str = "direct"
    model: str = ""
    provider: str = ""
    endpoint: str | None = None
    api_key_env: VariableName | None = None
    protocol: tuple[WireProtocol, ...] = ()
    effort: str | None = None
    rubric: Annotated[str | None, Field(description="default: the one that declares the trial's skill")] = (
        None
    )
    repeats: Annotated[int, Field(ge=1, le=100, description="judgements of each trial by this judge")] = 1
    timeout_seconds: Annotated[float, Field(gt=0, description="wall clock of one answer")] = 900
    max_output_tokens: Annotated[int | None, Field(ge=1, description="per model answer")] = None
    context_window: Annotated[int, Field(ge=0, description="0 = ask the server")] = 0
    isolation: Literal["none", "sandbox", "container"] | None = None
    price_input: Annotated[float | None, Field(ge=0, description="dollars per million fresh tokens")] = None
    price_output: Annotated[float | None, Field(ge=0, description="dollars per million tokens")] = None
    price_cache_read: Annotated[float | None, Field(ge=0, description="dollars per million tokens")] = None
    price_cache_write: Annotated[float | None, Field(ge=0, description="dollars per million tokens")] = None

    @field_validator("protocol", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        """A comma list or a single name stands for a list."""
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _prices_come_in_pairs(self) -> JudgeSettings:
        given = [self.price_input, self.price_output, self.price_cache_read, self.price_cache_write]
        if any(price is not None for price in given) and None in given[:2]:
            raise ValueError("a price needs both price_input and price_output")
        return self

    @property
    def label(self) -> str:
        """The judge's name in files and tables: what judges, with which model, at which effort."""
        name, model = judge(self.judge).name, model_slug(self.model)
        parts = [model] if model.startswith(f"{name}-") else [name, model]
        return slug("-".join([*parts, *([self.effort] if self.effort else [])]))

    def limits(self) -> Limits:
        """What bounds one answer."""
        return Limits(max_output_tokens=self.max_output_tokens, timeout_seconds=self.timeout_seconds)

    def prices(self) -> TokenPrices | None:
        """The judge model's prices where the user gave them."""
        if self.price_input is None or self.price_output is None:
            return None
        return TokenPrices(
            input=self.price_input,
            output=self.price_output,
            cache_read=self.price_cache_read,
            cache_write=self.price_cache_write,
        )


def read_judge_settings(config: Path | None, flags: Mapping[str, object]) -> JudgeSettings:
    """Settings from an optional YAML file, overridden by the flags that were given, completed.

    Raises:
        ConfigurationError: every fault of file and flags in one report.
        UsageError: there is no such judge, or its model or provider is missing.
    """
    given = {} if config is None else read_settings_file(config, "settings of a judge")
    given |= {name: value for name, value in flags.items() if value is not None}
    where = config.name if config else "command line"
    return _completed(settings_from(JudgeSettings, given, of="the judge", where=where, command="judge"))


def _completed(settings: JudgeSettings) -> JudgeSettings:
    found = judge(settings.judge)
    provider = settings.provider or ("endpoint" if settings.endpoint else "")
    provider = provider or ("replay" if found.demonstration else USUAL_PROVIDERS.get(found.name, ""))
    if not provider:
        raise UsageError(
            f"judge {found.name} needs a provider for its model",
            remedy="name one with --provider, or an address with --endpoint",
        )
    scripted = SCRIPTED_READER if found.method == AGENTIC else SCRIPTED_MODEL
    model = settings.model or (scripted if provider == "replay" else "")
    if not model:
        raise UsageError(f"judge {found.name} needs --model", remedy="name the model as the server lists it")
    return settings.model_copy(update={"provider": provider, "model": model})
