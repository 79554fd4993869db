"""Secrecy: no key stands in the settings of a run, and those it uses can be masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from runner.engine.planning import Group
from runner.engine.settings import RunSettings
from runner.providers.checks import Check, CheckState
from runner.secrets import Scanner


def secrecy_checks(
    groups: Sequence[Group], scanner: Scanner, environment: Mapping[str, str], names: Sequence[str]
) -> Iterator[Check]:
    """Settings hold no secret; the scanner finds each key that is used.

    Args:
        names: environment variables that hold the keys of the run.
    """
    faulty = sorted({field for group in groups for field in fields_with_secrets(group.settings, scanner)})
    for field in faulty:
        yield Check(
            "settings",
            CheckState.FAIL,
            f"{field} holds what looks like a secret, which would end up in records",
            "put it into an environment variable and name that: --api-key-env NAME; revoke it if it was real",
        )
    if not faulty:
        yield Check("settings", CheckState.PASS, "hold no secret")
    for name in dict.fromkeys(names):
        value = environment.get(name, "").strip()
        if value and not scanner.find(value.encode("utf-8", "surrogatepass")):
            found = f"the value of {name} is too short to be told from text, so it cannot be masked"
            yield Check("masking", CheckState.WARN, found, f"export {name}=... with a longer key")


def fields_with_secrets(settings: RunSettings, scanner: Scanner) -> Iterator[str]:
    """Names of the settings whose value holds a secret."""
    for name, value in settings.model_dump(mode="json", exclude_defaults=True).items():
        if scanner.find(json.dumps({name: value}, ensure_ascii=False).encode()):
            yield name
