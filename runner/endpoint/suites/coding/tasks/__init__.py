"""Tasks: one module each, in rising size."""
