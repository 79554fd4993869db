"""Plan to trials to records."""
