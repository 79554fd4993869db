"""A small agent with one tool, a shell, that can speak every protocol."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.replay.dialects import Dialect, Done, Said

TURNS = 40


@dataclass
class SmallAgent:
    """Talks to a model and runs what it wants run, until it wants nothing more."""

    http: httpx.Client
    dialect: Dialect
    base_url: str
    model: str
    workspace: Path
    shell: str = "exec_command"
    stream: bool = True
    done: list[Done] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)

    def ask(self, prompt: str) -> Said:
        """One request with the conversation so far."""
        body = self.dialect.body(self.model, prompt, [self.shell], self.done, self.stream)
        url = self.base_url + self.dialect.path(self.model, self.stream)
        response = self.http.post(url, json=body)
        assert response.status_code == 200, response.text
        said = self.dialect.stream(response.text) if self.stream else self.dialect.whole(response.json())
        if said.usage is not None:
            for name, number in self.dialect.classes(said.usage).items():
                self.totals[name] = self.totals.get(name, 0) + number
        return said

    def work(self, prompt: str) -> str:
        """Go on until the model calls no tool; returns its last words."""
        for _ in range(TURNS):
            said = self.ask(prompt)
            if not said.calls:
                return said.text
            self.done.append(Done(said, self._run(said.calls)))
        raise AssertionError("the model never ends")

    def _run(self, calls: Sequence[tuple[str, str, object]]) -> list[str]:
        results = []
        for _, name, arguments in calls:
            assert name == self.shell
            command = arguments["command"] if isinstance(arguments, dict) else json.dumps(arguments)
            ended = subprocess.run(
                ["/bin/sh", "-c", str(command)],
                cwd=self.workspace,
                capture_output=True,
                text=True,
                check=False,
                env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
            )
            results.append(ended.stdout + ended.stderr)
        return results
