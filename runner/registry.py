"""Registry: finds an extension by its short name or by import path (``package.module:Name``)."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping, Sequence

from runner.errors import ConfigurationError, UsageError


def load_by_name(kind: str, name: str, registered: Mapping[str, str]) -> object:
    """The attribute that ``name`` stands for.

    Args:
        kind: what is looked for, as a user calls it.
        name: a registered name, or ``package.module:Name``.
        registered: import path by name.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: the import path leads nowhere.
    """
    path = registered.get(name, name)
    if ":" not in path:
        near = difflib.get_close_matches(name, registered, n=1)
        raise UsageError(
            f"there is no {kind} {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
            remedy=f"known: {', '.join(sorted(registered))}; or give an import path, package.module:Name",
        )
    module, _, attribute = path.partition(":")
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, SyntaxError, RuntimeError) as error:
        raise ConfigurationError(
            f"the {kind} {name!r} cannot be loaded: {error}",
            where=path,
            remedy="check the import path and that its package is installed",
        ) from None
    return found


def made_by_name(kind: str, name: str, registered: Mapping[str, str], members: Sequence[str]) -> object:
    """An extension that has ``members``, made without arguments where ``name`` stands for a class.

    Raises:
        UsageError: no such name.
        ConfigurationError: it cannot be loaded or made, or lacks a member.
    """
    found = load_by_name(kind, name, registered)
    try:
        made = found() if isinstance(found, type) else found
    except TypeError as error:
        raise ConfigurationError(
            f"the {kind} {name!r} cannot be made without arguments: {error}",
            remedy="give every argument of its class a default",
        ) from None
    missing = [member for member in members if not hasattr(made, member)]
    if missing:
        raise ConfigurationError(f"{name!r} is no {kind}: it has no {', '.join(missing)}")
    return made
