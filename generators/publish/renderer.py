"""Renderer: mkdocs in a child process, strict, into a folder of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from generators.publish.child import Finished, indented, run
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
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    command += ["--config-file", str(config), "--site-dir", str(into)]
    ended = run(command, folder=root, environment=build_environment(site_url=site_url, epoch=epoch))
    if ended.exit_code != 0:
        raise PublishError(
            f"mkdocs could not build the site without a fault:\n{_complaints(ended)}",
            where=str(config),
            remedy="mend the page that mkdocs names; its source is in site_src/ or a generator",
        )


def _complaints(ended: Finished) -> str:
    """mkdocs' warnings and errors without its notes; all of its output where it gave none (a traceback)."""
    lines = [line for line in ended.stderr.splitlines() if line.startswith(("WARNING", "ERROR", "CRITICAL"))]
    return indented(lines) if lines else ended.output()
