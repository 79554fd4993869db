"""Price book, cost bases, and the token rule."""
