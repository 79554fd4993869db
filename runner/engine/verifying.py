"""Verifying: ``invoke verify`` over one store or all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path

from runner.engine.places import Places
from runner.errors import UsageError
from runner.records.nouns import counted
from runner.store import verify
from runner.store.finding import Finding

EXIT_FINDINGS = 3


def verify_command(
    places: Places, environment: Mapping[str, str], root: Path | None, say: Callable[[str], None]
) -> int:
    """Every finding on a line of its own, those of one unfinished plan on two; 0 without any, 3 otherwise.

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
    count = 0
    for each in roots:
        for _, group in groupby(verify(each, scanner), _kind):
            first, *rest = group
            count += 1 + len(rest)
            say(f"{each.name}: {first.line()}")
            if rest:
                say(f"  and so {counted(len(rest), 'more trial')} of this plan")
    say(f"{counted(len(roots), 'store')} checked, {counted(count, 'finding')}")
    return EXIT_FINDINGS if count else 0


def _kind(finding: Finding) -> tuple[str, ...]:
    """What findings share that are told together: trials that one plan has not come to yet."""
    shared = (finding.problem, finding.detail, finding.remedy)
    planned = finding.problem == "unfinished" and finding.detail.startswith("plan ")
    return shared if planned else (*shared, finding.path)
