"""ServerWindow: what a model server counted while one invocation ran, over all of its clients."""

from __future__ import annotations

from pydantic import Field, model_validator

from runner.records.base import Count, Part, Seconds


class WindowHistogram(Part):
    """What a histogram of the server observed in between, over all label sets of the model."""

    count: Count
    total: float = Field(ge=0, description="sum of the observed values; seconds for times")

    @property
    def mean(self) -> float | None:
        """Total over count; null where nothing was observed."""
        return self.total / self.count if self.count else None


class WindowGauge(Part):
    """A gauge of the server, read again and again in between."""

    peak: float = Field(ge=0)
    mean: float = Field(ge=0, description="of the samples, each with the same weight")
    samples: int = Field(ge=1)


class ServerWindow(Part):
    """Differences of a server's own counters between the start and the end of an invocation.

    They belong to the server, not to the trial: no count of a trial is ever filled from them. Only where
    ``shared`` is false can they be set beside the trial's own counts. A counter that the server does not
    have, or that was reset in between, is null.
    """

    shared: bool = Field(description="whether anybody else used the server in between, or may have")
    shared_because: str | None = Field(default=None, max_length=300)
    agents_at_once: int = Field(ge=1, description="most agents of this run at work in between, this one too")
    seconds: Seconds = Field(description="between the two readings")
    prompt_tokens: Count | None = None
    generation_tokens: Count | None = None
    cached_prompt_tokens: Count | None = Field(
        default=None, description="prompt tokens that the server read from its prefix cache"
    )
    prefix_cache_queries: Count | None = None
    prefix_cache_hits: Count | None = None
    requests_finished: Count | None = None
    preemptions: Count | None = None
    histograms: dict[str, WindowHistogram] = Field(
        default_factory=dict, description="by the server's name of the family, without its prefix"
    )
    gauges: dict[str, WindowGauge] = Field(
        default_factory=dict,
        description="by the server's name without its prefix: key-value cache use, requests running, waiting",
    )

    @model_validator(mode="after")
    def _a_shared_window_says_why(self) -> ServerWindow:
        if self.shared != bool(self.shared_because):
            raise ValueError("a window carries shared_because exactly when it is shared")
        if self.agents_at_once > 1 and not self.shared:
            raise ValueError("a window with several agents at once is shared")
        return self

    @property
    def prefix_cache_hit_share(self) -> float | None:
        """Hits over queries, 0 to 1; null without queries."""
        if not self.prefix_cache_queries or self.prefix_cache_hits is None:
            return None
        return self.prefix_cache_hits / self.prefix_cache_queries

    @property
    def cached_prompt_share(self) -> float | None:
        """Cached prompt tokens over all prompt tokens, 0 to 1; null without prompt tokens."""
        if not self.prompt_tokens or self.cached_prompt_tokens is None:
            return None
        return self.cached_prompt_tokens / self.prompt_tokens

    @property
    def uncached_prompt_tokens(self) -> int | None:
        """Prompt tokens that were not in the cache and were written to it: all less the cached ones.

        Together with the cached ones they are the whole prompt. Null where either count is.
        """
        if self.prompt_tokens is None or self.cached_prompt_tokens is None:
            return None
        return max(self.prompt_tokens - self.cached_prompt_tokens, 0)

    @property
    def generation_tokens_per_second(self) -> float | None:
        """Output tokens over the seconds of the window; null where they are unknown or it has no length."""
        if self.generation_tokens is None or not self.seconds:
            return None
        return self.generation_tokens / self.seconds
