"""An agent that brings its own way: in the sandbox its network is open, and everything else stays shut."""

from __future__ import annotations

import json
import socket
import sys
import threading
from pathlib import Path

import pytest

from runner.engine.isolation import way_to
from runner.engine.isolation.level import Sandbox, Unconfined
from runner.engine.isolation.sight import see
from runner.engine.isolation.way import NETWORK_OPEN, require_a_way, warnings_of
from runner.engine.supervision import supervise
from runner.harnesses.base import Launch, stderr_beside
from runner.harnesses.endpoint import Endpoint, WireProtocol
from tests.isolation.levels import isolation

PROBE = """
import json, os, pathlib, socket, sys
found = {"there": pathlib.Path(sys.argv[2]).exists(), "reached": True, "processes": len(
    [name for name in os.listdir("/proc") if name.isdigit()])}
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5).close()
except OSError:
    found["reached"] = False
found["resolver"] = pathlib.Path("/etc/resolv.conf").exists()
print(json.dumps(found), flush=True)
sys.stderr.write("said aside\\n")
"""
MANAGED = Endpoint("", WireProtocol.MANAGED, "m", "a-key-of-a-vendor-0123")


def probe(folder: Path, *, network: bool) -> dict[str, object]:
    """What a child in the sandbox got at, beside a file of the machine and a listener on its loopback."""
    for name in ("workspace", "artifacts", "home"):
        (folder / name).mkdir()
    planted = folder / "planted.txt"
    planted.write_text("private", encoding="utf-8")
    level = isolation("sandbox", ())
    with socket.create_server(("127.0.0.1", 0)) as listener, way_to(MANAGED, level) as way:
        port = str(listener.getsockname()[1])
        launch = Launch(
            command=(sys.executable, "-I", "-S", "-c", PROBE, port, str(planted)),
            environment={"PATH": "/usr/bin:/bin"},
            working_directory=folder / "workspace",
            network=network,
            keep_stderr=True,
        )
        places = {name: folder / name for name in ("workspace", "artifacts", "home")}
        out = folder / "stdout"
        supervise(
            level.wrap(launch, **places, gateway=way.gateway),
            stdout=out,
            timeout_seconds=60,
            cancelled=threading.Event(),
            activity=way.activity,
        )
        assert way.requests_seen() is None
    assert stderr_beside(out).read_text() == "said aside\n"
    found: dict[str, object] = json.loads(out.read_text())
    return found


def test_an_open_network_opens_nothing_else(tmp_path: Path) -> None:
    found = probe(tmp_path, network=True)
    assert found["reached"] is True
    assert found["there"] is False
    assert found["resolver"] is Path("/etc/resolv.conf").exists()
    assert isinstance(found["processes"], int)
    assert found["processes"] < 10


def test_without_the_wish_there_is_no_network(tmp_path: Path) -> None:
    found = probe(tmp_path, network=False)
    assert (found["reached"], found["there"], found["resolver"]) == (False, False, False)


def test_only_a_launch_with_a_network_is_warned_of(tmp_path: Path) -> None:
    launch = Launch(command=("true",), environment={}, working_directory=tmp_path)
    assert warnings_of(launch) == ()
    assert warnings_of(Launch(("true",), {}, tmp_path, network=True)) == (NETWORK_OPEN,)


def test_where_a_gateway_stands_between_its_counts_are_those_of_the_way() -> None:
    given = Endpoint("http://127.0.0.1:9/v1", WireProtocol.CHAT_COMPLETIONS, "m", "a-key-0123456789")
    with way_to(given, Unconfined()) as way:
        assert way.gateway is not None
        assert way.requests_seen() == 0
        assert way.activity is not None
        assert way.endpoint.api_key != given.api_key


def test_the_agents_own_way_shows_it_the_endpoint_as_it_is() -> None:
    with way_to(MANAGED, Unconfined()) as way:
        assert (way.gateway, way.endpoint, way.activity) == (None, MANAGED, None)


@pytest.mark.parametrize("protocol", sorted(set(WireProtocol) - {WireProtocol.MANAGED}))
def test_every_other_protocol_has_a_way_out_of_every_level(protocol: WireProtocol) -> None:
    level = isolation("sandbox", ())
    assert isinstance(level, Sandbox)
    require_a_way(protocol, level)


def test_the_resolver_is_seen_only_with_a_network() -> None:
    shut = see(writable=(), readable=(), environment={}).read_only
    opened = see(writable=(), readable=(), environment={}, network=True).read_only
    assert Path("/etc/resolv.conf") not in shut
    assert (Path("/etc/resolv.conf") in opened) is Path("/etc/resolv.conf").exists()
