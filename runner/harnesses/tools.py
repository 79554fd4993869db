"""Tools: pinned programs that are no harnesses, but that some runs need beside them."""

from __future__ import annotations

from collections.abc import Mapping

from runner.harnesses.installation import Installation, Runtime, Source

TOOLS: Mapping[str, Installation] = {
    "litellm": Installation(
        source=Source.PYPI,
        package="litellm",
        extras=("proxy",),
        version="1.108.7",
        runtime=Runtime.PYTHON,
        script="litellm",
        note="The proxy of provider litellm; about 750 MB with all it needs.",
    ),
}
"""By the name that installs it; it lives below the same folder as the harnesses."""
