"""Store to frames."""
