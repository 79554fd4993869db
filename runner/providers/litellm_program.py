"""The LiteLLM program: where the proxy is installed, in which version, and how it is started."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ConfigurationError

LAUNCH = Path(__file__).with_name("proxy_launch.py")
NAME = "litellm"
VERSION = "1.108.7"
"""What the routes were measured with, and what the constraints pin."""
REFUSED: Mapping[str, str] = {"1.107.0": "this release was tampered with and is not to be run"}
PROXY_PART = "litellm-proxy-extras"
"""Comes with ``litellm[proxy]`` only."""
PASSED_ON = frozenset(
    {"PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
)
REMEDY = f"invoke harness-install {NAME}, or: pip install -c constraints.txt 'harnessmark[litellm]'"


@dataclass(frozen=True)
class ProxyProgram:
    """An installed proxy."""

    version: str
    folder: Path | None
    """A folder of its own with all of its packages; None: it is installed beside this program."""
    interpreter: str

    def command(self, config: Path, port: int) -> tuple[str, ...]:
        """What starts it, on the loopback address only."""
        options = ("--config", str(config), "--host", "127.0.0.1", "--port", str(port))
        # Without -P the folder of the script, which has a module of the proxy's name, would come first.
        return (self.interpreter, "-P", str(LAUNCH), *options, "--telemetry", "False")

    def environment(self, given: Mapping[str, str], home: Path, keys: Mapping[str, str]) -> dict[str, str]:
        """All that the proxy sees of the user's environment: ways to the network, and the keys it needs."""
        return {
            **{name: value for name, value in given.items() if name in PASSED_ON},
            "HOME": str(home),
            **({"PYTHONPATH": str(self.folder)} if self.folder else {}),
            "PYTHONUNBUFFERED": "1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False",
            **keys,
        }


def find_proxy(installed: str | None) -> ProxyProgram:
    """The proxy in the folder of installed programs, or else the one beside this program.

    Raises:
        ConfigurationError: there is none, or it must not be run.
    """
    found = _in_folder(Path(installed)) if installed else None
    found = found or _beside()
    if found is None:
        raise ConfigurationError("the LiteLLM proxy is not installed", remedy=REMEDY)
    if found.version in REFUSED:
        raise ConfigurationError(
            f"LiteLLM {found.version} is not started: {REFUSED[found.version]}", remedy=REMEDY
        )
    return found


def _in_folder(installed: Path) -> ProxyProgram | None:
    folder = (installed / NAME / VERSION).absolute()
    site = folder / "site"
    interpreter = folder / "python"
    if not (site / NAME / "__init__.py").is_file():
        return None
    return ProxyProgram(VERSION, site, str(interpreter) if interpreter.exists() else sys.executable)


def _beside() -> ProxyProgram | None:
    try:
        importlib.metadata.version(PROXY_PART)
        return ProxyProgram(importlib.metadata.version(NAME), None, sys.executable)
    except importlib.metadata.PackageNotFoundError:
        return None
