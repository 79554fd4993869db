"""Spoken language: which one a text is in, told by a library where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

LIBRARY = "py3langid"
Detector = Callable[[str], str]
"""From a text to the code of its language (ISO 639-1), such as ``de``."""


def installed_detector() -> Detector | None:
    """The detector of the library, or None where it is not installed."""
    if importlib.util.find_spec(LIBRARY) is None:
        return None
    return _detected


def _detected(text: str) -> str:
    # The model takes a second to load, so it is loaded by the first text that needs it.
    code: str = importlib.import_module(LIBRARY).classify(text)[0]
    return code
