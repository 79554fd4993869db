"""Archive: raw event streams, compressed and kept outside git, named by the digest of their content."""

from __future__ import annotations

import gzip
import hashlib
import shutil
from pathlib import Path

from runner.store import below


def keep_stream(stream: Path, archive: Path) -> str:
    """Compress ``stream`` into ``archive`` and return the SHA-256 of its uncompressed content."""
    with stream.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    target = below(archive, f"{digest}.jsonl.gz")
    if not target.exists():
        archive.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        with stream.open("rb") as source, gzip.GzipFile(partial, "wb", mtime=0) as packed:
            shutil.copyfileobj(source, packed)
        partial.rename(target)
    return digest
