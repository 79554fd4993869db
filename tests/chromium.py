"""Chromium: the system's browser for the browser tests, found or installed, never downloaded in silence."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from runner.errors import ConfigurationError

Progress = Callable[[str], None]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
START_MILLISECONDS = 180_000
PLACES = (
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)
# Each manager's own words for "install without asking"; all of them need root.
MANAGERS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "apt-get": (
        ("apt-get", "update", "-q"),
        ("apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"),
    ),
    "dnf": (("dnf", "install", "-q", "-y", "chromium"),),
    "apk": (("apk", "add", "--quiet", "chromium"),),
    "pacman": (("pacman", "-Sy", "--noconfirm", "chromium"),),
    "zypper": (("zypper", "--non-interactive", "install", "chromium"),),
}


def find_chromium(environment: Mapping[str, str] | None = None) -> Path | None:
    """The Chromium that runs on this machine: the one that CHROMIUM names, on PATH, or in a common place."""
    values = os.environ if environment is None else environment
    candidates = [values["CHROMIUM"]] if values.get("CHROMIUM") else []
    candidates += [found for name in NAMES if (found := shutil.which(name, path=values.get("PATH", "")))]
    candidates += [*PLACES, *_playwrights_own(values)]
    return next((Path(candidate) for candidate in candidates if _runs(candidate)), None)


def ensure_chromium(
    progress: Progress,
    *,
    environment: Mapping[str, str] | None = None,
    is_root: bool | None = None,
    look: Callable[[Mapping[str, str]], Path | None] = find_chromium,
) -> Path:
    """The system's Chromium, installed through the system's package manager where this process may do that.

    Raises:
        ConfigurationError: there is none and it may not be installed from here; says which command does.
    """
    values = os.environ if environment is None else environment
    found = look(values)
    if found is not None:
        return found
    manager = next((name for name in MANAGERS if shutil.which(name, path=values.get("PATH", ""))), None)
    allowed = _is_root() if is_root is None else is_root
    if manager is None or not allowed:
        raise _missing(manager, "there is no Chromium for the browser tests")
    for command in MANAGERS[manager]:
        progress(f"installing Chromium for the browser tests: {' '.join(command)}")
        _install(command, values)
    found = look(values)
    if found is None:
        raise _missing(manager, f"{manager} installed a Chromium that does not run")
    return found


def arguments() -> list[str]:
    """Command line arguments that Chromium needs here: root has to give up the sandbox."""
    return ["--no-sandbox"] if _is_root() else []


@contextmanager
def launched(*more: str) -> Iterator[Browser]:
    """A headless Chromium, closed at the end; ``more`` are further arguments of its command line.

    Raises:
        ConfigurationError: there is none; a browser test fails then and is not skipped.
    """
    found = find_chromium()
    if found is None:
        raise _missing(None, "there is no Chromium for the browser tests")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=[*arguments(), *more], timeout=START_MILLISECONDS
        )
        try:
            yield browser
        finally:
            browser.close()


def _install(command: tuple[str, ...], values: Mapping[str, str]) -> None:
    environment = {**values, "DEBIAN_FRONTEND": "noninteractive"}
    program = shutil.which(command[0], path=values.get("PATH", "")) or command[0]
    ended = subprocess.run(
        [program, *command[1:]],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        lines = "\n".join((ended.stdout + ended.stderr).splitlines()[-10:])
        raise _missing(command[0], f"{' '.join(command)} failed:\n{lines}")


def _missing(manager: str | None, what: str) -> ConfigurationError:
    command = " ".join(MANAGERS[manager][-1]) if manager else "your system's package manager"
    return ConfigurationError(
        what,
        where=f"looked for {', '.join(NAMES)} on PATH, in common places, and at $CHROMIUM",
        remedy=f"install it as root ({command}), or set CHROMIUM to a browser's program",
    )


def _runs(candidate: str) -> bool:
    """Whether the program answers with a version; a stub that only tells how to install does not."""
    if not Path(candidate).is_file():
        return False
    try:
        answer = subprocess.run(
            [candidate, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and any(word in answer.stdout for word in ("Chrom", "Edge"))


def _playwrights_own(values: Mapping[str, str]) -> list[str]:
    if not values.get("HOME"):
        return []
    cache = Path(values.get("PLAYWRIGHT_BROWSERS_PATH", f"{values['HOME']}/.cache/ms-playwright"))
    return [str(path) for path in sorted(cache.glob("chromium-*/chrome-linux*/chrome"), reverse=True)]


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
