"""Templates: a Jinja environment in which whatever a template prints passes an escape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jinja2

from generators.escape.html import attribute


def environment(folder: Path, finalize: Callable[[object], object]) -> jinja2.Environment:
    """An environment for the templates in ``folder``; a name that a template does not get is an error.

    Args:
        finalize: what becomes of each value that a template prints; marked-up text should pass it as it is.
    """
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["attr"] = lambda raw: attribute(str(raw))
    return made
