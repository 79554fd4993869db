"""Git bundles: reading what they hold, and building one from a series of patches."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from runner.datasets.git import must_git
from runner.errors import RepositoryError

SIGNATURES = (b"# v2 git bundle\n", b"# v3 git bundle\n")
MAX_HEADER_LINES = 100_000
REFS_FILE = "refs.txt"
_REF = re.compile(rb"([0-9a-f]{40,64}) (\S+)")


def bundle_refs(bundle: Path) -> dict[str, str]:
    """Commit (or tag object) id by full ref name, read from the header alone.

    Raises:
        RepositoryError: the file is missing or no complete bundle.
    """
    try:
        with bundle.open("rb") as stream:
            if stream.readline(100) not in SIGNATURES:
                raise _no_bundle(bundle, "the file does not begin like one")
            refs: dict[str, str] = {}
            for _ in range(MAX_HEADER_LINES):
                line = stream.readline(10_000)
                if line == b"\n":
                    return refs
                if line.startswith(b"-"):
                    raise _no_bundle(bundle, "it builds on commits that it does not hold")
                match = _REF.fullmatch(line.rstrip(b"\n"))
                if match:
                    refs[match[2].decode("utf-8", "replace")] = match[1].decode()
                elif not line.startswith(b"@"):
                    break
    except OSError as error:
        raise RepositoryError(
            f"the bundle cannot be read: {error.strerror}",
            where=str(bundle),
            remedy="check the repo key of the task; a bundle is named relative to the dataset file",
        ) from None
    raise _no_bundle(bundle, "its list of refs is broken")


def object_of(refs: Mapping[str, str], ref: str) -> str | None:
    """Object that a tag or branch name stands for among full ref names; a tag goes before a branch."""
    for name in (f"refs/tags/{ref}", f"refs/heads/{ref}", ref):
        if name in refs:
            return refs[name]
    return None


def build_bundle(series: Path, bundle: Path) -> Mapping[str, str]:
    """Write ``bundle`` from the patches ``NNNN-*.patch`` in ``series``, in order of their names.

    ``refs.txt`` there lists the refs, one a line: the full name and the number of the patch it stands after.
    The commits take author and date from their patches, so that their ids are the same on every machine.

    Returns:
        Commit id by full ref name.

    Raises:
        RepositoryError: a patch does not apply, or the list of refs is broken.
    """
    patches = sorted(series.glob("[0-9]*.patch"))
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder)
        must_git("init", "--quiet", "--template=", cwd=repository)
        commits = [_apply(repository, patch) for patch in patches]
        refs = {}
        for name, number in _listed_refs(series / REFS_FILE, len(commits)):
            refs[name] = commits[number - 1]
            must_git("update-ref", name, refs[name], cwd=repository)
        bundle.parent.mkdir(parents=True, exist_ok=True)
        must_git("bundle", "create", "--quiet", "--version=2", str(bundle.resolve()), *refs, cwd=repository)
    return refs


def _apply(repository: Path, patch: Path) -> str:
    author = dict(re.findall(r"^(From|Date): (.*)$", patch.read_text(encoding="utf-8"), re.MULTILINE)[:2])
    name, _, address = author.get("From", "").rstrip(">").partition(" <")
    must_git(
        "am",
        "--quiet",
        "--committer-date-is-author-date",
        str(patch.resolve()),
        cwd=repository,
        environment={"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address},
    )
    return must_git("rev-parse", "HEAD", cwd=repository).decode().strip()


def _listed_refs(path: Path, count: int) -> list[tuple[str, int]]:
    refs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = re.fullmatch(r"(refs/(?:heads|tags)/[\w./-]+) ([1-9]\d{0,5})", line)
        if not match or int(match[2]) > count:
            raise RepositoryError(
                f"line {number} is no ref of this series: {line[:100]!r}",
                where=str(path),
                remedy="write a full ref name and the number of a patch, as in: refs/tags/v1.0 3",
            )
        refs.append((match[1], int(match[2])))
    return refs


def _no_bundle(bundle: Path, why: str) -> RepositoryError:
    return RepositoryError(
        f"not a usable git bundle: {why}",
        where=str(bundle),
        remedy="make it with: git bundle create NAME.bundle --all",
    )
