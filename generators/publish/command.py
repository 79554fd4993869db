"""Command: ``invoke publish``, from a build to a branch."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from generators.publish.branch import expected_address, push
from generators.publish.site import build


def publish_command(
    root: Path,
    say: Callable[[str], None],
    *,
    url: str | None,
    to: str | None,
    remote: str,
    prefix: str,
    keep_history: bool,
) -> None:
    """Build and check the site, and put it on the branch ``to`` where one is named.

    Raises:
        PublishError: the build, a check or the push failed; an earlier site stays.
        UsageError: ``url`` is no address.
    """
    url = url or os.environ.get("SITE_URL")
    if to and not url:
        url = expected_address(root=root, remote=remote, prefix=prefix)
    built = build(root, site_url=url, progress=say)
    say(f"{built.pages} pages in {built.folder.relative_to(root)}/, {built.links} links checked")
    if to is None:
        say("look at it: .venv/bin/invoke serve (it says the address)")
        return
    done = push(built.folder, root=root, remote=remote, branch=to, prefix=prefix, keep_history=keep_history)
    say(done.line())
