"""What every test shares: property tests without a clock, since a busy machine is no fault."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-clock", deadline=None, derandomize=True)
settings.load_profile("no-clock")
