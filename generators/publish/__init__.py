"""Local folder, gh-pages branch."""
