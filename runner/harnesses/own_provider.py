"""OwnProvider: what settings files call the endpoint, and the variable in which they find its key."""

from __future__ import annotations

PROVIDER = "harnessmark"
KEY_VARIABLE = "HARNESSMARK_MODEL_KEY"
