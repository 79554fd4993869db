"""Serving: a site folder on the loopback interface, below its sub-path, as a static host would serve it."""

from __future__ import annotations

import functools
import io
import sys
import threading
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from runner.errors import UsageError

LOOPBACK = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    """Files of one folder below one sub-path; no listings, no log, no caching, the site's own 404 page."""

    def __init__(self, *arguments: object, folder: Path, subpath: str) -> None:
        self._folder = folder
        self._mount = f"/{subpath}/" if subpath else "/"
        super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        """Answer with a file below the mount, a redirect to it, or the 404 page."""
        path, question, query = self.path.partition("?")
        if path + "/" == self._mount or (path == "/" and self._mount != "/"):
            self._redirect(self._mount)
            return None
        inner = "/" + path.removeprefix(self._mount)
        target = Path(self.translate_path(inner))
        folder = target.is_dir()
        if not path.startswith(self._mount) or not (target / "index.html" if folder else target).is_file():
            self._not_found()
            return None
        if folder and not path.endswith("/"):
            self._redirect(path + "/" + question + query)
            return None
        self.path = inner
        return super().send_head()

    def end_headers(self) -> None:
        """End the headers with those that every answer carries."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the terminal belongs to the builds."""

    def _redirect(self, location: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        # One slash at the start only, or the browser would read a host name.
        self.send_header("Location", "/" + location.lstrip("/"))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _not_found(self) -> None:
        page = self._folder / "404.html"
        body = page.read_bytes() if page.is_file() else b"not found\n"
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class _Listener(ThreadingHTTPServer):
    """A server that takes a browser's dropped requests as what they are: no news."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Be silent about a connection that broke; show everything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class SiteServer:
    """A context manager that serves ``folder`` at ``url`` until it is left. Port 0 takes a free one.

    Raises:
        UsageError: the port is taken, or is none.
    """

    def __init__(self, folder: Path, *, subpath: str = "", port: int = 0) -> None:
        handler = functools.partial(_Handler, folder=folder, subpath=subpath)
        try:
            self._server = _Listener((LOOPBACK, port), handler)
        except (OSError, OverflowError) as error:
            # A number that is no port at all overflows.
            why = error.strerror if isinstance(error, OSError) else "ports go from 0 to 65535"
            raise UsageError(
                f"port {port} cannot be used: {why}",
                where=f"{LOOPBACK}:{port}",
                remedy="stop the program that has it, or name another with --port",
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://{LOOPBACK}:{self._server.server_port}/" + (f"{subpath}/" if subpath else "")

    def __enter__(self) -> SiteServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
