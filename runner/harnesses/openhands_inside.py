"""Inside: starts OpenHands, with a log of what each answer used. A program of its own, copied into a home.

Started as ``python -I -S start.py SITE LOG PROMPT``: the folder of its packages, the file for the log, the
file with the prompt. OpenHands saves its counts only now and then, and says nothing of requests that it
repeats, so each request of the library under it is logged, and the client below that repeats none unseen.
Four more things are done to it: hooks and a file ``.env`` of the workspace are not obeyed, no skills are
fetched from a public repository, the prompt arrives as it is, and commands run in a plain terminal, as the
server of its other one outlives it.
"""

from __future__ import annotations

import importlib
import json
import site
import sys
from pathlib import Path
from typing import Any

LONGEST_ERROR = 2000
OPTIONS = ("--headless", "--json", "--override-with-envs", "--exit-without-confirmation")


class Log:
    """A line for each request, answer and failure, and one at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, event: str, **fields: object) -> None:
        """One more line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, **fields}, default=str) + "\n")

    def over(self, library: Any) -> None:
        """Log every completion that is asked of ``library``."""
        complete = library.completion

        def completion(*arguments: Any, **named: Any) -> Any:
            """Log and pass on one request; what it raises is raised again."""
            self.write("request")
            try:
                answer = complete(*arguments, **{"max_retries": 0, **named})
            except BaseException as error:
                # Ctrl-C and an exit too: without a line the reader would take it for one under way.
                self.write("failure", error=f"{type(error).__name__}: {error}"[:LONGEST_ERROR])
                raise
            told = answer.model_dump()
            self.write("answer", id=told.get("id"), model=told.get("model"), usage=told.get("usage"))
            return answer

        library.completion = completion


def keep_to_itself(prompt: str) -> Any:
    """The program, without what would make one run differ from another; its entry point."""
    importlib.import_module("dotenv").load_dotenv = lambda *_arguments, **_named: False  # type: ignore[attr-defined]
    hooks: Any = importlib.import_module("openhands.sdk.hooks").HookConfig
    hooks.load = classmethod(lambda cls, *_arguments, **_named: cls())
    for name in ("openhands.tools.terminal.impl", "openhands.tools.terminal.terminal.factory"):
        terminals: Any = importlib.import_module(name)
        terminals._is_tmux_available = lambda: False
    store: Any = importlib.import_module("openhands_cli.stores.agent_store")
    context = store.AgentContext
    own = {"load_user_skills": False, "load_public_skills": False}
    store.AgentContext = lambda **named: context(**{**named, **own})
    entry: Any = importlib.import_module("openhands_cli.entrypoint")
    entry.create_seeded_instructions_from_args = lambda _options: [prompt]
    return entry


def main(arguments: list[str]) -> None:
    """Run OpenHands; the end is logged unless it broke off."""
    packages, log, prompt = arguments
    # Else the last events of a run that is stopped are lost.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    site.addsitedir(packages)
    told = Log(Path(log))
    # Before anything of the program is loaded, which keeps the function it finds then.
    told.over(importlib.import_module("litellm"))
    entry = keep_to_itself(Path(prompt).read_text(encoding="utf-8"))
    sys.argv = ["openhands", *OPTIONS, "--file", prompt]
    entry.main()
    told.write("end")


if __name__ == "__main__":
    main(sys.argv[1:])
