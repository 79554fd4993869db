"""Context windows: too small is refused before anything is paid, small is said, all is recorded."""

from __future__ import annotations

import pytest

from runner.engine.places import Places
from runner.engine.window import RECOMMENDED, SMALLEST, window_warning
from runner.errors import ConfigurationError
from runner.store import ResultsStore
from tests.engine.standin import run_script

FINE = "change(); note()\n"


def warning(window: int | None, *, allow_small: bool = False) -> str | None:
    return window_warning(window, model="m", output_tokens=16_000, allow_small=allow_small)


def test_the_gates_stand_where_the_specification_puts_them() -> None:
    assert (SMALLEST, RECOMMENDED) == (64_000, 200_000)
    assert warning(RECOMMENDED) is None
    assert "recommended" in (warning(RECOMMENDED - 1) or "")
    assert "recommended" in (warning(SMALLEST) or "")
    with pytest.raises(ConfigurationError, match="at least 64000"):
        warning(SMALLEST - 1)
    assert "recommended" in (warning(SMALLEST - 1, allow_small=True) or "")
    assert "unknown" in (warning(None) or "")


def test_a_window_that_one_answer_fills_is_refused_whatever_is_allowed() -> None:
    with pytest.raises(ConfigurationError, match="one answer may fill"):
        warning(16_000, allow_small=True)


def test_a_refused_window_leaves_no_plan_behind(places: Places) -> None:
    with pytest.raises(ConfigurationError) as caught:
        run_script(places, FINE, context_window=32_000)
    assert "--allow-small-window" in caught.value.remedy
    assert not places.results.exists()
    code, output = run_script(places, FINE, context_window=32_000, allow_small_window=True)
    assert code == 0
    assert "32000 tokens" in output
    [stored] = ResultsStore(places.results).trials()
    assert stored.record.serving.context_window == 32_000


def test_a_demonstration_says_nothing_of_windows(whole: tuple[Places, str]) -> None:
    assert "context window" not in whole[1]
