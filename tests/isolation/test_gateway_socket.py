"""The gateway's socket finds a place that its path fits into."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.isolation.test_gateway import PATH, through
from tests.isolation.upstream import reply


def test_a_temporary_folder_too_deep_for_a_socket_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with through(reply(b'{"ok": true}'), on_socket=True) as (client, gateway, _):
        assert gateway.socket_path is not None
        folder = gateway.socket_path.parent
        assert folder.stat().st_mode & 0o077 == 0
        assert client.post(PATH, json={}).json() == {"ok": True}
    assert not folder.exists()
    assert list(deep.iterdir()) == []
