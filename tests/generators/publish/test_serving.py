"""The preview's server answers as a static host would."""

from __future__ import annotations

import http.client
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from generators.publish.serving import SiteServer
from runner.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "cells" / "a").mkdir(parents=True)
    (site / "data").mkdir()
    (site / "index.html").write_text("home")
    (site / "404.html").write_text("no such page")
    (site / "cells" / "a" / "index.html").write_text("cell")
    (site / "data" / "chart.json").write_text("{}")
    (tmp_path / "secret").write_text("outside")
    return site


@pytest.fixture
def portal(folder: Path) -> Iterator[SiteServer]:
    with SiteServer(folder, subpath="portal") as server:
        yield server


def ask(server: SiteServer, path: str, method: str = "GET") -> tuple[int, str, str]:
    """Status, Location header and body, for the path exactly as given."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location", ""), answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/portal/", 200, "home"),
        ("/portal/index.html", 200, "home"),
        ("/portal/cells/a/", 200, "cell"),
        ("/portal/cells/a/?q=1#x", 200, "cell"),
        ("/portal/data/chart.json", 200, "{}"),
        ("/portal", 301, "/portal/"),
        ("/", 301, "/portal/"),
        ("/portal/cells/a", 301, "/portal/cells/a/"),
        ("/portal/cells/", 404, "no such page"),
        ("/portal/data/", 404, "no such page"),
        ("/portal/gone/", 404, "no such page"),
        ("/cells/a/", 404, "no such page"),
        ("/portals/", 404, "no such page"),
        ("/portal/../secret", 404, "no such page"),
        ("/portal/%2e%2e/secret", 404, "no such page"),
        ("//evil.example/portal", 404, "no such page"),
    ],
)
def test_each_address_is_answered(portal: SiteServer, path: str, status: int, said: str) -> None:
    answered, location, body = ask(portal, path)
    assert answered == status
    assert (location if status == 301 else body) == said


def test_a_redirect_never_leads_to_another_host(folder: Path) -> None:
    with SiteServer(folder) as server:
        status, location, _ = ask(server, "//cells/a")
        assert status in (301, 404)
        assert not location.startswith("//")


def test_only_the_head_is_sent_when_only_the_head_is_asked_for(portal: SiteServer) -> None:
    assert ask(portal, "/portal/", "HEAD") == (200, "", "")
    assert ask(portal, "/portal/gone", "HEAD") == (404, "", "")


def test_a_site_that_is_replaced_is_served_at_once(portal: SiteServer, folder: Path) -> None:
    folder.rename(folder.with_name("old"))
    assert ask(portal, "/portal/")[0] == 404
    folder.mkdir()
    (folder / "index.html").write_text("new home")
    assert ask(portal, "/portal/") == (200, "", "new home")


def test_a_taken_port_is_said_plainly(portal: SiteServer, folder: Path) -> None:
    port = urlsplit(portal.url).port or 0
    with pytest.raises(UsageError, match=f"port {port} cannot be used") as failure:
        SiteServer(folder, port=port)
    assert "--port" in failure.value.remedy


def test_a_number_that_is_no_port_is_said_plainly(folder: Path) -> None:
    with pytest.raises(UsageError, match="ports go from 0 to 65535"):
        SiteServer(folder, port=99_999_999)


def test_a_request_that_the_browser_drops_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.html").write_text("x" * 3_000_000, encoding="utf-8")
    with SiteServer(tmp_path) as server:
        host, port = server.url.removeprefix("http://").rstrip("/").split(":")
        for _ in range(5):
            with socket.create_connection((host, int(port))) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.3)
    assert capfd.readouterr() == ("", "")
