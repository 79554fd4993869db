"""Metronome: the server in a process of its own, as a context manager."""

from __future__ import annotations

import contextlib
import json
import shutil
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

import httpx

from runner.endpoint.address import EndpointAddress
from runner.endpoint.metronome.beat import Beat, Truth
from runner.endpoint.server_process import ServerProcess
from runner.errors import ConfigurationError

LOG_SECONDS = 60.0


class Metronome:
    """Runs while the context is open.

    Args:
        beat: what is sent and when.
        tls: whether it speaks TLS, with a certificate made for the occasion.

    Raises:
        ConfigurationError: TLS is wanted and there is no ``openssl`` to make a certificate with.
        EndpointError: the server did not start.
    """

    def __init__(self, beat: Beat = Beat(), *, tls: bool = False) -> None:  # noqa: B008 - a frozen value
        self.beat = beat
        self._tls = tls
        self._open = contextlib.ExitStack()
        self._folder = Path()
        self._port = 0

    def __enter__(self) -> Metronome:
        command = [sys.executable, "-m", "runner.endpoint.metronome.server", self.beat.document()]
        with contextlib.ExitStack() as opening:
            self._folder = Path(opening.enter_context(tempfile.TemporaryDirectory(prefix="metronome-")))
            if self._tls:
                command.append(str(make_certificate(self._folder)))
            server = ServerProcess(command, "the metronome")
            opening.callback(server.end)
            self._port = int(server.said)
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def address(self) -> EndpointAddress:
        """Where it answers Chat Completions; its certificate is trusted by this address alone."""
        authority = self._folder / "server.pem" if self._tls else None
        scheme = "https" if self._tls else "http"
        return EndpointAddress(f"{scheme}://127.0.0.1:{self._port}/v1", authority=authority)

    def log(self) -> list[Truth]:
        """What it noted since it was last asked."""
        address = self.address
        verify: ssl.SSLContext | bool = address.tls() or True
        response = httpx.get(
            address.base_url.removesuffix("/v1") + "/log",
            verify=verify,
            trust_env=False,
            timeout=LOG_SECONDS,
        )
        return [Truth(*entry) for entry in json.loads(response.content)]


def make_certificate(folder: Path) -> Path:
    """A key and a certificate for 127.0.0.1 in one file below ``folder``, valid for a day.

    Raises:
        ConfigurationError: ``openssl`` is missing or fails.
    """
    path, key = folder / "server.pem", folder / "key.pem"
    program = shutil.which("openssl")
    if program is None:
        raise ConfigurationError("a certificate needs the program openssl", remedy="install openssl")
    request = [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subject = ["-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(path)]
    done = subprocess.run([*request, *subject, *files], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigurationError(f"openssl made no certificate: {done.stderr.strip()[-300:]}")
    path.write_bytes(path.read_bytes() + key.read_bytes())
    return path
