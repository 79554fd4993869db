"""Branch: a built site becomes one commit on a branch of a remote, and nothing else changes anywhere."""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generators.publish.address import pages_address
from generators.publish.child import Finished, run
from generators.publish.remote import Remote, redact, resolve
from runner.errors import PublishError, UsageError

_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_PREFIX = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
_BEFORE = "refs/before"


@dataclass(frozen=True)
class Published:
    """What a push did: where to, the commit that the branch now has, and whether it is a new one."""

    remote: str
    branch: str
    commit: str
    changed: bool
    files: int

    def line(self) -> str:
        """What was done, as a user reads it."""
        place = f"{self.branch} of {self.remote}"
        if not self.changed:
            return f"{place} holds these {self.files} files already ({self.commit[:12]}); nothing was pushed"
        return f"{self.files} files pushed to {place} as {self.commit[:12]}"


def expected_address(*, root: Path, remote: str = "origin", prefix: str = "") -> str | None:
    """Where a site pushed to ``remote`` will stand, for ``site.build``; None when that cannot be known.

    Raises:
        PublishError: there is no such remote.
    """
    pages = pages_address(resolve(remote, root=root).address)
    return pages and pages + (f"{prefix}/" if prefix else "")


def push(
    site: Path,
    *,
    root: Path,
    remote: str = "origin",
    branch: str = "gh-pages",
    message: str = "Publish the site",
    prefix: str = "",
    keep_history: bool = True,
    clock: Callable[[], float] = time.time,
) -> Published:
    """Commit the files of ``site`` to ``branch`` of ``remote``.

    The commit is made by ghp-import in a temporary repository and pushed from there, so the working tree, the
    index, the branches and the remote-tracking references of ``root`` stay as they are. The CNAME file of a
    custom domain is kept. Nothing is pushed when the branch holds these very files already.

    Args:
        site: a built site.
        root: the folder whose git settings (remotes, sign-in, identity) are used; it need not be a repository
            when ``remote`` is an address or a path.
        remote: name of a remote of ``root``, or an address, or a path.
        branch: a branch that holds a published site, or does not exist yet.
        message: the commit's message.
        prefix: folder of the branch that the site goes to, others being left alone; "" for the whole branch.
        keep_history: False replaces the branch by one commit without parents, so that it never grows.
        clock: seconds since 1970, for the commit's date.

    Raises:
        UsageError: ``branch`` or ``prefix`` is no usable name, or ``branch`` is checked out in ``root``.
        PublishError: no site, no such remote, a branch that holds no site, or a push that was refused.
    """
    require_names(branch, prefix, keep_history=keep_history)
    files = sum(1 for path in site.rglob("*") if path.is_file())
    if not (site / "index.html").is_file():
        raise PublishError("there is no built site", where=str(site), remedy="run invoke publish first")
    target = resolve(remote, root=root)
    if branch == target.checked_out:
        raise UsageError(
            f"{branch} is the branch you are working on",
            where=str(root),
            remedy="publish to a branch that holds nothing but the site, such as gh-pages",
        )
    with tempfile.TemporaryDirectory(prefix="harnessmark-push-") as folder:
        workplace = _Workplace(Path(folder), target, branch)
        workplace.prepare()
        before = workplace.fetch(whole=not prefix)
        commit = workplace.commit(site.resolve(), prefix, message, int(clock()), follow=keep_history)
        changed = not before or workplace.tree(before) != workplace.tree(commit)
        if changed:
            workplace.push(before)
    return Published(target.shown, branch, commit if changed else before, changed, files)


@dataclass(frozen=True)
class _Workplace:
    """A bare repository of its own, thrown away after the push."""

    folder: Path
    target: Remote
    branch: str

    def prepare(self) -> None:
        """Make the repository, empty."""
        self._must("init", "--quiet", "--bare", "--initial-branch=unused", ".")

    def fetch(self, *, whole: bool) -> str:
        """The remote branch's commit, or "" when there is no such branch."""
        listed = self._git("ls-remote", "--heads", self.target.address, f"refs/heads/{self.branch}")
        if listed.exit_code != 0:
            raise PublishError(
                f"the remote cannot be read:\n{redact(listed.output())}",
                where=self.target.shown,
                remedy="check the address and that you may read it: git ls-remote with the same address",
            )
        if not listed.stdout.strip():
            return ""
        self._must(
            "fetch", "--quiet", "--depth=1", self.target.address, f"+refs/heads/{self.branch}:{_BEFORE}"
        )
        names = self._must("ls-tree", "--name-only", _BEFORE).splitlines()
        if whole and names and not {".nojekyll", "index.html"} & set(names):
            raise PublishError(
                f"the branch {self.branch} holds something other than a site, which publishing would replace",
                where=f"{self.target.shown}, {len(names)} entries at the top, such as {names[0]}",
                remedy="name another branch, or delete this one on the remote first",
            )
        return self._must("rev-parse", _BEFORE)

    def commit(self, site: Path, prefix: str, message: str, now: int, *, follow: bool) -> str:
        """Put ``site`` on the branch at the time ``now``; the name of the commit."""
        if follow and self._git("rev-parse", "--verify", "--quiet", _BEFORE).exit_code == 0:
            self._must("update-ref", f"refs/heads/{self.branch}", _BEFORE)
        command = [sys.executable, "-m", "ghp_import", "--no-jekyll", f"--branch={self.branch}"]
        command += [f"--message={message}"]
        domain = self._git("cat-file", "blob", f"{_BEFORE}:CNAME")
        if prefix:
            command += [f"--prefix={prefix}"]
        elif domain.exit_code == 0 and not (site / "CNAME").exists():
            command += [f"--cname={domain.stdout.strip()}"]
        dated = {"GIT_COMMITTER_DATE": f"{now} +0000"}
        imported = run(
            [*command, str(site)], folder=self.folder, environment={**self.target.environment, **dated}
        )
        if imported.exit_code != 0:
            raise PublishError(
                f"the site could not be turned into a commit:\n{redact(imported.output())}",
                where=str(site),
                remedy="build the site again; report it if it stays",
            )
        return self._must("rev-parse", f"refs/heads/{self.branch}")

    def tree(self, commit: str) -> str:
        """The name of what a commit holds, alike for two commits with the same files."""
        return self._must("rev-parse", f"{commit}^{{tree}}")

    def push(self, before: str) -> None:
        """Hand the branch over, if it still stands where it stood when it was fetched."""
        name = f"refs/heads/{self.branch}"
        # The lease makes the remote refuse when the branch is no longer what was fetched.
        pushed = self._git(
            "push", "--quiet", f"--force-with-lease={name}:{before}", self.target.address, f"{name}:{name}"
        )
        if pushed.exit_code != 0:
            raise PublishError(
                f"the remote refused the branch {self.branch}:\n{redact(pushed.output())}",
                where=self.target.shown,
                remedy="run it again if someone else published meanwhile; else check that you may push there",
            )

    def _must(self, *arguments: str) -> str:
        ended = self._git(*arguments)
        if ended.exit_code != 0:
            raise PublishError(
                f"git {arguments[0]} failed:\n{redact(ended.output())}",
                where=self.target.shown,
                remedy="check that git is a recent version and the remote can be read",
            )
        return ended.stdout.strip()

    def _git(self, *arguments: str) -> Finished:
        return run(["git", *arguments], folder=self.folder, environment=self.target.environment)


def require_names(branch: str, prefix: str, *, keep_history: bool) -> None:
    """Check what a site is to be pushed to, before the minutes that its build takes.

    Raises:
        UsageError: ``branch`` or ``prefix`` is no usable name, or others' folders would be lost.
    """
    forbidden = ("..", "@{", "//")
    bad_branch = any(part in branch for part in forbidden) or branch.endswith((".lock", "."))
    if not _BRANCH.fullmatch(branch) or bad_branch:
        raise UsageError(
            "that cannot be a branch", where=f"branch {branch!r}", remedy="give a name such as gh-pages"
        )
    if prefix and not _PREFIX.fullmatch(prefix):
        raise UsageError(
            "that cannot be a folder of the branch",
            where=f"prefix {prefix!r}",
            remedy="give one such as docs/site",
        )
    if prefix and not keep_history:
        raise UsageError(
            "a branch shared with other folders cannot be replaced as a whole",
            where=f"prefix {prefix!r} without history",
            remedy="keep the history, or publish to the whole branch",
        )
