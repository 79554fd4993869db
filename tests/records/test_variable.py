"""Names of variables that hold keys: a key given in place of one is refused and never repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.providers.address import api_key
from runner.records import require_variable_name
from runner.serving.scrape import bearer


@pytest.mark.parametrize("name", ["MODEL_KEY", "_k1", "a"])
def test_a_name_stays_as_it_is(name: str) -> None:
    assert require_variable_name(name) == name


@pytest.mark.parametrize("ask", [api_key, bearer])
@pytest.mark.parametrize("key", ["sk-ant-hunter2-x", "hunter2.aaa.bbb", "hunter2 x", "hunter2" * 30])
def test_a_key_in_place_of_a_name_is_in_no_message(ask: object, key: str) -> None:
    assert callable(ask)
    with pytest.raises(ConfigurationError, match="not a key") as caught:
        ask(key, {})
    assert "hunter2" not in caught.value.message()


@given(st.text().filter(lambda text: not (text.isascii() and text.isidentifier())))
def test_what_no_shell_takes_for_a_name_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        require_variable_name(text)
