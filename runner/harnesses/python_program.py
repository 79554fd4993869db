"""Python program: one from PyPI with all it needs, in a folder that can be moved.

No virtual environment can be moved. The folder holds the packages (``site``), a launcher, and a link to the
interpreter they were chosen for, which is the only thing outside it that the program needs.
"""

from __future__ import annotations

from pathlib import Path

from runner.harnesses.installation import Installation

LINK = "python"
SITE = "site"
LAUNCHER = "start.py"
OPTIONS = ("-I", "-S")
"""The interpreter's: no package of its own environment or of the user's is seen."""
CONSTRAINTS = Path(__file__).parent / "constraints"

TEXT = '''\
"""Starts {script} with the packages beside this file and the interpreter's own library, and no others."""

import contextlib
import site
import sys
from importlib.metadata import distribution
from pathlib import Path

site.addsitedir(str(Path(__file__).resolve().parent / "{site}"))
found = distribution("{package}")
(entry,) = found.entry_points.select(group="console_scripts", name="{script}")
if sys.argv[1:] == ["--version"]:
    with contextlib.redirect_stdout(sys.stderr):
        entry.load()
    sys.stdout.write(f"{package} {{found.version}}\\n")
else:
    sys.argv[0] = "{script}"
    sys.exit(entry.load()())
'''
"""Not every program knows ``--version``; this one is answered once all of it could be loaded."""
LIBRARY = '''\
"""Runs the file named first with the packages beside this one and the interpreter's own library."""

import contextlib
import importlib
import runpy
import site
import sys
from importlib.metadata import distribution
from pathlib import Path

site.addsitedir(str(Path(__file__).resolve().parent / "{site}"))
if sys.argv[1:] == ["--version"]:
    found = distribution("{package}")
    with contextlib.redirect_stdout(sys.stderr):
        for path in found.files or ():
            if len(path.parts) == 2 and path.name == "__init__.py":
                importlib.import_module(path.parts[0])
    sys.stdout.write(f"{package} {{found.version}}\\n")
else:
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
'''
"""Starts no script of the package: it is a library, and the harness brings a program that uses it."""


def constraints_of(installation: Installation) -> Path | None:
    """The file that pins every package the program needs, so that each installation is the same.

    None while nobody wrote one: then the newest packages that fit are taken.
    """
    if installation.constraints is not None:
        return installation.constraints
    ours = CONSTRAINTS / f"{installation.package}.txt"
    return ours if ours.is_file() else None


def python_command(folder: Path) -> tuple[str, ...]:
    """What starts the program in ``folder``; of a library, that to which the file to run is added."""
    return (str(folder / LINK), *OPTIONS, str(folder / LAUNCHER))


def pip_options(installation: Installation, folder: Path) -> tuple[str, ...]:
    """What follows ``pip install`` to put everything into ``folder``.

    No code of a package runs, but that of those which must be built.
    """
    extras = f"[{','.join(installation.extras)}]" if installation.extras else ""
    pins = constraints_of(installation)
    return (
        *("--only-binary=:all:", *(f"--no-binary={name}" for name in installation.built)),
        *("--no-input", "--target", str(folder / SITE)),
        *(() if pins is None else ("--constraint", str(pins))),
        *installation.beside,
        f"{installation.package}{extras}=={installation.version}",
    )


def finish(installation: Installation, folder: Path, interpreter: Path) -> None:
    """Add the launcher and the link to ``interpreter`` to the packages in ``folder``."""
    text = (TEXT if installation.script else LIBRARY).format(
        script=installation.script, package=installation.package, site=SITE
    )
    (folder / LAUNCHER).write_text(text, encoding="utf-8")
    (folder / LINK).symlink_to(interpreter)
