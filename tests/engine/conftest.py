"""A project in a temporary folder: the shipped datasets and cassettes, and an empty store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runner.engine.places import Places
from tests.engine.runs import run

PROJECT = Path(__file__).parent.parent.parent


def made(root: Path) -> Places:
    """A project below ``root`` that holds only what a run reads."""
    shutil.copytree(PROJECT / "datasets", root / "datasets")
    return Places(root)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A project of its own for one test."""
    return made(tmp_path / "project")


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Places, str]:
    """A project with a finished demonstration, which tests only read, and what the run printed."""
    places = made(tmp_path_factory.mktemp("demonstration") / "project")
    code, output = run(places)
    assert code == 0
    return places, output
