"""Dataset YAML to Dataset and Task, and sealed checkouts."""
