"""Integrity of trials: looks for help that an agent must not have, in what it did and handed in."""

from runner.integrity.ground import Ground
from runner.integrity.scan import RULES_VERSION, Evidence, Scan, scan_trial

__all__ = ["RULES_VERSION", "Evidence", "Ground", "Scan", "scan_trial"]
