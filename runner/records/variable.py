"""VariableName: the name of an environment variable, told apart from a key that was given in its place."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from runner.errors import ConfigurationError

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
NOT_A_NAME = "must be the name of an environment variable, not a key; what was given is not shown"
HOW = "put the key into an environment variable, and give the name of that variable"


def require_variable_name(text: str) -> str:
    """``text``, where it can be the name of an environment variable.

    Raises:
        ConfigurationError: it cannot. It may be a key, so the message does not hold it.
    """
    if NAME.fullmatch(text) is None:
        raise ConfigurationError(f"the name of the key's variable {NOT_A_NAME}", remedy=HOW)
    return text


def _is_a_name(text: str) -> str:
    if NAME.fullmatch(text) is None:
        raise ValueError(NOT_A_NAME)
    return text


VariableName = Annotated[str, AfterValidator(_is_a_name)]
"""A setting that names the environment variable of a key."""
