"""KiroCli: an agent that reaches its vendor's cloud by itself, driven headless and read from its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Assignment, Launch, Reading, stderr_beside
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation, Source
from runner.harnesses.isolation import clean_environment, limits_not_kept, search_path, write_json
from runner.harnesses.kiro_text import read_run, trace_line
from runner.harnesses.programs import ask_version
from runner.kiro import INSTALL, PROGRAM, find_program
from runner.records import CacheSemantics

KEY_VARIABLE = "KIRO_API_KEY"
KEPT_LIMITS = frozenset({"timeout_seconds"})
SETTINGS = {"app.disableAutoupdates": True, "telemetry.enabled": False}

PINNED = Installation(
    source=Source.BY_HAND,
    package=PROGRAM,
    version="2.18.1",
    executable=PROGRAM,
    note=f"Not in any registry: {INSTALL}.",
)


@dataclass(frozen=True)
class KiroCli:
    """The harness ``kiro-cli``. It counts credits, says neither tokens nor turns, and needs the network."""

    name: str = "kiro-cli"
    title: str = "Kiro CLI"
    homepage: str | None = "https://kiro.dev/cli"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.MANAGED,)
    cache_semantics: CacheSemantics = CacheSemantics.UNKNOWN
    turns_definition: str = "not reported"
    installation: Installation = PINNED
    delegates: bool = True
    memory_mb: int = 500
    notes: tuple[str, ...] = (
        "Its price is in credits, read from the trailer that it prints at the end; tokens and turns are not "
        "reported, which is not the same as none.",
        "It exits with 0 even when its key is refused: a run without a trailer has failed.",
        "It reaches its vendor's cloud by itself. The sandbox hides files from it as from every other agent, "
        "but its network is open, this machine's own addresses included, and its key is inside; each trial "
        "says so. On a machine in a cloud, shut its metadata address for such runs.",
        "It takes its key from KIRO_API_KEY. The sign-in of your own home is never read: make a key for it.",
        "The prompt goes to its standard input, which it reads where no prompt is an argument.",
    )
    search_path: str = field(default_factory=search_path)
    """Where the program is found, and where the agent finds commands."""

    def version(self, installed: Path) -> str:  # noqa: ARG002 - it is not below that folder
        """What the program says.

        Raises:
            ConfigurationError: it is not on the search path, or does not start.
        """
        return ask_version((str(find_program(self.search_path).path),))

    def launch(self, assignment: Assignment) -> Launch:
        """The child process. The prompt is on its stdin, the key in its environment."""
        program = find_program(self.search_path)
        settings = write_json(assignment.home.absolute() / ".kiro" / "settings" / "cli.json", SETTINGS)
        return Launch(
            command=(
                *(str(program.path), "chat", "--no-interactive", "--trust-all-tools"),
                *("--model", assignment.endpoint.model),
            ),
            environment={
                **clean_environment(assignment, self.search_path),
                KEY_VARIABLE: assignment.endpoint.api_key,
            },
            working_directory=assignment.workspace,
            stdin=assignment.prompt.encode(),
            readable=tuple(program.parts()),
            configuration=(settings,),
            network=True,
            keep_stderr=True,
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        """What the trailer says; without one the run has failed, whatever its exit code."""
        missing = limits_not_kept(assignment.limits, self.name, KEPT_LIMITS)
        price = assignment.endpoint.dollars_per_credit
        return read_run(stdout, stderr_beside(stdout), price, missing)

    def trace(self, line: str) -> str | None:
        """A tool call or the beginning of an answer in a few words."""
        return trace_line(line)
