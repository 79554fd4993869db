"""What a server counted in a window is the server's, and says whether anybody else had a part in it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from runner.records import ServerWindow, WindowGauge, WindowHistogram
from tests import examples


def test_the_share_of_cache_hits_is_hits_over_queries() -> None:
    share = examples.server_window().prefix_cache_hit_share
    assert share == pytest.approx(0.5302, abs=5e-5)


@pytest.mark.parametrize("counts", [{}, {"prefix_cache_queries": 0, "prefix_cache_hits": 0}])
def test_without_queries_there_is_no_share_of_hits(counts: dict[str, int]) -> None:
    window = ServerWindow.model_validate({"shared": False, "agents_at_once": 1, "seconds": 1.0, **counts})
    assert window.prefix_cache_hit_share is None


def test_a_shared_window_without_a_reason_is_refused() -> None:
    with pytest.raises(ValidationError, match="shared_because"):
        ServerWindow(shared=True, agents_at_once=2, seconds=1.0)
    with pytest.raises(ValidationError, match="shared_because"):
        ServerWindow(shared=False, shared_because="somebody", agents_at_once=1, seconds=1.0)


def test_a_window_with_several_agents_cannot_be_anybodys_own() -> None:
    with pytest.raises(ValidationError, match="several agents at once is shared"):
        ServerWindow(shared=False, agents_at_once=2, seconds=1.0)


def test_the_share_of_cached_prompt_tokens_needs_both_counts() -> None:
    window = examples.server_window().model_copy(update={"prompt_tokens": 364_184})
    assert window.cached_prompt_share == pytest.approx(0.69, abs=5e-5)
    for lacking in ({"prompt_tokens": None}, {"prompt_tokens": 0}, {"cached_prompt_tokens": None}):
        assert window.model_copy(update=lacking).cached_prompt_share is None


def test_what_was_written_to_the_cache_is_the_prompt_less_what_was_read_from_it() -> None:
    window = examples.server_window().model_copy(update={"prompt_tokens": 364_184})
    assert window.uncached_prompt_tokens == 364_184 - 251_287 == 112_897
    assert window.model_copy(update={"cached_prompt_tokens": 0}).uncached_prompt_tokens == 364_184
    for lacking in ({"prompt_tokens": None}, {"cached_prompt_tokens": None}):
        assert window.model_copy(update=lacking).uncached_prompt_tokens is None


def test_9388_generated_tokens_in_75_7_seconds_are_124_a_second() -> None:
    window = examples.server_window().model_copy(update={"seconds": 75.7})
    assert window.generation_tokens_per_second == pytest.approx(124.0, abs=0.05)
    for lacking in ({"generation_tokens": None}, {"seconds": 0.0}):
        assert window.model_copy(update=lacking).generation_tokens_per_second is None


def test_the_mean_of_a_histogram_without_observations_is_unknown() -> None:
    assert WindowHistogram(count=4, total=2.0).mean == 0.5
    assert WindowHistogram(count=0, total=0.0).mean is None


@pytest.mark.parametrize("fields", [{"samples": 0}, {"peak": -1.0}, {"mean": float("nan")}])
def test_a_gauge_holds_only_what_was_sampled(fields: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        WindowGauge.model_validate({"peak": 1.0, "mean": 0.5, "samples": 3, **fields})
