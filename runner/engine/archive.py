"""Archive: raw event streams, masked and compressed, outside git, named by the digest of their content."""

from __future__ import annotations

import gzip
import hashlib
import io
import tempfile
from pathlib import Path
from typing import BinaryIO

from runner.secrets import Scanner
from runner.store import below

LEVEL = 6


def keep_stream(stream: Path, archive: Path, scanner: Scanner) -> str:
    """Compress ``stream`` into ``archive``, secrets masked; returns the SHA-256 of what was compressed."""
    archive.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=archive, suffix=".partial", delete=False) as file:
        partial = Path(file.name)
        with gzip.GzipFile(fileobj=file, filename="", mode="wb", compresslevel=LEVEL, mtime=0) as packed:
            digesting = _Digesting(packed)
            with stream.open("rb") as source:
                scanner.mask_stream(source, digesting)
    digest = digesting.digest.hexdigest()
    partial.replace(below(archive, f"{digest}.jsonl.gz"))
    return digest


class _Digesting(io.RawIOBase, BinaryIO):
    """Passes bytes on and digests them."""

    def __init__(self, target: gzip.GzipFile) -> None:
        self._target = target
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Pass ``data`` on and add it to the digest."""
        self.digest.update(data)
        return self._target.write(data)
