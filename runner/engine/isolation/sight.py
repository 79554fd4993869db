"""Sight: which folders of this machine an agent sees inside an isolation; everything else is not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
CONFIGURATION = (
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "fonts",
    "host.conf",
    "hosts",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "openssl",
    "os-release",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "protocols",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
"""Below /etc, by name: files there may hold passwords, and a caller who is root could read them."""
RESOLVER = "resolv.conf"
"""Below /etc, where names of other machines are looked up: only for a child with a network."""
TOOL_ROOTS = (Path("/opt"), Path("/snap"))
INTERPRETER_SECRETS = ("pip.conf", "pip.ini", ".netrc")
PRIVATE = ("/tmp", "/home", "/root", "/run", "/var/tmp")  # noqa: S108 - these are what is hidden


@dataclass(frozen=True)
class Sight:
    """What is visible, by the same path as outside."""

    read_only: tuple[Path, ...]
    writable: tuple[Path, ...]
    links: tuple[tuple[str, Path], ...]
    """Target and place of links of the system's root folder, such as ``usr/bin`` at ``/bin``."""
    blanked: tuple[Path, ...]
    """Files inside visible folders that are replaced by empty ones."""
    emptied: tuple[Path, ...]
    """Folders inside visible ones that are replaced by empty ones."""


def see(
    *,
    writable: Iterable[Path],
    readable: Iterable[Path],
    environment: Mapping[str, str],
    private: Iterable[Path] = (),
    network: bool = False,
) -> Sight:
    """What a child may see: the system's programs, its own folders, and what it was given to read.

    Args:
        writable: folders that the child may change.
        readable: more folders or files, such as a harness's program.
        environment: the child's; folders of its PATH below /opt and /snap are seen with their program's root.
        private: folders that are empty inside, whatever shows the folder they lie in.
        network: the child has a network, so it sees how names are looked up.
    """
    links = tuple((str(Path(name).readlink()), Path(name)) for name in SYSTEM if Path(name).is_symlink())
    system = [Path(name) for name in SYSTEM if Path(name).is_dir() and not Path(name).is_symlink()]
    names = (*CONFIGURATION, RESOLVER) if network else CONFIGURATION
    system += [path for name in names if (path := Path("/etc") / name).exists()]
    tools = [*_tools(environment.get("PATH", "")), *readable, Path(sys.prefix), Path(sys.base_prefix)]
    seen = _outermost([*system, *(path.resolve() for path in tools), *map(Path.absolute, tools)])
    blanked = tuple(
        prefix / name
        for prefix in {Path(sys.prefix), Path(sys.base_prefix)}
        for name in INTERPRETER_SECRETS
        if (prefix / name).is_file()
    )
    emptied = tuple(
        path
        for path in sorted({path.resolve() for path in private})
        if path.is_dir() and any(path.is_relative_to(other) for other in seen if other.is_dir())
    )
    return Sight(seen, tuple(path.resolve() for path in writable), links, blanked, emptied)


def _tools(search_path: str) -> list[Path]:
    """Roots of programs that were installed beside the system's own."""
    found = []
    for entry in map(Path, filter(None, search_path.split(os.pathsep))):
        for root in TOOL_ROOTS:
            if entry.is_relative_to(root) and entry != root and entry.is_dir():
                found.append(root / entry.relative_to(root).parts[0])
    return found


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Existing paths without those that lie below another one, in a fixed order."""
    kept: list[Path] = []
    for path in sorted({path for path in paths if path.exists()}, key=lambda path: (len(path.parts), path)):
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return tuple(kept)
