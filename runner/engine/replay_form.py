"""Replay form: the flags of ``invoke replay``, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

REPLAY_HELP = {
    "host": "address to listen on",
    "port": "port to listen on; 0 takes a free one",
    "cassettes": "folder of recorded turns (default: datasets/cassettes)",
    "faults": "faults with commas, such as slow200, first1-e500 or cut",
    "log": "file that receives one JSON line per request",
    "socket": "unix socket to listen on as well",
    "service": "service times, such as capacity=4,prefill=0.0001,output=0.02 (default: answer at once)",
}


def replay_form(
    _context: object,
    host: str = "127.0.0.1",
    port: int = 8765,
    cassettes: str | None = None,
    faults: str = "",
    log: str | None = None,
    socket: str | None = None,
    service: str | None = None,
) -> dict[str, Any]:
    """Every flag with its default, by name."""
    return dict(locals())


def serve_as_given(given: Mapping[str, Any], cassettes: Path, say: Callable[[str], None]) -> None:
    """Serve the turns in ``cassettes``, or in the folder that was given, until Ctrl-C."""
    from runner.replay import parse_service, serve

    serve(
        Path(given["cassettes"]) if given["cassettes"] else cassettes,
        host=given["host"],
        port=given["port"],
        faults=[name for name in given["faults"].split(",") if name],
        log=Path(given["log"]) if given["log"] else None,
        unix_socket=Path(given["socket"]) if given["socket"] else None,
        service=parse_service(given["service"]) if given["service"] else None,
        started=lambda address: say(
            f"a model answers at {address}/r/<run>/<dataset>/<task>/v1 (Ctrl-C ends)"
        ),
    )
