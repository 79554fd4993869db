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


def load(path):
    spec = importlib.util.spec_from_file_location(f"checked_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def child(names):
    sys.path.append(str(Path.cwd()))
    suite = unittest.TestSuite(load(Path(name)) for name in names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    print(f"finished {result.testsRun} tests", flush=True)
    return 0 if result.wasSuccessful() and result.testsRun else 1


def parent(names):
    done = subprocess.run(
        [sys.executable, "-P", __file__, CHILD, *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    sys.stdout.write(done.stdout)
    finished = re.search(r"^finished [1-9]\d* tests\Z", done.stdout.rstrip(), re.MULTILINE)
    return 0 if done.returncode == 0 and finished else 1


if __name__ == "__main__":
    names = sys.argv[1:]
    sys.exit(child(names[1:]) if names[:1] == [CHILD] else parent(names))
