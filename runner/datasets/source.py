"""Source: the cached copy of a task's repository, and what its refs stand for."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.datasets.bundle import bundle_refs
from runner.datasets.git import REMOTE_TIMEOUT, must_git, run_git
from runner.datasets.location import (
    COMMIT_ID,
    RepositoryKind,
    check_ref,
    check_repository,
    repository_kind,
    repository_name,
)
from runner.datasets.refusal import unknown_ref, unreachable
from runner.errors import RepositoryError
from runner.records import sha256_of
from runner.store import slug

LISTING_TIMEOUT = 120.0
EVERYTHING = ("+refs/heads/*:refs/fetched/heads/*", "+refs/tags/*:refs/fetched/tags/*")


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
        raise RepositoryError(str(error), where=repo[:200], remedy="correct the task's repo key") from None
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
    name = slug(f"{repository_name(repo)}-{sha256_of(address.encode())[:16]}")
    return Source(repo=repo, address=address, kind=kind, mirror=cache.resolve() / name)


@contextlib.contextmanager
def locked(source: Source) -> Iterator[None]:
    """Hold the cached copy alone, against other threads and processes; it exists afterwards."""
    source.mirror.parent.mkdir(parents=True, exist_ok=True)
    lock = source.mirror.with_name(f"{source.mirror.name}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
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
        raise RepositoryError(str(error), where=ref[:200], remedy="correct the task's ref key") from None
    known = remembered_tags(source).get(ref) if source.is_remote else None
    wanted = known or (ref if COMMIT_ID.fullmatch(ref) else None)
    commit = commit_in_mirror(source, wanted) if wanted else None
    if commit is None:
        name, wanted = _looked_up(source, ref)
        commit = commit_in_mirror(source, wanted) or _fetch(source, name, wanted)
        if source.is_remote and name.startswith("refs/tags/"):
            _remember(source, ref, wanted)
    return commit


def _looked_up(source: Source, ref: str) -> tuple[str, str]:
    """Full ref name (or the commit id again) and object id."""
    if COMMIT_ID.fullmatch(ref):
        return ref, ref
    refs = listed_refs(source)
    for name in (f"refs/tags/{ref}", f"refs/heads/{ref}", ref):
        if name in refs:
            return name, refs[name]
    raise unknown_ref(source.repo, ref, refs)


def listed_refs(source: Source, *, seconds: float = LISTING_TIMEOUT) -> dict[str, str]:
    """Object id by full ref name, as the repository itself lists them.

    Raises:
        RepositoryError: it cannot be reached; the message names the cause.
    """
    if source.kind is RepositoryKind.BUNDLE:
        return bundle_refs(Path(source.address))
    done = run_git("ls-remote", "--quiet", "--", source.address, timeout_seconds=seconds)
    if done.exit_code != 0:
        raise unreachable(source.repo, done.stderr)
    pairs = (line.split("\t", 1) for line in done.stdout.decode("utf-8", "replace").splitlines())
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and not pair[1].endswith("^{}")}


def _fetch(source: Source, name: str, wanted: str) -> str:
    """Bring ``wanted`` into the cached copy: alone where the other side allows that, else with all refs."""
    shallow = [] if source.kind is RepositoryKind.BUNDLE else ["--depth=1"]
    said = _run_fetch(source, shallow, [f"+{name}:refs/fetched/one/{wanted}"])
    if said and COMMIT_ID.fullmatch(name):
        said = _run_fetch(source, [], EVERYTHING)
    if said:
        raise unreachable(source.repo, said)
    commit = commit_in_mirror(source, wanted)
    if commit is None:
        raise unknown_ref(source.repo, name, {})
    return commit


def _run_fetch(source: Source, depth: Sequence[str], refs: Sequence[str]) -> str:
    """Empty, or what git said when it failed."""
    _unlock(source.mirror)
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", *depth]
    done = run_git(
        "fetch",
        *options,
        "--",
        source.address,
        *refs,
        git_dir=source.mirror,
        timeout_seconds=REMOTE_TIMEOUT,
    )
    return "" if done.exit_code == 0 else done.stderr or "git fetch failed"


def _unlock(mirror: Path) -> None:
    """Remove the locks of a git that was killed, which would keep every later one out.

    The cached copy is ours alone, so that no other can be at work on it.
    """
    for lock in (*mirror.glob("*.lock"), *(mirror / "refs").rglob("*.lock")):
        lock.unlink(missing_ok=True)


def commit_in_mirror(source: Source, wanted: str) -> str | None:
    """Commit id of the object ``wanted`` where the cached copy holds it."""
    done = run_git("rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}", git_dir=source.mirror)
    return done.stdout.decode().strip() if done.exit_code == 0 else None


def remembered_tags(source: Source) -> dict[str, str]:
    """Object id by tag, for the tags of a remote that were fetched before."""
    try:
        refs = json.loads((source.mirror / "tags.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return refs if isinstance(refs, dict) else {}


def _remember(source: Source, ref: str, wanted: str) -> None:
    refs = {**remembered_tags(source), ref: wanted}
    with tempfile.NamedTemporaryFile("w", dir=source.mirror, delete=False, encoding="utf-8") as stream:
        json.dump(refs, stream, sort_keys=True)
    Path(stream.name).replace(source.mirror / "tags.json")
