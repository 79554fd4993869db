"""AWS on loopback: moto's token service, and a stand-in for what Bedrock tells about models."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from tests.providers.aws import KEYS, Environment
from tests.providers.control_plane import ControlPlane, control_plane


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """The address of a token service."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    with control_plane() as running:
        yield running


@pytest.fixture
def environment(
    moto: str, plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Environment:
    """A machine with nothing of the user's AWS configuration, whose services are the stand-ins."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", *KEYS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", plane.url)
    return KEYS
