"""Options: what a user asks of an endpoint benchmark, as the command line says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.endpoint.request import Protocol
from runner.errors import UsageError

if TYPE_CHECKING:
    # Every command reads these options; the client behind them takes longer to load than most commands run.
    from runner.endpoint.client import Transport

TRANSPORTS = ("asyncio", "httpx")
NO_LIMIT = "none"
MOST_WORKERS = 64


@dataclass(frozen=True)
class BenchOptions:
    """Everything that a run depends on besides the files of the project."""

    models: tuple[str, ...] = ()
    mappings: tuple[str, ...] = ()
    url: str = ""
    model_id: str = ""
    api_key_env: str = ""
    protocol: str = ""
    profile: str = ""
    suites: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    external: str = ""
    external_data: str = ""
    external_limit: int | None = None
    external_offset: int = 0
    external_mode: str = "strict"
    external_unsupported: str = "skip"
    loads: tuple[str, ...] = ()
    load_requests: int | None = None
    load_warm_up: int | None = None
    limits: tuple[str, ...] = ()
    runs: int | None = None
    repeats: int | None = None
    warm_ups: int | None = None
    concurrency: int = 1
    workers: int | None = None
    budget_seconds: str = ""
    load_budget_seconds: str = ""
    budget_usd: float | None = None
    seed: int = 1
    reference: str = ""
    effort: str = ""
    max_output_tokens: int | None = None
    temperature: float | None = None
    allow_cache: bool = False
    allow_fallback: bool = False
    shared_prefix: bool = False
    timeout_seconds: float | None = None
    stall_seconds: float | None = None
    transport: str = "asyncio"
    event_loop: str = "asyncio"
    keep_responses: bool = True
    thresholds: tuple[str, ...] = ()
    include_deactivated: bool = False
    calibrate: bool = True
    preflight: bool = True
    client_region: str = ""

    def checked(self) -> BenchOptions:
        """The same, if it can be served.

        Raises:
            UsageError: says what cannot be.
        """
        if sum(map(bool, (self.profile, self.suites, self.external))) > 1:
            raise UsageError("give a profile, suites or an external suite, not several of them")
        if bool(self.external) != bool(self.external_data):
            raise UsageError("an external suite needs both its name and its file")
        if self.external_mode not in {"strict", "loose"}:
            raise UsageError("--external-mode must be strict or loose")
        if self.external_unsupported not in {"skip", "error"}:
            raise UsageError("--external-unsupported must be skip or error")
        if not 1 <= self.concurrency <= 512:
            raise UsageError("--concurrency must be 1 to 512")
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"--workers must be 1 to {MOST_WORKERS}")
        if self.transport not in TRANSPORTS:
            raise UsageError(
                f"there is no transport {self.transport!r}", remedy=f"known: {', '.join(TRANSPORTS)}"
            )
        if self.protocol and self.protocol not in set(Protocol):
            raise UsageError(
                f"there is no protocol {self.protocol!r}", remedy=f"known: {', '.join(Protocol)}"
            )
        if self.url and (len(self.models) != 1 or self.mappings):
            raise UsageError(
                "--url takes one --model, the id that the endpoint knows, and no --mapping",
                remedy="for several endpoints describe them in datasets/targets",
            )
        if len(self.models) > 1:
            raise UsageError("a run measures one model", remedy="start one run for each model")
        for name, value in (("runs", self.runs), ("warm-ups", self.warm_ups), ("repeats", self.repeats)):
            if value is not None and not 0 <= value <= 100_000:
                raise UsageError(f"--{name} must be 0 to 100000")
        if self.budget_usd is not None and self.budget_usd <= 0:
            raise UsageError("--budget-usd must be above 0")
        for name, limit in (("timeout", self.timeout_seconds), ("stall", self.stall_seconds)):
            if limit is not None and limit <= 0:
                raise UsageError(f"--{name}-seconds must be above 0")
        return self

    @property
    def chosen_transport(self) -> Transport:
        """The transport by its name."""
        return "httpx" if self.transport == "httpx" else "asyncio"


def seconds_of(text: str, flag: str, usual: float | None) -> float | None:
    """A budget of time: a number, ``none`` for no limit, or what is usual where nothing was said.

    Raises:
        UsageError: it is neither.
    """
    if not text:
        return usual
    if text == NO_LIMIT:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 30 * 86_400:
        raise UsageError(f"{flag} must be a number of seconds, or {NO_LIMIT}", where=text[:60])
    return seconds
