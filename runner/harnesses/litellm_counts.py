"""Token counts as the library litellm gives them, which several agents speak to their model through.

Over Chat Completions and Messages alike it names the whole input, cached or not, and parts of it.
"""

from __future__ import annotations

from runner.harnesses.counts import ZERO, Counts
from runner.harnesses.stream import Event, count, mapping


def sources(where: str) -> dict[str, str]:
    """Where each class is from, for records; ``where`` is the place of the library's usage."""
    return {
        "input_tokens": f"{where}: prompt_tokens less what was read from a cache or written to one",
        "output_tokens": f"{where}.completion_tokens",
        "cache_read_tokens": f"{where}: cached_tokens",
        "cache_write_tokens": f"{where}: cache_creation_input_tokens",
        "reasoning_tokens": f"{where}: reasoning_tokens",
    }


def counts_of(usage: Event) -> Counts:
    """The classes in ``usage``; all zero where it says nothing."""
    if "prompt_tokens" in usage:
        whole, output = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        inside = mapping(usage.get("prompt_tokens_details"))
        outside = mapping(usage.get("completion_tokens_details"))
    else:
        whole, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
        inside = mapping(usage.get("input_tokens_details"))
        outside = mapping(usage.get("output_tokens_details"))
    if not whole and not output:
        return ZERO
    read = count(inside.get("cached_tokens")) or 0
    write = count(usage.get("cache_creation_input_tokens")) or 0
    fresh = None if whole is None else max(whole - read - write, 0)
    return Counts(fresh, output, read, write, count(outside.get("reasoning_tokens")))
