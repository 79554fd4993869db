"""A server that nothing could be written down about is not left running: nobody would find it again."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.providers import litellm_proxy, vllm_server
from runner.providers.background import ServerFile, is_up
from runner.providers.model_server import start_model_server
from tests.ports import held_port
from tests.providers.test_model_server import start_proxy
from tests.providers.vllm_stage import VllmStage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[VllmStage]:
    with held_port() as port:
        yield VllmStage(tmp_path, port)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[ServerFile]:
    """Servers that were started while the disk was full."""
    found: list[ServerFile] = []

    def full(_: Path, server: ServerFile) -> None:
        found.append(server)
        raise OSError(errno.ENOSPC, "No space left on device")

    for module in (vllm_server, litellm_proxy):
        monkeypatch.setattr(module, "write_server_file", full)
    return found


def test_a_model_server_does_not_hold_its_machine_after_a_full_disk(
    stage: VllmStage, begun: list[ServerFile]
) -> None:
    with pytest.raises(OSError, match="No space left"):
        start_model_server(
            stage.recipe(),
            recipes=stage.recipes,
            state=stage.folder / "state",
            environment=stage.environment,
            say=stage.said.append,
        )
    assert [is_up(server) for server in begun] == [False]


def test_a_proxy_does_not_stay_after_a_full_disk(stage: VllmStage, begun: list[ServerFile]) -> None:
    with pytest.raises(OSError, match="No space left"):
        start_proxy(stage.folder)
    assert [is_up(server) for server in begun] == [False]
