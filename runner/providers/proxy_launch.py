"""Proxy launch: runs the LiteLLM proxy in this process and ends it when whoever started it is gone.

Started as a script, ``python -P proxy_launch.py <arguments of the proxy>``, with the package ``litellm`` on
the path and nothing else of this project. Standard input is a pipe that nobody writes to: it closes when the
process at its other end has ended, even by a kill, and the proxy ends with it. One that is to stay up has
the variable ``HARNESSMARK_PROXY_STAYS`` set, and no such pipe.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading

STAYS = "HARNESSMARK_PROXY_STAYS"


def main() -> None:
    """Run the proxy until it is told to stop, or until standard input closes."""
    # A file .env in the folder it is started in would be read.
    os.chdir(os.environ["HOME"])
    if os.environ.pop(STAYS, None) is None:
        threading.Thread(target=_end_with_the_pipe, daemon=True).start()
    sys.argv[0] = "litellm"
    importlib.import_module("litellm").run_server()


def _end_with_the_pipe() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
