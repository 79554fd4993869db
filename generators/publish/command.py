"""Command: ``invoke publish``, from a build to a branch."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from generators.build import write_sources
from generators.publish.branch import expected_address, push, require_names
from generators.publish.preview import serve
from generators.publish.site import build
from runner.costs.price_choice import PriceChoice


@dataclass(frozen=True)
class Target:
    """Where a site goes: its address, and the branch, folder and remote it is pushed to."""

    url: str | None = None
    branch: str | None = None
    remote: str = "origin"
    prefix: str = ""
    keep_history: bool = True


def publish_command(root: Path, say: Callable[[str], None], target: Target, choice: PriceChoice) -> None:
    """Build and check the site, and put it on the branch of ``target`` where one is named.

    Raises:
        PublishError: the build, a check or the push failed; an earlier site stays.
        UsageError: the address is none, or branch or folder is no usable name.
    """
    if target.branch is not None:
        require_names(target.branch, target.prefix, keep_history=target.keep_history)
    url = target.url or os.environ.get("SITE_URL")
    if target.branch is not None:
        # Also where the address is given: a remote that is not there is known before minutes of building.
        expected = expected_address(root=root, remote=target.remote, prefix=target.prefix)
        url = url or expected
    if choice.words:
        say(choice.words)
    built = build(root, site_url=url, progress=say, write_sources=partial(write_sources, choice=choice))
    say(f"{built.pages} pages in {built.folder.relative_to(root)}/, {built.links} links checked")
    if target.branch is None:
        say("look at it: .venv/bin/invoke serve (it says the address)")
        return
    done = push(
        built.folder,
        root=root,
        remote=target.remote,
        branch=target.branch,
        prefix=target.prefix,
        keep_history=target.keep_history,
    )
    say(done.line())


def serve_command(
    root: Path, say: Callable[[str], None], choice: PriceChoice, *, port: int, subpath: str
) -> None:
    """Serve the site at the prices of ``choice`` until Ctrl-C, and build it again when an input changes.

    Raises:
        PublishError: the first build failed and there is no earlier site.
        UsageError: the port is taken.
    """
    if choice.words:
        say(choice.words)
    writer = partial(write_sources, choice=choice)
    serve(root, progress=say, port=port, subpath=subpath, write_sources=writer)
