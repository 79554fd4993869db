"""Environment: what child processes are given, so that a machine's settings cannot change a page."""

from __future__ import annotations

import os
from collections.abc import Mapping

_KEPT = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV", "SSL_CERT_FILE", "LD_LIBRARY_PATH")
_KEPT_FOR_GIT = (
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "XDG_CONFIG_HOME",
    "USER",
)


def build_environment(
    *, site_url: str, epoch: int, inherited: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of the site builder: fixed locale, time zone, hash seed and date; no secrets."""
    return _kept(inherited, _KEPT) | {
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "SITE_URL": site_url,
        "SOURCE_DATE_EPOCH": str(epoch),
        "NO_MKDOCS_2_WARNING": "1",
        "DISABLE_MKDOCS_2_WARNING": "true",
    }


def git_environment(inherited: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of git: never asks for a password, and no GIT_* variable of the caller redirects it.

    Variables that say how to reach and sign in to a remote (GIT_SSH_COMMAND, GIT_CONFIG_*, GIT_ASKPASS, the
    identity) stay; those that move the repository, its index or its work tree (a git hook sets them) go.
    """
    values = os.environ if inherited is None else inherited
    redirecting = {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    }
    reaching = {name: value for name, value in values.items() if name.startswith("GIT_")}
    kept = {name: value for name, value in reaching.items() if name not in redirecting}
    return (
        _kept(values, _KEPT + _KEPT_FOR_GIT)
        | kept
        | {
            "LC_ALL": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0",
        }
    )


def _kept(inherited: Mapping[str, str] | None, names: tuple[str, ...]) -> dict[str, str]:
    values = os.environ if inherited is None else inherited
    return {name: values[name] for name in names if name in values}
