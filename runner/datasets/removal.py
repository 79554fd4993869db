"""Removal: deletes what code we do not trust has left behind."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

TIMEOUT_SECONDS = 600


def remove(path: Path) -> bool:
    """Delete ``path``, a folder with everything below it; links are deleted, not followed.

    The library's function gives up on very deep folders and on locked ones; the system's own tools do not.

    Returns:
        Whether it is gone.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return True
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run(
                [*command, "--", str(path)], check=False, capture_output=True, timeout=TIMEOUT_SECONDS
            )
    return not path.exists()
