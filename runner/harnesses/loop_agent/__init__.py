"""Child process of the built-in harness: a plain tool loop against a Chat Completions endpoint."""
