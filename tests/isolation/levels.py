"""Levels: the isolations that tests run at. A sandbox that does not work here fails them, with the remedy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from runner.engine.isolation import Isolation, choose

LEVELS = ("none", "sandbox")


def isolation(level: str, private: Sequence[Path] = ()) -> Isolation:
    """The isolation of that name; only a system that has no such thing at all is a reason to skip."""
    if level == "sandbox" and not sys.platform.startswith("linux"):
        pytest.skip("bubblewrap is for Linux only")
    return choose(level, private=private)
