"""The real agents against the replay server; an agent that is not installed is skipped with its reason."""
