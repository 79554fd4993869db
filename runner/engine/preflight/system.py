"""System: the commands by which programs of the operating system are installed here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

INSTALLERS: Mapping[str, str] = {
    "apt-get": "apt-get install --yes {}",
    "dnf": "dnf install --assumeyes {}",
    "zypper": "zypper --non-interactive install {}",
    "apk": "apk add {}",
    "pacman": "pacman --sync --noconfirm {}",
    "brew": "brew install {}",
}
RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
NAMESPACES = Path("/proc/sys/user/max_user_namespaces")

Find = Callable[[str], str | None]


def install_command(package: str, find: Find = shutil.which, *, is_root: bool | None = None) -> str:
    """The command that installs ``package`` with what this system has; a sentence where it has nothing."""
    for program, command in INSTALLERS.items():
        if find(program):
            needs_rights = program != "brew" and not (os.geteuid() == 0 if is_root is None else is_root)
            return ("sudo " if needs_rights else "") + command.format(package)
    return f"install {package} with your system's package manager"


def allow_namespaces(find: Find = shutil.which, *, is_root: bool | None = None) -> str | None:
    """The command that lifts the policy which forbids user namespaces here; None where none is known."""
    root = os.geteuid() == 0 if is_root is None else is_root
    before = "" if root or not find("sudo") else "sudo "
    if _number(RESTRICTED) == 1:
        return f"{before}sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if _number(NAMESPACES) == 0:
        return f"{before}sysctl -w user.max_user_namespaces=15000"
    return None


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
