"""Verifying: ``invoke verify`` over one store or all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from runner.engine.places import Places
from runner.errors import UsageError
from runner.store import verify

EXIT_FINDINGS = 3


def verify_command(
    places: Places, environment: Mapping[str, str], root: Path | None, say: Callable[[str], None]
) -> int:
    """Every finding on a line of its own; 0 without any, 3 otherwise.

    Args:
        environment: its keys are looked for in every file, whatever their shape.
        root: the folder of one store; every store of the project when left out.

    Raises:
        UsageError: there is no store at ``root``.
    """
    if root is not None and not root.is_dir():
        raise UsageError(
            "there is no store at this path", where=str(root), remedy="name the folder that holds plans/"
        )
    roots = [root] if root is not None else list(places.roots().existing())
    scanner = places.scanner(environment)
    findings = [(each, finding) for each in roots for finding in verify(each, scanner)]
    for each, finding in findings:
        say(f"{each.name}: {finding.line()}")
    say(f"{len(roots)} stores checked, {len(findings)} findings")
    return EXIT_FINDINGS if findings else 0
