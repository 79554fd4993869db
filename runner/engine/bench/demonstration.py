"""Demonstration: the built-in server in a process of its own, playing the mappings of a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from runner.endpoint.address import EndpointAddress
from runner.endpoint.request import Protocol
from runner.endpoint.server_process import ServerProcess
from runner.endpoint.target import Target
from runner.engine.bench.answering import Answering, read_solutions
from runner.engine.bench.casework import cases_again
from runner.records import BenchManifest, parse_record
from runner.replay.server import ReplayServer


class Demonstration:
    """Runs while the context is open.

    Args:
        manifest: file of the plan.
        cassettes: folder of recorded turns, for what is no case of the plan.
        solutions: folder with files that solve coding tasks; it need not exist.
        log: file that gets a line for each request, with what was injected and when it was sent.
    """

    def __init__(self, manifest: Path, cassettes: Path, solutions: Path, log: Path | None = None) -> None:
        self._command = [
            sys.executable,
            "-m",
            "runner.engine.bench.demonstration",
            str(manifest),
            str(cassettes),
            str(solutions),
            *([] if log is None else [str(log)]),
        ]
        self._server: ServerProcess | None = None

    def __enter__(self) -> Demonstration:
        # A session of its own: Ctrl-C is for the run, which still needs its server to end in order.
        self._server = ServerProcess(self._command, "the built-in server", own_session=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.end()

    def address(self, target: Target, number: int) -> EndpointAddress:
        """Where target number ``number`` answers; each has a run of its own in the server's counts."""
        replay = target.entry.replay
        parts = () if replay is None else (*replay.scenario.split("/"), *replay.faults)
        root = "" if target.entry.protocol is Protocol.MESSAGES else "/v1"
        url = "" if self._server is None else self._server.said
        return EndpointAddress("/".join([url, "r", f"target-{number}", *parts]) + root)


def main(arguments: Sequence[str]) -> None:
    """``MANIFEST CASSETTES SOLUTIONS [LOG]``: serve until the input is closed; the address is printed."""
    path, cassettes, solutions = (Path(each) for each in arguments[:3])
    manifest = parse_record(BenchManifest, path.read_bytes(), where=path.name)
    answering = Answering(manifest, cases_again(manifest), read_solutions(solutions))
    log = Path(arguments[3]) if len(arguments) > 3 else None
    with ReplayServer(cassettes, improviser=answering, log=log) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        sys.stdin.buffer.read()


if __name__ == "__main__":
    main(sys.argv[1:])
