"""The browser for the browser tests is found, installed, or asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import ConfigurationError
from tests.chromium import ensure_chromium, find_chromium


def program(path: Path, script: str) -> Path:
    """A small program at ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def print_nothing(line: str) -> None:
    """Take a line of progress."""


def browser(path: Path) -> Path:
    return program(path, 'echo "Chromium 156.0"')


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a browser in the common places."""
    monkeypatch.setattr("tests.chromium.PLACES", ())


@pytest.mark.usefixtures("nowhere")
def test_the_browser_on_the_path_is_found(tmp_path: Path) -> None:
    found = browser(tmp_path / "google-chrome")
    assert find_chromium({"PATH": str(tmp_path)}) == found


@pytest.mark.usefixtures("nowhere")
def test_the_named_browser_comes_first(tmp_path: Path) -> None:
    browser(tmp_path / "chromium")
    named = browser(tmp_path / "other" / "mine")
    assert find_chromium({"PATH": str(tmp_path), "CHROMIUM": str(named)}) == named


@pytest.mark.usefixtures("nowhere")
def test_a_stub_that_only_tells_how_to_install_is_no_browser(tmp_path: Path) -> None:
    program(tmp_path / "chromium", "echo install the snap >&2; exit 1")
    program(tmp_path / "chromium-browser", "echo hello")
    (tmp_path / "chrome").write_text("not a program")
    (tmp_path / "chrome").chmod(0o755)
    assert find_chromium({"PATH": str(tmp_path)}) is None


@pytest.mark.usefixtures("nowhere")
def test_a_browser_that_playwright_brought_counts(tmp_path: Path) -> None:
    found = browser(tmp_path / ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome")
    assert find_chromium({"PATH": "", "HOME": str(tmp_path)}) == found


@pytest.mark.usefixtures("nowhere")
def test_root_installs_it_with_the_system_s_package_manager(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program(
        tmp_path / "apt-get",
        f'echo "$DEBIAN_FRONTEND $*" >> {log}\n'
        f'case "$*" in *install*) printf "#!/bin/sh\\necho Chromium 156\\n" > {tmp_path}/chromium;'
        f" /bin/chmod 755 {tmp_path}/chromium;; esac",
    )
    lines: list[str] = []
    found = ensure_chromium(lines.append, environment={"PATH": str(tmp_path)}, is_root=True)
    assert found == tmp_path / "chromium"
    assert log.read_text().splitlines() == [
        "noninteractive update -q",
        "noninteractive install -q -y --no-install-recommends chromium",
    ]
    assert len(lines) == 2
    assert ensure_chromium(lines.append, environment={"PATH": str(tmp_path)}, is_root=True) == found
    assert len(lines) == 2


@pytest.mark.usefixtures("nowhere")
def test_a_user_is_told_the_command_and_nothing_is_run(tmp_path: Path) -> None:
    program(tmp_path / "dnf", f"touch {tmp_path}/ran")
    with pytest.raises(ConfigurationError, match="no Chromium") as failure:
        ensure_chromium(print_nothing, environment={"PATH": str(tmp_path)}, is_root=False)
    assert "dnf install -q -y chromium" in failure.value.remedy
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("nowhere")
def test_a_machine_without_a_known_package_manager_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as failure:
        ensure_chromium(print_nothing, environment={"PATH": str(tmp_path)}, is_root=True)
    assert "your system's package manager" in failure.value.remedy


@pytest.mark.usefixtures("nowhere")
def test_a_failed_installation_is_said_in_the_manager_s_words(tmp_path: Path) -> None:
    program(tmp_path / "apk", "echo no network; exit 1")
    with pytest.raises(ConfigurationError, match=r"apk add --quiet chromium failed:\nno network"):
        ensure_chromium(print_nothing, environment={"PATH": str(tmp_path)}, is_root=True)


@pytest.mark.usefixtures("nowhere")
def test_an_installation_that_brings_no_running_browser_is_not_taken_for_one(tmp_path: Path) -> None:
    program(tmp_path / "apk", "exit 0")
    with pytest.raises(ConfigurationError, match="does not run"):
        ensure_chromium(print_nothing, environment={"PATH": str(tmp_path)}, is_root=True)
