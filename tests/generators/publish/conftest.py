"""Fixtures of the publishing tests: a small project, and one built site shared by those that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.publish.site import BuiltSite, build
from tests.generators.publish.project import make_project, write_pages


@pytest.fixture(autouse=True)
def _away_from_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the machine's git configuration, identity or site address."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("SITE_URL", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of its own for one test."""
    return make_project(tmp_path / "project")


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> BuiltSite:
    """A site built for https://example.org/portal/, for tests that do not change it."""
    root = make_project(tmp_path_factory.mktemp("portal") / "project")
    return build(root, site_url="https://example.org/portal/", write_sources=write_pages)
