"""Shared: folders that all processes of one test run read, each made by whichever process needs it first."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder ``name`` of this test run, filled by ``make`` in the first process that asks; only read it.

    A process that asks while another one fills it waits. A folder whose filling failed is filled anew.
    """
    root = factory.getbasetemp()
    # Each worker has a temporary folder of its own, inside that of the whole run.
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder, started = root / f"shared-{name}", root / f"shared-{name}.started"
    with (root / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            shutil.rmtree(started, ignore_errors=True)
            started.mkdir()
            make(started)
            started.rename(folder)
    return folder
