"""Source: the cached copy of a task's repository, and what its refs stand for."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.datasets.bundle import bundle_refs, object_of
from runner.datasets.faults import listed, nearest
from runner.datasets.git import REMOTE_TIMEOUT, last_line, must_git, run_git
from runner.datasets.location import (
    COMMIT_ID,
    RepositoryKind,
    check_ref,
    check_repository,
    repository_kind,
    repository_name,
)
from runner.errors import RepositoryError
from runner.records import sha256_of
from runner.store import slug

MAX_REFS_SHOWN = 12


@dataclass(frozen=True)
class Source:
    """A repository as named in a dataset, with its cached copy."""

    repo: str
    address: str
    """What git is given: an absolute path or an address."""
    kind: RepositoryKind
    mirror: Path
    """Bare repository in the cache."""

    @property
    def is_remote(self) -> bool:
        """Whether asking it needs the network."""
        return self.kind in {RepositoryKind.HTTPS, RepositoryKind.SSH}


def open_source(repo: str, *, beside: Path, cache: Path) -> Source:
    """The source of ``repo``; nothing is fetched yet.

    Raises:
        RepositoryError: the repository is named in a way that is not allowed, or a local one is not there.
    """
    try:
        check_repository(repo)
    except ValueError as error:
        raise RepositoryError(
            str(error), where=repo[:200], remedy="correct the repo key of the task"
        ) from None
    kind = repository_kind(repo)
    address = repo
    if kind in {RepositoryKind.LOCAL, RepositoryKind.BUNDLE}:
        path = (beside / Path(repo).expanduser()).resolve()
        if not path.exists():
            raise RepositoryError(
                "there is no repository at this path",
                where=str(path),
                remedy="check the repo key of the task; it is relative to the dataset file",
            )
        address = str(path)
    mirror = cache.resolve() / f"{_readable(repo)}-{sha256_of(address.encode())[:16]}"
    return Source(repo=repo, address=address, kind=kind, mirror=mirror)


@contextlib.contextmanager
def locked(source: Source) -> Iterator[None]:
    """Hold the cached copy alone, against other threads and processes; it exists afterwards."""
    source.mirror.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(source.mirror.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not (source.mirror / "HEAD").exists():
            must_git("init", "--quiet", "--bare", "--template=", str(source.mirror))
        yield
    finally:
        os.close(descriptor)


def commit_for(source: Source, ref: str) -> str:
    """Commit id of ``ref``, with the commit in the cached copy. Call it while :func:`locked`.

    Full commit ids, and tags of a remote that were seen before, need no network; branches are asked anew.

    Raises:
        RepositoryError: the repository cannot be reached, or does not know the ref; near names are listed.
    """
    try:
        check_ref(ref)
    except ValueError as error:
        raise RepositoryError(str(error), where=ref[:200], remedy="correct the ref key of the task") from None
    known = _remembered(source).get(ref) if source.is_remote else None
    wanted = known or (ref if COMMIT_ID.fullmatch(ref) else None)
    if wanted is None or not _holds(source, wanted):
        name, wanted = _looked_up(source, ref)
        if not _holds(source, wanted):
            _fetch(source, name, wanted, ref)
        if source.is_remote and name.startswith("refs/tags/"):
            _remember(source, ref, wanted)
    commit = run_git("rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}", git_dir=source.mirror)
    if commit.exit_code != 0:
        raise RepositoryError(
            f"{ref!r} names no commit", where=source.repo, remedy="name a tag, branch or commit"
        )
    return commit.stdout.decode().strip()


def _looked_up(source: Source, ref: str) -> tuple[str, str]:
    """Full ref name (or the commit id again) and object id."""
    if COMMIT_ID.fullmatch(ref):
        return ref, ref
    refs = bundle_refs(Path(source.address)) if source.kind is RepositoryKind.BUNDLE else _listed_refs(source)
    wanted = object_of(refs, ref)
    if wanted is None:
        raise _unknown_ref(source, ref, refs)
    name = next(name for name in (f"refs/tags/{ref}", f"refs/heads/{ref}", ref) if name in refs)
    return name, wanted


def _listed_refs(source: Source) -> dict[str, str]:
    done = run_git("ls-remote", "--quiet", "--", source.address, timeout_seconds=120.0)
    if done.exit_code != 0:
        raise _unreachable(source, done.stderr)
    pairs = (line.split("\t", 1) for line in done.stdout.decode("utf-8", "replace").splitlines())
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and not pair[1].endswith("^{}")}


def _fetch(source: Source, name: str, wanted: str, ref: str) -> None:
    target = f"refs/fetched/{wanted}"
    if source.kind is RepositoryKind.BUNDLE and COMMIT_ID.fullmatch(name):
        refs, depth = ["+refs/*:refs/fetched/all/*"], []
    else:
        refs, depth = [f"+{name}:{target}"], [] if source.kind is RepositoryKind.BUNDLE else ["--depth=1"]
    address = f"file://{source.address}" if source.kind is RepositoryKind.LOCAL else source.address
    done = _run_fetch(source, address, depth, refs)
    if done != "" and depth and COMMIT_ID.fullmatch(name):
        done = _run_fetch(
            source, address, [], ["+refs/heads/*:refs/fetched/all/*", "+refs/tags/*:refs/fetched/tags/*"]
        )
    if done != "":
        raise _unreachable(source, done)
    if not _holds(source, wanted):
        refs_known = (
            bundle_refs(Path(source.address))
            if source.kind is RepositoryKind.BUNDLE
            else _listed_refs(source)
        )
        raise _unknown_ref(source, ref, refs_known)


def _run_fetch(source: Source, address: str, depth: list[str], refs: list[str]) -> str:
    """Empty, or what git said when it failed."""
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", *depth]
    done = run_git(
        "fetch", *options, "--", address, *refs, git_dir=source.mirror, timeout_seconds=REMOTE_TIMEOUT
    )
    return "" if done.exit_code == 0 else done.stderr or "git fetch failed"


def _holds(source: Source, wanted: str) -> bool:
    return run_git("cat-file", "-e", wanted, git_dir=source.mirror).exit_code == 0


def _remembered(source: Source) -> dict[str, str]:
    try:
        refs = json.loads((source.mirror / "tags.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return refs if isinstance(refs, dict) else {}


def _remember(source: Source, ref: str, wanted: str) -> None:
    refs = {**_remembered(source), ref: wanted}
    with tempfile.NamedTemporaryFile("w", dir=source.mirror, delete=False, encoding="utf-8") as stream:
        json.dump(refs, stream, sort_keys=True)
    Path(stream.name).replace(source.mirror / "tags.json")


def _unknown_ref(source: Source, ref: str, refs: dict[str, str]) -> RepositoryError:
    names = sorted(
        {name.split("/", 2)[-1] for name in refs if name.startswith(("refs/tags/", "refs/heads/"))}
    )
    if COMMIT_ID.fullmatch(ref):
        return RepositoryError(
            f"the repository has no commit {ref}",
            where=source.repo,
            remedy="check the id; a commit that no branch or tag leads to may be refused by the server",
        )
    return RepositoryError(
        f"the repository has no tag or branch {ref!r}{nearest(ref, names)}",
        where=source.repo,
        remedy=f"it has: {listed(names, MAX_REFS_SHOWN) or 'no tags or branches'}",
    )


_CAUSES = (
    (r"could not resolve host|name or service not known", "the host is unknown", "check the address and the network"),
    (
        r"could not read username|terminal prompts disabled|authentication failed|invalid username or",
        "the server wants a user and a key that are not there",
        "use an ssh address with a key in your agent, or check that the repository is public",
    ),
    (r"permission denied|publickey", "the key was refused", "load a key that may read it: ssh-add"),
    (r"host key verification failed", "the host is not in known_hosts", "connect to it once by hand with ssh"),
    (r"dubious ownership", "the repository belongs to another user", "clone it as the user who runs this"),
    (r"not found|does not exist|does not appear to be a git repository|no such file", "there is no repository there",
     "check the address; a private repository looks the same without a key"),
    (r"certificate|ssl", "the connection's certificate was not accepted", "set SSL_CERT_FILE to your authority's file"),
    (r"timed out|connection refused|unreachable|unable to access", "the server did not answer",
     "check the network and the proxy settings"),
    (r"bundle", "the bundle is broken", "make it again: git bundle create NAME.bundle --all"),
)  # fmt: skip


def _unreachable(source: Source, said: str) -> RepositoryError:
    for pattern, cause, remedy in _CAUSES:
        if re.search(pattern, said, re.IGNORECASE):
            break
    else:
        cause, remedy = "git failed", "check the address"
    return RepositoryError(
        f"the repository cannot be had: {cause} ({last_line(said)})", where=source.repo, remedy=remedy
    )


def _readable(repo: str) -> str:
    return slug("r" + repository_name(repo))[1:][:40] or "repository"
