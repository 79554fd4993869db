"""Sandbox: bubblewrap for the tests that run agents inside, found, or installed where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from runner.engine.isolation.bubblewrap import probe_bubblewrap
from runner.errors import ConfigurationError


def ensure_sandbox(progress: Callable[[str], None]) -> None:
    """Make sure that bubblewrap works here.

    Raises:
        ConfigurationError: it does not, and may not be installed from here; says what to do.
    """
    if not sys.platform.startswith("linux") or probe_bubblewrap().works:
        return
    if shutil.which("apt-get") and os.geteuid() == 0:
        progress("installing bubblewrap with apt-get")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", "bubblewrap"]):
            subprocess.run(["apt-get", *words], check=False, env=environment, stdout=subprocess.DEVNULL)
        probe_bubblewrap.cache_clear()
    found = probe_bubblewrap()
    if not found.works:
        raise ConfigurationError(
            f"the tests need a sandbox that works here: {found.reason}",
            remedy="install bubblewrap (apt-get install bubblewrap) and allow user namespaces",
        )
