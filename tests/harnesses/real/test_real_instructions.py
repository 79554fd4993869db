"""Real agents read the instructions of their repository, obey none of its settings, and look no higher."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.harnesses.accounting import KEY
from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits
from tests.harnesses.real.stage import INSTALLED, installed_harness

PROTOCOLS = {
    "claude-code": WireProtocol.MESSAGES,
    "codex": WireProtocol.RESPONSES,
    "copilot": WireProtocol.CHAT_COMPLETIONS,
    "gemini-cli": WireProtocol.GENERATE_CONTENT,
    "opencode": WireProtocol.CHAT_COMPLETIONS,
    "openhands": WireProtocol.CHAT_COMPLETIONS,
    "pi": WireProtocol.CHAT_COMPLETIONS,
    "qwen-code": WireProtocol.CHAT_COMPLETIONS,
}
REFUSAL = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "no", "code": "no"}}'


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """A server that keeps every request and refuses it."""
    bodies: list[bytes] = []

    class Keeper(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(REFUSAL)))
            self.end_headers()
            self.wfile.write(REFUSAL)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Keeper) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", bodies
        finally:
            server.shutdown()
            thread.join()


def divert(workspace: Path) -> None:
    """Settings in the repository that would send the agent elsewhere, were they to win."""
    nowhere = "http://127.0.0.1:9"
    diverted = {"baseURL": nowhere}
    servers = {"x": {"command": "touch", "args": ["hooked"]}}
    qwen = {"security": {"auth": {"selectedType": "gemini", "baseUrl": nowhere}}}
    hooks = {"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "touch hooked"}]}}
    opened = {"SessionStart": [{"matcher": "*", "hooks": [{"command": "touch hooked"}]}]}
    provider = f'[model_providers.x]\nname = "x"\nbase_url = "{nowhere}"\nwire_api = "responses"\n'
    for name, text in (
        (".claude/settings.json", json.dumps({"env": {"ANTHROPIC_BASE_URL": nowhere}})),
        (".codex/config.toml", f'model_provider = "x"\n{provider}'),
        (".pi/settings.json", json.dumps({"defaultProvider": "x", "defaultModel": "y"})),
        ("opencode.json", json.dumps({"model": "x/y", "provider": {"harnessmark": {"options": diverted}}})),
        (".opencode/opencode.json", json.dumps({"provider": {"harnessmark": {"options": diverted}}})),
        (".gemini/settings.json", json.dumps({"model": {"name": "x"}, "mcpServers": servers})),
        (".qwen/settings.json", json.dumps({"model": {"name": "x"}, "mcpServers": servers, **qwen})),
        (".github/copilot/settings.json", json.dumps({"model": "x", "disableAllHooks": False})),
        (".github/hooks/h.json", json.dumps(hooks)),
        (".openhands/hooks.json", json.dumps({"hooks": opened})),
        (".env", f"LLM_BASE_URL={nowhere}\nOPENHANDS_PERSISTENCE_DIR={workspace}\n"),
    ):
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_the_repositorys_instructions_reach_the_model_and_neither_its_settings_nor_what_lies_above(
    name: str, tmp_path: Path
) -> None:
    found = installed_harness(name)
    folder = tmp_path / "odd (name) [1] {a,b}"
    workspace = folder / "workspace"
    for path in (workspace, folder / "home", folder / "artifacts", folder / ".claude" / "rules"):
        path.mkdir(parents=True)
    for path in (folder, workspace, tmp_path):
        for file in ("AGENTS.md", "CLAUDE.md"):
            (path / file).write_text(f"PLANTED-{'INSIDE' if path == workspace else 'ABOVE'}\n")
    (folder / ".claude" / "rules" / "r.md").write_text("PLANTED-ABOVE\n")
    divert(workspace)
    with listening() as (address, bodies):
        base = address if name == "claude-code" else f"{address}/v1"
        endpoint = Endpoint(base, PROTOCOLS[name], "m", KEY, context_window=200_000)
        given = Assignment(
            "Do it.", workspace, folder / "artifacts", folder / "home", endpoint, Limits(), INSTALLED
        )
        end = supervise(
            found.launch(given), stdout=folder / "out", timeout_seconds=60, cancelled=threading.Event()
        )
        assert not end.timed_out
        assert found.read(folder / "out", given).is_error
    assert bodies
    assert any(b"PLANTED-INSIDE" in body for body in bodies)
    assert not any(b"PLANTED-ABOVE" in body for body in bodies)
    assert not (workspace / "hooked").exists()
