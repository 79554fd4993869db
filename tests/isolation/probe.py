"""Probe: an agent that looks for everything it should not see or change, and prints what it got at, as JSON.

A program of its own, standard library only; it changes nothing where it could.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

SYSTEM = ("/proc", "/sys", "/usr", "/dev", "/lib", "/nix", "/opt", "/boot", "/snap", "/var/lib", "/var/cache")
MAX_BYTES = 1_000_000
CLONE_NEWUSER = 0x10000000


def main(job: dict[str, str]) -> dict[str, list[str]]:
    """What each attempt got at; an empty list is a failed attempt."""
    mark = job["mark"].encode()
    with contextlib.suppress(OSError):
        Path("../escaped").write_text("beside the workspace")
    return {
        "files": [*marked_files(job["start"], mark), *marked_files("/", mark, depth=int(job["depth"]))],
        "planted paths": [path for path in job["paths"].split(":") if os.path.lexists(path)],
        "links": list(through_links(job["paths"].split(":"))),
        "environments": list(marked_processes("environ", mark)),
        "command lines": list(marked_processes("cmdline", mark)),
        "history": marked_objects(mark),
        "writable": [path for path in job["writable"].split(":") if writable(path)],
        "kernel switches": [path for path in kernel_switches() if writable(path)],
        "network": [where for where in job["addresses"].split() if connects(where)],
        "unix sockets": [path for path in job["sockets"].split(":") if connects_unix(path)],
        "processes": [pid for pid in job["pids"].split() if exists(int(pid))],
        "namespaces": attempt(new_user_namespace),
        "capabilities": capabilities(),
        "names": attempt(lambda: socket.gethostbyname("example.com")),
    }


def marked_files(start: str, mark: bytes, depth: int = 30) -> Iterator[str]:
    """Files whose name or content holds the mark."""
    for folder, names, files in os.walk(start):
        if folder.count("/") > depth or folder.startswith((*SYSTEM, sys.prefix, sys.base_prefix)):
            names.clear()
            continue
        for path in (Path(folder) / name for name in files):
            if mark in bytes(path) or mark in content(path):
                yield str(path)


def content(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= MAX_BYTES else b""
    except OSError:
        return b""


def through_links(paths: list[str]) -> Iterator[str]:
    """Paths that can be read through a link made here."""
    for number, path in enumerate(paths):
        link = Path(f"link-{number}")
        link.symlink_to(path)
        if link.exists():
            yield path
        link.unlink()


def marked_processes(kind: str, mark: bytes) -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()) and mark in proc_file(process / kind):
            yield process.name


def proc_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def marked_objects(mark: bytes) -> list[str]:
    """Whether the mark is in any object that git can reach from here, in any ref or in none."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return ["object"] if mark in subprocess.run(command, capture_output=True, check=False).stdout else []


def writable(path: str) -> bool:
    """Whether a file could be written or a folder changed; nothing is written."""
    if Path(path).is_dir():
        return os.access(path, os.W_OK)
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return True


def kernel_switches() -> Iterator[str]:
    for folder, _, files in os.walk("/proc/sys"):
        yield from (f"{folder}/{name}" for name in files)
    yield from ("/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/dev/kmsg", "/dev/mem", "/dev/vda")


def connects(where: str) -> bool:
    host, _, port = where.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=1):
            return True
    except OSError:
        return False


def connects_unix(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        try:
            connection.connect("\0" + path[1:] if path.startswith("@") else path)
        except OSError:
            return False
        return True


def exists(pid: int) -> bool:
    """Whether the process of that number can be signalled and is the one that was planted."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return b"time.sleep(59)" in proc_file(Path(f"/proc/{pid}/cmdline"))


def new_user_namespace() -> str:
    return "made one" if ctypes.CDLL(None).unshare(CLONE_NEWUSER) == 0 else ""


def capabilities() -> list[str]:
    pattern = r"^(Cap(?:Prm|Eff|Bnd)):\s+(?!0+$)([0-9a-f]+)$"
    found = re.findall(pattern, Path("/proc/self/status").read_text(), re.MULTILINE)
    return [f"{name} {value}" for name, value in found]


def attempt(what: Callable[[], str]) -> list[str]:
    try:
        return [got for got in [what()] if got]
    except OSError:
        return []


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.load(sys.stdin))))
