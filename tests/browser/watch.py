"""Watch over a page: what it complained about, asked for and opened."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Dialog, Page, Request


class Watch:
    """Collects errors of the console and of scripts, dialogs, and requests to other servers than `origin`."""

    def __init__(self, page: Page, origin: str) -> None:
        self._page = page
        self._host = urlsplit(origin).netloc
        self.faults: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def assert_quiet(self) -> None:
        """Nothing was complained about, nothing opened, nothing asked of another server."""
        assert self.faults == []
        assert self._page.evaluate("window.__hacked") is None

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"console: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        address = urlsplit(request.url)
        if address.scheme != "data" and address.netloc != self._host:
            self.faults.append(f"request: {request.url}")
