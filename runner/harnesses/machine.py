"""Machine: the names by which package registries call the machine this runs on."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from runner.errors import ConfigurationError

SYSTEMS = {"linux": "linux", "darwin": "darwin"}
PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
BUN_PROCESSORS = {"x64": "x64", "arm64": "aarch64"}
RUST_PROCESSORS = {"x64": "x86_64", "arm64": "aarch64"}
RUST_SYSTEMS = {"linux": "unknown-linux-musl", "darwin": "apple-darwin"}


@dataclass(frozen=True)
class Machine:
    """System and processor in npm's words."""

    system: str
    """``linux`` or ``darwin``."""
    processor: str
    """``x64`` or ``arm64``."""
    musl: bool = False
    """Whether the C library is musl, for which some packages have builds of their own."""

    def fill(self, text: str) -> str:
        """``text`` with its marks filled in.

        These are ``{npm}`` (linux-arm64), ``{bun}`` (linux-aarch64), ``{musl}`` (-musl or nothing) and
        ``{rust}`` (aarch64-unknown-linux-musl).
        """
        rust = f"{RUST_PROCESSORS[self.processor]}-{RUST_SYSTEMS[self.system]}"
        names = {
            "{npm}": f"{self.system}-{self.processor}",
            "{bun}": f"{self.system}-{BUN_PROCESSORS[self.processor]}",
            "{musl}": "-musl" if self.musl else "",
            "{rust}": rust,
        }
        for mark, name in names.items():
            text = text.replace(mark, name)
        return text


def this_machine() -> Machine:
    """The machine this runs on.

    Raises:
        ConfigurationError: no harness is packaged for it.
    """
    system, processor = platform.system().lower(), platform.machine().lower()
    if system not in SYSTEMS or processor not in PROCESSORS:
        raise ConfigurationError(
            f"the packaged harnesses run on Linux and macOS with x64 or arm64, not on {system} {processor}",
            remedy="run Harnessmark in a Linux container, or use the built-in harness loop",
        )
    musl = system == "linux" and platform.libc_ver()[0] != "glibc"
    return Machine(SYSTEMS[system], PROCESSORS[processor], musl)
