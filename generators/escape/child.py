"""Child process that renders one untrusted document from its input to its output, within a memory limit."""

from __future__ import annotations

import sys

from generators.escape.rendering import render

MEMORY_BYTES = 1024 * 1024 * 1024


def main(arguments: list[str]) -> int:
    """Reads Markdown, writes HTML. Arguments: id prefix, heading level to start at."""
    _limit_memory()
    raw = sys.stdin.buffer.read().decode()
    sys.stdout.buffer.write(render(raw, id_prefix=arguments[0], base_level=int(arguments[1])).encode())
    return 0


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
