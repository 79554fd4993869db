"""Inside: starts aider, with a log of what each answer used. A program of its own, copied into a run's home.

Started as ``python -I -S start.py SITE LOG CACHE ARGUMENT...``: the folder of aider's packages, the file for
the log, the folder for its cache of tags. aider itself shows token counts as rounded text only, so each call
of the library under it is logged as that library answered it. Three more things are done to it: settings of
the workspace are not read, its cache stays out of the workspace, and it may write files outside its
repository, where the artifacts are.
"""

from __future__ import annotations

import importlib
import json
import site
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST_ERROR = 2000


def main(arguments: list[str]) -> object:
    """Run aider; returns what it returns."""
    packages, log, cache, *rest = arguments
    site.addsitedir(packages)
    library: Any = importlib.import_module("litellm")
    library.completion = logged(library.completion, Path(log))
    program: Any = importlib.import_module("aider.main")
    usual = program.get_parser
    program.get_parser = lambda _files, root: usual([], root)
    program.load_dotenv_files = lambda *_arguments, **_named: []
    importlib.import_module("aider.repomap").RepoMap.TAGS_CACHE_DIR = cache
    repository = importlib.import_module("aider.repo").GitRepo
    repository.path_in_repo = or_outside(repository.path_in_repo)
    sys.argv = ["aider", *rest]
    code = program.main(rest)
    write(Path(log), {"event": "end"})
    return code


def logged(complete: Callable[..., Any], log: Path) -> Callable[..., Any]:
    """``complete``, with a line in ``log`` before each request and after it."""

    def completion(*arguments: Any, **named: Any) -> Any:
        """Log and pass on one request; what it raises is raised again."""
        write(log, {"event": "request"})
        try:
            answer = complete(*arguments, **named)
        except BaseException as error:
            # Ctrl-C and an exit too: without a line the reader would take the request for one under way.
            said = f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
            write(log, {"event": "failure", "error": said})
            raise
        told = answer.model_dump()
        choices = told.get("choices") or [{}]
        fields = {"model": told.get("model"), "usage": told.get("usage")}
        write(log, {"event": "answer", "finish_reason": choices[0].get("finish_reason"), **fields})
        return answer

    return completion


def or_outside(inside: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """``inside``, which says whether git has a path, but yes for what git can never have."""

    def path_in_repo(repository: Any, path: Any) -> Any:
        """Whether git has ``path``, or it lies outside of the repository."""
        root = Path(repository.root).resolve()
        if path and not (root / str(path)).resolve().is_relative_to(root):
            return True
        return inside(repository, path)

    return path_in_repo


def write(log: Path, entry: dict[str, Any]) -> None:
    """One more line; those of a thread beside the main one, which summarises the talk, are marked."""
    if threading.current_thread() is not threading.main_thread():
        entry = {**entry, "beside": True}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))  # type: ignore[arg-type]
