"""The stage for a vLLM server: a recipe, a program, and an environment that finds it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from runner.providers.base import ProviderSettings
from runner.providers.vllm_server import VllmServer
from tests.providers.vllm_standin import install_program

BASIC = {
    "schema_version": "1",
    "repository": "vendor/Model-7B",
    "max_model_len": 131_072,
    "tool_call_parser": "hermes",
    "start_minutes": 2,
    "source": [{"what": "made up for a test"}],
}


@dataclass
class VllmStage:
    """Folders of one test, the stand-in on the search path, and what was said."""

    folder: Path
    port: int
    """Where the server is to listen; held for it by the test."""
    recipes: Path = Path()
    """Folder of the recipes; one of its own where it is not given."""
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.recipes == Path():
            self.recipes = self.folder / "recipes"
        install_program(self.folder / "bin")

    @property
    def environment(self) -> dict[str, str]:
        """What a user's shell would hold."""
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        return {"PATH": path, "HOME": str(self.folder), "UNRELATED_SECRET": "another-secret-0123"}

    @property
    def server(self) -> VllmServer:
        """The server of the project."""
        return VllmServer(self.folder / "state", self.environment, self.said.append)

    def recipe(self, name: str = "m", **more: object) -> str:
        """Write a recipe that serves ``name``; its name is returned."""
        self.recipes.mkdir(exist_ok=True)
        body = {**BASIC, "name": name, "served_names": [name], "port": self.port, **more}
        (self.recipes / f"{name}.yaml").write_text(yaml.safe_dump(body), encoding="utf-8")
        return name

    def settings(self, **more: object) -> ProviderSettings:
        """Settings that find the recipes."""
        given: dict[str, object] = {
            "recipes": str(self.recipes),
            "state": str(self.folder / "state"),
            "say": self.said.append,
        }
        return ProviderSettings(**{**given, **more})  # type: ignore[arg-type]
