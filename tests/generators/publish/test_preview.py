"""The preview rebuilds on a change and keeps the last good site."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from generators.publish.command import serve_command
from generators.publish.preview import serve
from runner.costs.price_choice import read_price_choice
from runner.errors import PublishError, UsageError
from tests.generators.publish.project import write, write_pages

PATIENCE_SECONDS = 300.0


class Preview:
    """A preview that runs in a thread, with the lines it told."""

    def __init__(self, root: Path) -> None:
        self.lines: list[str] = []
        self.stop = threading.Event()
        self._root = root
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        serve(
            self._root,
            progress=self.lines.append,
            port=0,
            subpath="portal",
            stop=self.stop,
            poll_seconds=0.05,
            write_sources=write_pages,
        )

    def wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, self.lines
            time.sleep(0.02)

    def told(self, start: str) -> int:
        return sum(line.startswith(start) for line in self.lines)

    def page(self, path: str) -> str:
        serving = re.search(r"http://\S+", "\n".join(self.lines))
        assert serving is not None
        return httpx.get(serving.group() + path, timeout=60).text

    def end(self) -> None:
        self.stop.set()
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()


@pytest.fixture
def preview(project: Path) -> Iterator[Preview]:
    running = Preview(project)
    yield running
    running.end()


def test_a_change_is_shown_and_a_fault_is_not(preview: Preview, project: Path) -> None:
    preview.wait(lambda: preview.told("serving") == 1)
    assert "/portal/" in next(line for line in preview.lines if "serving" in line)
    assert "Page compare.md" in preview.page("compare/")

    write(project, "compare.md", "# Compared anew\n")
    preview.wait(lambda: preview.told("built") == 2)
    assert "changed: site_src/pages/compare.md" in preview.lines
    assert "Compared anew" in preview.page("compare/")

    write(project, "compare.md", "# Broken\n\n[gone](gone.md)\n")
    preview.wait(lambda: preview.told("not rebuilt") == 1)
    assert any("gone.md" in line for line in preview.lines)
    assert "Compared anew" in preview.page("compare/")

    (project / "results" / "new.json").write_text("{}")
    write(project, "compare.md", "# Mended\n")
    preview.wait(lambda: preview.told("built") == 3)
    assert "Mended" in preview.page("compare/")


def test_without_any_good_site_the_preview_does_not_begin(project: Path) -> None:
    write(project, "compare.md", "# Broken\n\n[gone](gone.md)\n")
    lines: list[str] = []
    with pytest.raises(PublishError, match=r"gone\.md"):
        serve(project, progress=lines.append, port=0, write_sources=write_pages)
    # Before the long wait, and of no site that is served.
    assert [line.split(",")[0] for line in lines] == ["building the site"]


def test_other_prices_are_told_before_anything_is_built_or_refused(project: Path) -> None:
    lines: list[str] = []
    choice = read_price_choice(commitment="on_demand")
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError):
        serve_command(project, lines.append, choice, port=taken.getsockname()[1], subpath="")
    assert lines == [choice.words]
