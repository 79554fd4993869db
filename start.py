"""Start: makes the virtual environment, installs the package, and runs invoke tasks in it.

``python3 start.py`` runs the demonstration, has it judged, and builds the site; ``python3 start.py test``
runs every test; ``python3 start.py TASK [FLAGS]`` runs any other task. Only the standard library is used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
OLDEST = (3, 11)
SCRIPTED_JUDGE = ("--judge", "replay", "--concurrency", "4")
DEMONSTRATION = (
    "run",
    *("judge", "--path", "results/demonstration", "--repeats", "2", *SCRIPTED_JUDGE),
    *("judge-proof", "--model", "replay-gullible", *SCRIPTED_JUDGE),
    *("judge-proof", "--model", "replay-sober", *SCRIPTED_JUDGE),
    "publish",
)
"""Tasks, with their flags, that show everything without a network or an account."""


def main(arguments: list[str]) -> int:
    """Prepare the environment, then run ``invoke`` with ``arguments`` (default: the demonstration)."""
    if sys.version_info < OLDEST:
        sys.stderr.write(
            f"Harnessmark needs Python {OLDEST[0]}.{OLDEST[1]} or newer; this is {sys.version}\n"
        )
        return 1
    extra = "test" if arguments[:1] == ["test"] else ""
    if not ready(extra):
        prepare(extra)
    invoke = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / "invoke"
    return subprocess.call([str(invoke), *(arguments or DEMONSTRATION)], cwd=ROOT)


def python() -> Path:
    """The interpreter of the virtual environment."""
    return ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def prepare(extra: str) -> None:
    """Make the virtual environment and install the package with exactly the versions in constraints.txt."""
    say(f"preparing {ENVIRONMENT.name} (a minute or two the first time)")
    # Some systems ship Python without ensurepip; their own pip can install into the environment from outside.
    with_pip = importlib.util.find_spec("ensurepip") is not None
    venv.create(ENVIRONMENT, with_pip=with_pip, symlinks=os.name != "nt", clear=False)
    pip = (
        [str(python()), "-m", "pip"] if with_pip else [sys.executable, "-m", "pip", "--python", str(python())]
    )
    target = f".[{extra}]" if extra else "."
    command = [
        *pip,
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        "constraints.txt",
        "-e",
        target,
    ]
    if subprocess.call(command, cwd=ROOT) != 0:
        say("the packages could not be installed; the lines above say why. Is the package index reachable?")
        raise SystemExit(1)
    stamp(extra).write_text(fingerprint(), encoding="utf-8")


def ready(extra: str) -> bool:
    """Whether this environment was prepared from the files as they are now."""
    done = stamp(extra)
    return python().exists() and done.exists() and done.read_text(encoding="utf-8") == fingerprint()


def stamp(extra: str) -> Path:
    """The file that says from what the environment was prepared."""
    return ENVIRONMENT / f".prepared-{extra or 'base'}"


def fingerprint() -> str:
    """Digest of what decides the environment's content."""
    parts = [(ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")]
    return hashlib.sha256(b"\0".join([*parts, sys.version.encode()])).hexdigest()


def say(text: str) -> None:
    """One line to the user."""
    sys.stdout.write(f"start: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
