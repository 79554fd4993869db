"""DataWarning: something about a record that a reader must know before using its numbers."""

from __future__ import annotations

from pydantic import Field

from runner.records.base import Part


class DataWarning(Part):
    """A named fault or oddity. The code is stable and explained on the site; the text has the numbers."""

    code: str = Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=60)
    text: str = Field(min_length=1, max_length=1000)
