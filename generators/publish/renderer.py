"""Renderer: mkdocs in a child process, strict, into a folder of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from generators.publish.child import run
from generators.publish.environment import build_environment
from runner.errors import PublishError


def render(root: Path, into: Path, *, site_url: str, epoch: int) -> None:
    """Build the pages below ``root/build/docs`` into ``into`` with ``root/mkdocs.yml``.

    Raises:
        PublishError: mkdocs failed or warned; its own lines stand in the message.
    """
    config = root / "mkdocs.yml"
    if not config.is_file():
        raise PublishError(
            "there is no site configuration",
            where=str(config),
            remedy="run the command in the project's own folder",
        )
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--clean"]
    command += ["--config-file", str(config), "--site-dir", str(into)]
    ended = run(command, folder=root, environment=build_environment(site_url=site_url, epoch=epoch))
    # Quiet mkdocs says something only when something is wrong, and not every warning counts as strict.
    if ended.exit_code != 0 or ended.stderr.strip():
        raise PublishError(
            f"mkdocs could not build the site without a fault:\n{ended.output()}",
            where=str(config),
            remedy="mend the page that mkdocs names; its source is in site_src/ or a generator",
        )
