"""A stand-in for the LiteLLM package: started as the real one, it answers what a start is awaited by."""

from __future__ import annotations

from pathlib import Path

from runner.providers.litellm_program import NAME, VERSION

PACKAGE = '''\
"""Stand-in."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import yaml

FLAGS = {flags!r}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        key = os.environ[self.server.config["general_settings"]["master_key"].removeprefix("os.environ/")]
        if self.path == "/health/liveliness":
            return self.answer(200, "alive")
        if self.headers.get("Authorization") != f"Bearer {{key}}":
            return self.answer(401, {{}})
        known = [] if "nothing" in FLAGS else self.server.config["model_list"]
        if self.path == "/environment":
            return self.answer(200, dict(os.environ))
        if self.path == "/arguments":
            return self.answer(200, sys.argv)
        return self.answer(200, {{"data": [{{"id": each["model_name"]}} for each in known]}})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def run_server():
    option = lambda name: sys.argv[sys.argv.index(name) + 1]
    if "crash" in FLAGS:
        sys.exit("the configuration has a fault")
    if "busy-once" in FLAGS and not os.path.exists(os.path.join("..", "was-busy")):
        open(os.path.join("..", "was-busy"), "w").close()
        sys.exit("[Errno 98] error while attempting to bind: address already in use")
    if "stubborn" in FLAGS:
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = ThreadingHTTPServer((option("--host"), int(option("--port"))), Handler)
    with open(option("--config")) as stream:
        server.config = yaml.safe_load(stream)
    print("listening", flush=True)
    server.serve_forever()
'''


def install_standin(installed: Path, *flags: str, version: str = VERSION) -> Path:
    """Put the stand-in where the proxy's program is looked for; ``flags`` say what it does wrong."""
    package = installed / NAME / version / "site" / NAME
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE.format(flags=flags), encoding="utf-8")
    return installed
