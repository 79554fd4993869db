"""Context windows: too small is refused before anything is paid, small is said, all is recorded."""

from __future__ import annotations

import pytest

from runner.engine.places import Places
from runner.errors import ConfigurationError
from runner.store import ResultsStore
from tests.engine.standin import run_script

FINE = "change(); note()\n"


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
