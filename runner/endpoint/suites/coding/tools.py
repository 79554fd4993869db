"""Tools: what an agent can do to a repository, and what becomes of a call that makes no sense."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runner.endpoint.request import text_tool
from runner.endpoint.suites.coding.candidate import TestRun, Workbench
from runner.endpoint.suites.coding.repository import Repository, RepositoryFault

MAX_RESULT = 24_000
MAX_ARGUMENTS = 1_000_000

_PATH = "path from the root of the repository, such as src/app.py"
TOOLS = (
    text_tool("list_files", "List the paths of all files."),
    text_tool("read_file", "Read a whole file.", path=_PATH),
    text_tool("search", "Find the lines of all files that hold a text.", query="the text; no pattern"),
    text_tool("write_file", "Make a file, or replace all of it.", path=_PATH, content="the whole new text"),
    text_tool(
        "apply_patch",
        "Change files with a unified diff. It is applied wholly or not at all.",
        patch="lines '--- path', '+++ path', then hunks that begin with @@ and show lines of context",
    ),
    text_tool("run_tests", "Run the tests in the folder tests."),
)
_ARGUMENTS = {tool.name: tuple(dict(tool.parameters)["required"] or ()) for tool in TOOLS}  # type: ignore[arg-type]


@dataclass(frozen=True)
class ToolOutcome:
    """What goes back to the model. A call that is not ``ok`` is an invalid one."""

    text: str
    ok: bool = True


@dataclass
class Toolset:
    """The tools at work on one repository."""

    repository: Repository
    workbench: Workbench
    last_tests: TestRun | None = None
    test_runs: int = 0
    tested_version: int | None = None
    _seen: set[tuple[str, str, int]] = field(default_factory=set)

    async def call(self, name: str, arguments: str) -> ToolOutcome:
        """Do what is asked. Nothing is raised for a call that cannot be done."""
        values = _object(arguments)
        if name not in _ARGUMENTS:
            return ToolOutcome(f"there is no tool {name[:80]!r}; there are {', '.join(_ARGUMENTS)}", ok=False)
        if values is None:
            return ToolOutcome("the arguments are no JSON object", ok=False)
        texts = []
        for key in _ARGUMENTS[name]:
            value = values.get(str(key))
            if not isinstance(value, str):
                return ToolOutcome(f"{name} needs {key!r}, a string", ok=False)
            texts.append(value)
        try:
            return ToolOutcome(_cut(await self._done(name, texts)))
        except RepositoryFault as fault:
            return ToolOutcome(_cut(str(fault)), ok=False)

    def no_progress(self, name: str, arguments: str) -> bool:
        """Whether the same call was made before and nothing has changed since; remembers this one."""
        values = _object(arguments)
        text = arguments if values is None else json.dumps(values, sort_keys=True)
        key = (name, text, self.repository.version)
        known = key in self._seen
        self._seen.add(key)
        return known

    @property
    def verified(self) -> bool:
        """Whether the last run of the tests was green and nothing has been changed after it."""
        return (
            self.last_tests is not None
            and self.last_tests.green
            and self.tested_version == self.repository.version
        )

    async def _done(self, name: str, texts: list[str]) -> str:
        if name == "run_tests":
            self.tested_version = self.repository.version
            self.last_tests = await self.workbench.tests(self.repository.files)
            self.test_runs += 1
            return self.last_tests.report
        does: Mapping[str, Callable[..., str]] = {
            "list_files": self.repository.listed,
            "read_file": self.repository.read,
            "search": self.repository.search,
            "write_file": self.repository.write,
            "apply_patch": self.repository.patch,
        }
        return does[name](*texts)


def _object(arguments: str) -> dict[str, object] | None:
    if len(arguments) > MAX_ARGUMENTS:
        return None
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _cut(text: str) -> str:
    return text if len(text) <= MAX_RESULT else text[:MAX_RESULT] + "\n... cut here"
