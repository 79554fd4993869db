"""Secrets: finds and masks credentials in whatever is about to be written."""

from runner.secrets.known import known_secrets
from runner.secrets.scanner import MASK, Hit, Scanner, read_allowed

__all__ = ["MASK", "Hit", "Scanner", "known_secrets", "read_allowed"]
