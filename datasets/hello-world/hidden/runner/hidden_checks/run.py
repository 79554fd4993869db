"""Runs the named test files against the workspace.

The workspace comes last on the import path, so that nothing in it can stand in for the standard library. The
tests run in a child that must say how many it ran: code under test that ends the interpreter does not pass.
"""

import importlib.util
import re
import subprocess
import sys
import unittest
from pathlib import Path

CHILD = "--child"


def load(path: Path) -> unittest.TestSuite:
    """The tests of one file, under a module name that no other file takes."""
    spec = importlib.util.spec_from_file_location(f"checked_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def child(names: list[str]) -> int:
    """Run the files' tests and say how many there were; 0 when there were some and all passed."""
    sys.path.append(str(Path.cwd()))
    suite = unittest.TestSuite(load(Path(name)) for name in names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    sys.stdout.write(f"finished {result.testsRun} tests\n")
    sys.stdout.flush()
    return 0 if result.wasSuccessful() and result.testsRun else 1


def parent(names: list[str]) -> int:
    """Run the child and pass on what it said; 0 only when it also said how many tests it finished."""
    done = subprocess.run(
        [sys.executable, "-P", __file__, CHILD, *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    sys.stdout.write(done.stdout)
    finished = re.search(r"^finished [1-9]\d* tests\Z", done.stdout.rstrip(), re.MULTILINE)
    return 0 if done.returncode == 0 and finished else 1


if __name__ == "__main__":
    names = sys.argv[1:]
    sys.exit(child(names[1:]) if names[:1] == [CHILD] else parent(names))
