"""NpmLock: which version of every package an npm program gets, so that each installation is the same.

A lock is the package manager's own file, without what it does not need: no address of a registry, no
licences. With the versions it holds the digest of every archive, which the package manager checks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.errors import ConfigurationError
from runner.harnesses.installation import Installation

LOCKS = Path(__file__).parent / "constraints"
LOCK, PROJECT = "package-lock.json", "package.json"
Package = dict[str, Any]
NOT_NEEDED = frozenset({"resolved", "license", "funding", "engines", "deprecated"})


def lock_of(installation: Installation) -> Path | None:
    """The lock of this version of the program.

    None where nobody wrote one: then what it needs is taken as new as its own ranges allow.

    Raises:
        ConfigurationError: the file is no lock.
    """
    path = lock_path(installation)
    if not path.is_file():
        return None
    return path if _packages(path).get("", {}).get("dependencies") == wanted(installation) else None


def lock_path(installation: Installation) -> Path:
    """Where its lock stands: where it says, or among those of the project, named after its package."""
    name = f"{installation.package.removeprefix('@').replace('/', '-')}.json"
    return installation.constraints or LOCKS / name


def wanted(installation: Installation) -> Mapping[str, str]:
    """Versions of the packages that are asked for by name."""
    exact = f"{installation.package}@{installation.version}"
    return dict(each.rpartition("@")[::2] for each in (*installation.beside, exact))


def lay_out(installation: Installation, lock: Path, folder: Path) -> None:
    """Write into ``folder`` what the package manager installs from."""
    project = {"private": True, "dependencies": wanted(installation)}
    (folder / PROJECT).write_text(json.dumps(project) + "\n", encoding="utf-8")
    (folder / LOCK).write_bytes(lock.read_bytes())


def shortened(installation: Installation, made: Path) -> str:
    """What the package manager wrote, as a lock of the project: a line a package, and only what is needed."""
    packages = _packages(made)
    packages[""] = {"dependencies": wanted(installation)}
    lines = [
        f"{json.dumps(name)}: " + json.dumps({key: body[key] for key in sorted(body.keys() - NOT_NEEDED)})
        for name, body in sorted(packages.items())
        if not body.get("extraneous")
    ]
    return '{"lockfileVersion": 3, "requires": true, "packages": {\n' + ",\n".join(lines) + "\n}}\n"


def departures(lock: Path, folder: Path) -> list[str]:
    """Packages in ``folder`` that are not as they were locked.

    One for another kind of machine may be missing in the lock, where its registry did not have it.
    """
    locked, found = _packages(lock), _packages(folder / LOCK)
    return [
        f"{name.rpartition('node_modules/')[2]} {body.get('version')}"
        for name, body in found.items()
        if name and not _is_locked(body, locked.get(name))
    ]


def _is_locked(found: Package, locked: Package | None) -> bool:
    if locked is None:
        return bool(found.get("optional"))
    return all(found.get(key) == locked.get(key) for key in ("version", "integrity"))


def _packages(path: Path) -> dict[str, Package]:
    """By where they stand below the folder; that of the folder itself has an empty name."""
    try:
        found = json.loads(path.read_bytes())["packages"]
    except (OSError, ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(body, dict) for body in found.values()):
        raise ConfigurationError(
            "the file that pins every package is no lock of npm",
            where=str(path),
            remedy="take it away, then: invoke harness-install NAME --lock",
        )
    return found
