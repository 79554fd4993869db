"""Remote: where a branch is pushed to, with the sign-in and identity that git has in the project's folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generators.publish.child import Finished, run
from generators.publish.environment import git_environment
from runner.errors import PublishError

FALLBACK_NAME = "Harnessmark"
FALLBACK_EMAIL = "publish@harnessmark.invalid"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SECRET = re.compile(r"(?<=://)[^/@\s]+@")
# Settings of a repository that decide how a remote is reached; all others stay behind.
_REACHING = r"^(credential|http|https|url|ssh|core\.(sshcommand|askpass|gitproxy))\b"


@dataclass(frozen=True)
class Remote:
    """A remote as git is given it, the environment to reach it with, and the branch checked out beside it."""

    address: str
    environment: Mapping[str, str]
    checked_out: str | None

    @property
    def shown(self) -> str:
        """The address without a user name or password."""
        return redact(self.address)


def redact(text: str) -> str:
    """``text`` with the user and password of every address in it removed."""
    return _SECRET.sub("", text)


def resolve(remote: str, *, root: Path, inherited: Mapping[str, str] | None = None) -> Remote:
    """Find what ``remote`` means in ``root``: the name of one of its remotes, an address, or a path.

    Raises:
        PublishError: there is no remote of that name, or ``root`` is no repository and so has no names.
    """
    environment = git_environment(inherited)
    address = _address(remote, root, environment)
    settings = _settings(root, environment)
    identity = {
        "GIT_COMMITTER_NAME": _identity(root, environment, "NAME", FALLBACK_NAME),
        "GIT_COMMITTER_EMAIL": _identity(root, environment, "EMAIL", FALLBACK_EMAIL),
    }
    head = _ask(root, environment, "symbolic-ref", "--quiet", "--short", "HEAD")
    return Remote(address, environment | settings | identity, head.stdout.strip() or None)


def _address(remote: str, root: Path, environment: Mapping[str, str]) -> str:
    if _NAME.fullmatch(remote):
        named = _ask(root, environment, "remote", "get-url", "--push", remote)
        if named.exit_code == 0:
            return _absolute(named.stdout.strip(), root)
        if not (root / remote).is_dir():
            raise _no_such_remote(remote, root, environment)
    elif remote.startswith("-") or not remote.strip():
        raise PublishError(
            "that is no remote", where=repr(remote), remedy="give a remote's name, an address or a path"
        )
    return _absolute(remote, root)


def _absolute(address: str, root: Path) -> str:
    path = Path(address).expanduser()
    here = path if path.is_absolute() else root / path
    return str(here.resolve()) if here.is_dir() else address


def _no_such_remote(remote: str, root: Path, environment: Mapping[str, str]) -> PublishError:
    listed = _ask(root, environment, "remote")
    if listed.exit_code != 0:
        return PublishError(
            f"there is no remote {remote!r}, because the folder is not a git repository",
            where=str(root),
            remedy="give the remote's address instead of its name, or run git init and git remote add first",
        )
    names = ", ".join(listed.stdout.split()) or "none"
    return PublishError(
        f"there is no remote {remote!r}",
        where=f"{root} (its remotes: {names})",
        remedy=f"git remote add {remote} ADDRESS, or give the address instead of a name",
    )


def _settings(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The repository's own ways of reaching remotes, as the numbered variables that git reads."""
    found = _ask(root, environment, "config", "--local", "--includes", "--null", "--get-regexp", _REACHING)
    entries = [entry.partition("\n") for entry in found.stdout.split("\0") if entry]
    first = int(environment.get("GIT_CONFIG_COUNT", "0") or 0)
    variables: dict[str, str] = {}
    for number, (key, _, value) in enumerate(entries, start=first):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables | {"GIT_CONFIG_COUNT": str(first + len(entries))}


def _identity(root: Path, environment: Mapping[str, str], what: str, fallback: str) -> str:
    for variable in (f"GIT_COMMITTER_{what}", f"GIT_AUTHOR_{what}"):
        if environment.get(variable):
            return environment[variable]
    return _ask(root, environment, "config", f"user.{what.lower()}").stdout.strip() or fallback


def _ask(root: Path, environment: Mapping[str, str], *arguments: str) -> Finished:
    return run(["git", *arguments], folder=root, environment=environment, timeout_seconds=60)
