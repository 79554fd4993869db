"""Refusal: why a repository or a ref could not be had, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runner.datasets.faults import listed, nearest
from runner.datasets.git import last_line
from runner.datasets.location import COMMIT_ID
from runner.errors import RepositoryError

CAUSES = (
    (
        r"could not resolve host|name or service not known|failure in name resolution",
        "the host is unknown",
        "check the address and the network",
    ),
    (
        r"could not read username|could not read password|prompts disabled|authentication failed",
        "the server wants credentials that are not there",
        "use an ssh address with a key in your agent, or an entry in .netrc; a wrong address looks the same",
    ),
    (r"permission denied \(|publickey", "the key was refused", "load a key that may read it: ssh-add"),
    (r"host key verification", "the host is not among the known ones", "connect to it once by hand with ssh"),
    (r"dubious ownership", "the repository belongs to another user", "clone it as the user who runs this"),
    (
        r"unadvertised object|not our ref|remote ref",
        "the commit or ref is not there",
        "check the ref key of the task",
    ),
    (
        r"certificate|ssl",
        "the certificate of the server was not accepted",
        "set SSL_CERT_FILE to the file of your authority",
    ),
    (
        r"timed out|connection refused|unreachable|could not connect|failed to connect",
        "the server did not answer",
        "check the network and the proxy settings",
    ),
    (
        r"not found|does not exist|not appear to be a git repository|no such file",
        "there is no repository there",
        "check the address; a private repository looks the same without a key",
    ),
)
"""Pattern in git's messages, cause, remedy; the first that fits counts."""


def unreachable(repo: str, said: str) -> RepositoryError:
    """The error for a repository that git could not reach; ``said`` is what git wrote."""
    cause, remedy = "git failed", "check the repo key of the task"
    for pattern, known_cause, known_remedy in CAUSES:
        if re.search(pattern, said, re.IGNORECASE):
            cause, remedy = known_cause, known_remedy
            break
    return RepositoryError(
        f"the repository cannot be had: {cause} ({last_line(said)})", where=repo, remedy=remedy
    )


def unknown_ref(repo: str, ref: str, refs: Mapping[str, str]) -> RepositoryError:
    """The error for a ref that the repository does not have; near names are listed."""
    if COMMIT_ID.fullmatch(ref):
        return RepositoryError(
            f"the repository has no commit {ref}",
            where=repo,
            remedy="check the id; a server may refuse a commit that no branch or tag leads to",
        )
    found = (re.fullmatch(r"refs/(?:tags|heads)/(.+)", name) for name in refs)
    names = sorted({match[1] for match in found if match})
    return RepositoryError(
        f"the repository has no tag or branch {ref!r}{nearest(ref, names)}",
        where=repo,
        remedy=f"it has: {listed(names) or 'no tags or branches'}",
    )
